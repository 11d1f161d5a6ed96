package dynamicsnet

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	prior "github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/cores"
	"github.com/dgm-robotics/dgm/trainer/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/priordynamics/manipulator"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Candidate is a weight decay that was tried, with its score on what folds hold out: a
// geometric mean of RMSE over that of holding the last value.
type Candidate struct{ Decay, Score float64 }

// Choice is the result of Choose.
type Choice struct {
	Settings   Settings            // with the chosen decay, of the folds' nets
	Candidates []Candidate         // in the order of the trials
	Equation   float64             // score of the equation alone
	Folds      [][]prior.Model     // of the chosen decay: the nets of each fold, trained without what it holds out
	shape      priordynamics.Shape // of the equation
	share      float64             // of the decay, that nets of all flights have
	task       window.Task
}

// Chained reports whether the nets learn what a chain of links leaves.
func (c *Choice) Chained() bool { return !c.shape.Chain.Empty() }

// decays are the candidates, from weak to strong.
var decays = []float64{0.3, 1, 3, 10, 30}

const (
	stepsOfHorizon = 25
	ridge          = 1e-5
	// Share of the chosen weight decay that nets of all flights have. The nets of the folds are
	// trained on fewer flights, and are compared one by one: averaging an ensemble takes the
	// same variance away as a decay.
	ensembleShare = 1 / 3.0
)

// chainedDecays are the candidates where a chain of links is below. Folds of few swings
// prefer the chain alone, and do not show what nets learn of swings like those.
var chainedDecays = []float64{0.1}

// Choose finds the weight decay of nets in a linear difference equation, with the
// declared kinematics of a body, if any, and with a chain of links where there is one and the
// equation with it is better without nets on what folds hold out. For every fold and candidate one net is trained,
// in fewer steps than those of the settings. When ctx ends, it takes the best of those
// that were tried. It is an error if there is none, or no fold.
func Choose(ctx context.Context, folds []window.Fold, task window.Task, body prior.Body, chain prior.Chain, set Settings, seed uint64) (*Choice, error) {
	if len(folds) == 0 {
		return nil, errors.New("nets in the difference equation need folds that choose their weight decay")
	}
	c := &Choice{Settings: set, share: ensembleShare, task: task, shape: priordynamics.Shape{Degree: 1, Ridge: ridge, Body: body}}
	c.shape.Step = math.Min(task.Horizon, math.Max(task.Horizon/stepsOfHorizon, window.Interval(folds[0].Train)))
	candidates := decays
	trials, failures := make([]*trial, len(folds)), make([]error, len(folds))
	regress := func() (float64, error) {
		for i, fold := range folds { // each fit uses all cores
			trials[i], failures[i] = c.regress(ctx, fold)
		}
		if err := errors.Join(failures...); err != nil {
			return 0, err
		}
		return score(trials, func(t *trial) *prior.Model { return t.bare }), nil
	}
	var err error
	if c.Equation, err = regress(); err != nil {
		return nil, err
	}
	if !chain.Empty() {
		plain := slices.Clone(trials)
		c.shape.Chain = chain
		if got, err := regress(); err == nil && got < c.Equation {
			c.Equation, c.Settings, candidates, c.share = got, set.chained(), chainedDecays, 1
		} else {
			trials, c.shape.Chain = plain, prior.Chain{}
		}
	}
	cores.Each(len(trials), func(i int) { failures[i] = trials[i].prepare(c.Settings) })
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	best := math.Inf(1)
	// try reports whether the candidate is the best so far.
	try := func(decay float64) (better bool, err error) {
		set := c.Settings.brief()
		set.Decay = decay
		cores.Each(len(trials), func(i int) { failures[i] = trials[i].run(ctx, set, seed) })
		if ctx.Err() != nil && len(c.Candidates) > 0 {
			return false, nil
		}
		if err := errors.Join(failures...); err != nil {
			return false, err
		}
		got := score(trials, func(t *trial) *prior.Model { return &t.model })
		c.Candidates = append(c.Candidates, Candidate{decay, got})
		if !(got < best) {
			return false, nil
		}
		best, c.Settings.Decay, c.Folds = got, decay, nil
		for _, t := range trials {
			c.Folds = append(c.Folds, []prior.Model{t.model})
		}
		return true, nil
	}
	return c, climb(candidates, try)
}

// climb tries the value in the middle, then its neighbours to the first that is not better,
// towards the beginning and, unless one was better there, towards the end.
func climb(values []float64, try func(value float64) (better bool, err error)) error {
	middle := len(values) / 2
	if _, err := try(values[middle]); err != nil {
		return err
	}
	for _, step := range []int{-1, 1} {
		improved := false
		for i := middle + step; i >= 0 && i < len(values); i += step {
			better, err := try(values[i])
			if err != nil {
				return err
			}
			if !better {
				break
			}
			improved = true
		}
		if improved {
			break
		}
	}
	return nil
}

// Fit trains a net for every seed on flights, see Train, with a share of the chosen decay.
func (c *Choice) Fit(ctx context.Context, flights []window.Flight, seeds []uint64) ([]prior.Model, error) {
	equation, err := c.fit(ctx, flights)
	if err != nil {
		return nil, err
	}
	set := c.Settings
	set.Decay *= c.share
	return Train(ctx, equation, flights, c.task, set, seeds)
}

// fit returns the equation of the chosen shape, fitted to flights.
func (c *Choice) fit(ctx context.Context, flights []window.Flight) (*prior.Model, error) {
	shape := c.shape
	shape.Chain = manipulator.Refit(ctx, shape.Chain, flights, c.task)
	return priordynamics.Regress(flights, c.task, shape)
}

// trial is one fold in the comparison.
type trial struct {
	fold  window.Fold
	task  window.Task
	bare  *prior.Model // the equation
	data  *data
	model prior.Model // with the net of the last candidate
}

func (c *Choice) regress(ctx context.Context, fold window.Fold) (t *trial, err error) {
	t = &trial{fold: fold, task: c.task}
	t.bare, err = c.fit(ctx, fold.Train)
	return t, err
}

func (t *trial) prepare(set Settings) (err error) {
	t.data, err = prepare(t.bare, t.fold.Train, t.task, set)
	return err
}

func (t *trial) run(ctx context.Context, set Settings, seed uint64) (err error) {
	t.model, err = t.data.train(ctx, set, seed)
	return err
}

// mostHeld is the number of windows of a fold that candidates are compared on.
const mostHeld = 1000

// score returns that of the folds' models on what they hold out.
func score(trials []*trial, of func(t *trial) *prior.Model) float64 {
	squares := make([][2][]float64, len(trials))
	cores.Each(len(trials), func(i int) { squares[i] = trials[i].squares(of(trials[i])) })
	return overFolds(squares)
}

// overFolds returns the geometric mean of two scores of folds' squared errors and displacements:
// that of all windows in one sum, in which a model that diverges on some stretch loses
// however good it is elsewhere, and the geometric mean over folds, in which a fold where every
// model extrapolates does not decide alone.
func overFolds(squares [][2][]float64) float64 {
	n := len(squares[0][0])
	all := [2][]float64{make([]float64, n), make([]float64, n)}
	folds := 0.0
	for _, s := range squares {
		floats.Add(all[0], s[0])
		floats.Add(all[1], s[1])
		folds += logRatio(s) / float64(len(squares))
	}
	return math.Exp(0.5 * (logRatio(all) + folds))
}

// logRatio returns half the mean log of the ratio of squared errors to squared displacements.
func logRatio(squares [2][]float64) float64 {
	sum := 0.0
	for j, failed := range squares[0] {
		moved := squares[1][j]
		sum += 0.5 * math.Log((failed+floor*moved+math.SmallestNonzeroFloat64)/(moved+math.SmallestNonzeroFloat64))
	}
	return sum / float64(len(squares[0]))
}

// squares returns the sums (times×K) of the squared errors of the roll-outs over the
// windows that are held out, and of the displacements.
func (t *trial) squares(m *prior.Model) (sums [2][]float64) {
	K, H := len(t.task.States), t.task.Horizon
	times := priordynamics.Grid(H)
	sums = [2][]float64{make([]float64, len(times)*K), make([]float64, len(times)*K)}
	roll, got := prior.New(m, K, H), make([]float64, K)
	for w := range replay.Each(t.fold.Held, window.Thin(window.Cut(t.fold.Held, H, H/10), mostHeld), times) {
		roll.Run(w.X0, &w.Input)
		for i, time := range times {
			roll.At(got, nil, time)
			for k, d := range got {
				if y := w.Measured[i*K+k]; !math.IsNaN(y) {
					sums[0][i*K+k] += (d - y) * (d - y)
					sums[1][i*K+k] += y * y
				}
			}
		}
	}
	return sums
}
