package trainer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/region"
	"github.com/dgm-robotics/dgm/trainer/baseline"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/fit"
	"github.com/dgm-robotics/dgm/trainer/outside"
	"github.com/dgm-robotics/dgm/trainer/prior"
	"github.com/dgm-robotics/dgm/trainer/rows"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Result is a trained model with what a report says about it.
type Result struct {
	Model      *model.Model
	Judged     *model.Model      // the model without the held-out data, which Table is about; nil without them
	Table      *evaluate.Table   // plan, on held-out data; nil without them
	HoldTable  *evaluate.Table   // hold; nil without held-out data or inputs
	Verdict    string            // one sentence
	Split      Split             //
	Windows    int               // trained on
	Priors     []prior.Candidate // difference equations that were tried
	Candidates []Candidate       // cores and tempers that were tried
	Chosen     Candidate
	Curves     [][]fit.Point
	Partial    string // why the training ended early; empty = it did not
	Elapsed    time.Duration
}

// noiseKnots are the places of the noise knots on the horizon: dense where it
// grows fastest.
var noiseKnots = []float64{0, 0.03, 0.1, 0.3, 1}

// folds is how often the data are parted for choosing and calibrating.
const folds = 4

// training is the state of one training.
type training struct {
	ctx       context.Context
	d         *Data
	cfg       Config
	H, stride float64
	states    []channel.Channel
	P         int
	res       *Result
	meter     *meter

	data      fit.Data    // all that is not held out; its frame is that of every fit
	shape     prior.Shape // of the difference equation
	companion prior.Shape
	blend     []float64 // K×Q, the companion's share
	linearStd []float64 // K×Q, errors of the linear model on data it has not seen
	folds     []foldData
	cells     *outside.Cells // of the known states
	nets      []*fit.Net
	laws      []law // per readout
}

// Train fits a model to the data:
//
//  1. Part of the data is held out for the table; the rest is what is known.
//  2. The shape of the difference equation is chosen by cross-validation.
//  3. The core is chosen by the likelihood of a fold that it was not trained on.
//  4. The ensemble is trained on all that is known.
//  5. Temper and calibration are chosen by cross-validation: equation and
//     posterior are fitted anew without each fold, the nets stay.
//  6. The model of what is known is judged on the held-out data. Then equation
//     and posterior are refitted to everything: this model is exported.
//
// When ctx ends or the budget is used up, what there is is finished and Partial
// says so; an error comes only if not even one member could be conditioned.
func Train(ctx context.Context, d *Data, cfg Config, report func(Progress)) (*Result, error) {
	began := time.Now()
	t := &training{d: d, cfg: cfg, H: cfg.Horizon.Seconds(), stride: cfg.Stride.Seconds(), res: &Result{}}
	if t.stride == 0 {
		t.stride = t.H / 50
	}
	t.states = channel.Select(d.Channels, channel.State)
	t.P = len(d.Channels) - len(t.states)
	t.res.Split = split(d.Flights, cfg.Holdout, t.H, cfg.Seed)
	known := t.res.Split.Train
	if p := Precheck(d, cfg); p != nil {
		return nil, errors.New(p.Text)
	}
	// What comes after the nets (temper, calibration, refits, table) has its share
	// of the budget too.
	limited, cancel := context.WithTimeoutCause(ctx, time.Duration(netShare*float64(cfg.Budget)), errBudget)
	defer cancel()
	t.ctx = limited
	t.meter = &meter{report: report, began: began, units: 1.8 + 0.6*float64(len(t.cores())) + 1.2*float64(cfg.Members)}

	if err := t.prepare(known); err != nil {
		return nil, err
	}
	set, err := t.chooseCore()
	if err != nil {
		return nil, err
	}
	if err := t.ensemble(set); err != nil {
		return nil, err
	}
	if err := t.chooseTemper(); err != nil {
		return nil, err
	}
	if err := t.findLaws(); err != nil {
		return nil, err
	}
	if len(t.res.Split.Held) > 0 {
		if err := t.judge(known); err != nil {
			return nil, err
		}
	}
	if err := t.export(began); err != nil {
		return nil, err
	}
	t.res.Elapsed = time.Since(began)
	return t.res, nil
}

// netShare of the budget goes to choosing the equation and training the nets.
const netShare = 0.6

var errBudget = errors.New("the time budget was used up")

func (t *training) seed(i int) uint64 { return t.cfg.Seed*1000 + uint64(i) }

// scoreStride is the distance of windows that selection looks at.
func (t *training) scoreStride() float64 { return t.H / 20 }

// foldData is one part of the cross-validation: what is left to condition on,
// under an equation fitted to it alone, and what is scored.
type foldData struct {
	data   fit.Data
	held   []window.Flight
	region region.Region // of what is left
}

// prepare chooses what the nets start from, sets up the frame of all fits and
// parts the data into folds.
func (t *training) prepare(known []window.Flight) error {
	parts := window.Folds(known, t.H, folds)
	bases := make([]estimator.BaseSpec, len(parts))
	base := estimator.BaseSpec{Velocity: t.cfg.Prior == "velocity"}
	if t.cfg.Prior == "equation" {
		var err error
		if base, err = t.chooseBase(known, parts, bases); err != nil {
			return err
		}
	}
	t.meter.work("difference equation", 0.5)
	windows := window.Cut(known, t.H, t.stride)
	frame, err := rows.NewFrame(t.d.Channels, known, windows, rows.Settings{
		Horizon: t.H, Knots: t.cfg.Knots, Basis: t.cfg.Basis, NoiseKnots: noiseKnots, Base: base,
	})
	if err != nil {
		return err
	}
	t.data = fit.Data{Frame: frame, Flights: known, Windows: windows, Samples: samples(known)}
	t.cells = outside.Starts(&frame.Inputs.Lift, known, windows).Cells()
	for i, f := range parts {
		d := t.dataOn(f.Train, frame.WithBase(bases[i]))
		if t.cfg.Prior != "equation" {
			d.Frame = frame
		}
		r, _ := outside.Starts(&frame.Inputs.Lift, d.Flights, d.Windows).Region() // without one, distances are 0
		t.folds = append(t.folds, foldData{d, f.Held, r})
	}
	if t.linearStd, err = linearErrors(parts, t.states, t.P, t.H, noiseKnots); err != nil {
		return err
	}
	t.meter.work("folds", 0.3)
	return nil
}

// chooseBase chooses the difference equation and how much of its companion is
// blended in, and writes the base of every fold, fitted without what it holds out.
func (t *training) chooseBase(known []window.Flight, parts []window.Fold, bases []estimator.BaseSpec) (estimator.BaseSpec, error) {
	t.meter.say("difference equation")
	m, tried, err := prior.Choose(t.ctx, known, t.states, t.d.Body, t.P, t.H)
	if err != nil {
		return estimator.BaseSpec{}, err
	}
	t.res.Priors, t.shape = tried, tried[0].Shape
	if t.companion, err = prior.Companion(known, t.states, t.d.Body, t.P, t.H); err != nil {
		return estimator.BaseSpec{}, err
	}
	var pairs []prior.Pair
	for i, f := range parts {
		if bases[i], err = t.baseOf(f.Train); err != nil {
			return estimator.BaseSpec{}, err
		}
		pairs = append(pairs, prior.Pair{Prior: bases[i].Prior, Companion: bases[i].Companion, Held: f.Held})
	}
	t.blend = make([]float64, len(t.states)*len(noiseKnots))
	if t.cfg.Fold.Companion && len(pairs) > 0 {
		t.blend = prior.Blend(pairs, len(t.states), t.P, t.H, noiseKnots)
	}
	for i := range bases {
		bases[i].Blend = t.blend
	}
	c, err := prior.FitCompanion(known, t.states, t.P, t.companion)
	return estimator.BaseSpec{Prior: m, Companion: c, Blend: t.blend}, err
}

// baseOf fits both equations to flights.
func (t *training) baseOf(flights []window.Flight) (estimator.BaseSpec, error) {
	// A refit that is stopped halfway would be worse than the equation there is.
	p, err := prior.Fit(context.WithoutCancel(t.ctx), flights, t.states, t.P, t.H, t.shape)
	if err != nil {
		return estimator.BaseSpec{}, err
	}
	c, err := prior.FitCompanion(flights, t.states, t.P, t.companion)
	return estimator.BaseSpec{Prior: p, Companion: c, Blend: t.blend}, err
}

// dataOf returns flights as data, under a base fitted to them alone.
func (t *training) dataOf(flights []window.Flight) (fit.Data, error) {
	if t.cfg.Prior != "equation" {
		return t.dataOn(flights, t.data.Frame), nil
	}
	base, err := t.baseOf(flights)
	return t.dataOn(flights, t.data.Frame.WithBase(base)), err
}

func (t *training) dataOn(flights []window.Flight, f *rows.Frame) fit.Data {
	return fit.Data{Frame: f, Flights: flights, Windows: window.Cut(flights, t.H, t.stride), Samples: samples(flights)}
}

// shell returns a model of the frame without members.
func (t *training) shell(f *rows.Frame) *model.Model {
	m := &model.Model{
		Vehicle: t.d.Vehicle, Channels: t.d.Channels, K: f.K, P: f.P, Horizon: t.H, Points: t.cfg.Points,
		Displacement: true, Velocity: f.Base.Velocity, Inputs: f.Inputs, Scale: f.Scale, NoiseKnots: noiseKnots,
		Sensor: make([]float64, f.K),
	}
	for _, l := range t.laws {
		m.Gain, m.Widen, m.Growth = append(m.Gain, l.gain), append(m.Widen, l.widen), append(m.Growth, l.growth)
	}
	if b := f.Base; b.Prior != nil {
		m.Prior, m.Companion, m.Blend = *b.Prior, *b.Companion, b.Blend
	}
	return m
}

// ensemble trains the members, each from its own seed.
func (t *training) ensemble(set fit.Settings) error {
	for i := range t.cfg.Members {
		if t.ctx.Err() != nil && i > 0 {
			t.res.Partial = fmt.Sprintf("%v after %d of %d members", reason(t.ctx), i, t.cfg.Members)
			break
		}
		phase := fmt.Sprintf("member %d of %d", i+1, t.cfg.Members)
		net, err := fit.Train(t.ctx, t.data, set, t.seed(100+i), func(step int) {
			t.meter.work(fmt.Sprintf("%s: step %d of %d", phase, step, set.Steps), 1/float64(set.Steps))
		})
		if err != nil {
			return err
		}
		if net.Stopped {
			t.res.Partial = fmt.Sprintf("%v at step %d of %d of %s", reason(t.ctx), len(net.Curve), set.Steps, phase)
			// Half a fit beside whole ones would only spoil them.
			if i > 0 {
				break
			}
		}
		t.nets = append(t.nets, net)
		t.res.Curves = append(t.res.Curves, net.Curve)
	}
	return nil
}

// findLaws calibrates both readouts by what the folds say of one member: the
// ensemble's intervals are no narrower.
func (t *training) findLaws() error {
	if len(t.folds) == 0 {
		return nil
	}
	readouts := 1
	if t.P > 0 {
		readouts = model.Readouts
	}
	var laws []law
	for r := range readouts {
		o, err := t.outOfFold(t.nets[0], model.Readout(r), t.nets[0].Settings.NoisePasses)
		if err != nil {
			return err
		}
		var reach *law
		if r > 0 {
			reach = &laws[0]
		}
		laws = append(laws, calibrate(t.shell(t.data.Frame), o, t.cfg.Fold, reach))
		t.meter.work(fmt.Sprintf("calibration, inputs %v", model.Readout(r)), 0.2)
	}
	t.laws = laws
	return nil
}

// condition makes a model of the trained nets and the given data: posteriors for
// every readout, sensors.
func (t *training) condition(d fit.Data) (*model.Model, error) {
	m := t.shell(d.Frame)
	readouts := 1
	if m.P > 0 {
		readouts = model.Readouts
	}
	for i, net := range t.nets {
		e := model.Member{Map: net.Params.Map, OmegaSeed: net.OmegaSeed}
		for r := range readouts {
			t.meter.work(fmt.Sprintf("member %d of %d: posterior, inputs %v", i+1, len(t.nets), model.Readout(r)), 0.1/float64(readouts))
			// The noise is what the first member leaves; it hardly differs between members.
			trial, noise := *net, []float64(nil)
			if i > 0 {
				trial.Settings.NoisePasses, noise = 0, m.Members[0].Posterior[r].LogSigma
			}
			post, err := fit.Condition(&trial, d, model.Readout(r), noise, t.cfg.Seed)
			if err != nil {
				return nil, err
			}
			// Members differ in what they expect, hardly in how sure they are: the variance
			// of the first one stands for all, as it does while calibrating, and the file
			// and every prediction cost a third.
			if i > 0 {
				post.InverseFactor = nil
			}
			e.Posterior = append(e.Posterior, post)
		}
		m.Members = append(m.Members, e)
	}
	if err := t.bootstrap(m, d, readouts); err != nil {
		return nil, err
	}
	m.Dynamics.Net = t.nets[0].Params.Dynamics
	m.Sensor = sensors(m)
	return m, nil
}

// refit makes a model conditioned on all of the flights.
func (t *training) refit(flights []window.Flight) (*model.Model, fit.Data, error) {
	d, err := t.dataOf(flights)
	if err != nil {
		return nil, d, err
	}
	m, err := t.condition(d)
	if err != nil {
		return nil, d, err
	}
	linear, err := baseline.Linear(flights, t.states, t.P, t.H)
	if err != nil {
		return nil, d, err
	}
	m.Baseline, m.LinearStd = *linear, t.linearStd
	m.Region = t.regionOf(d)
	return m, d, nil
}

// regionOf describes where the states and inputs of the data lie.
func (t *training) regionOf(d fit.Data) region.Region {
	states := outside.Starts(&d.Frame.Inputs.Lift, d.Flights, d.Windows)
	r, ok := states.Region()
	if !ok {
		return region.Region{}
	}
	r.Distance = states.Threshold(t.H)
	r.Low, r.High = outside.Inputs(d.Flights, t.P)
	if len(t.laws) > 0 {
		r.Near, r.Far = t.laws[0].near, t.laws[0].far
	}
	return r
}

// judge scores the model that has not seen the held-out data on them.
func (t *training) judge(known []window.Flight) error {
	held := t.res.Split.Held
	if len(window.Cut(held, t.H, t.stride)) == 0 {
		return nil
	}
	m, d, err := t.refit(known)
	if err != nil {
		return err
	}
	if m, err = finish(m, d); err != nil {
		return err
	}
	t.res.Judged = m
	t.meter.say("held-out table")
	background := context.WithoutCancel(t.ctx)
	if t.res.Table, err = evaluate.Run(background, m, held, evaluate.Options{Stride: t.stride, Seed: t.cfg.Seed}); err != nil {
		return err
	}
	if m.P > 0 {
		if t.res.HoldTable, err = evaluate.Run(background, m, held, evaluate.Options{Stride: t.stride, Seed: t.cfg.Seed, Readout: model.Hold}); err != nil {
			return err
		}
	}
	for _, table := range t.res.tables() {
		table.ModelID, table.Judged = "", m.ID // the file's is known when it is sealed
	}
	return nil
}

// tables are those that there are.
func (r *Result) tables() []*evaluate.Table {
	return slices.DeleteFunc([]*evaluate.Table{r.Table, r.HoldTable}, func(t *evaluate.Table) bool { return t == nil })
}

// export makes the model that flies, from all flights.
func (t *training) export(began time.Time) error {
	m, d, err := t.refit(t.d.Flights)
	if err != nil {
		return err
	}
	t.res.Windows = len(d.Windows)
	t.res.Verdict, _ = verdict(t.res)
	table, err := scores(t.res.Table)
	if err != nil {
		return err
	}
	m.Provenance = model.Provenance{
		Tool: "dgm-train", DataHash: t.d.Hash, Config: t.cfg.TOML(), Seed: t.cfg.Seed,
		Partial: t.res.Partial, Verdict: t.res.Verdict, Scores: table,
	}
	if t.res.Model, err = finish(m, d); err != nil {
		return err
	}
	for _, table := range t.res.tables() {
		table.ModelID = t.res.Model.ID
	}
	return nil
}

func reason(ctx context.Context) error {
	if c := context.Cause(ctx); !errors.Is(c, context.Canceled) {
		return c
	}
	return errors.New("stopped by hand")
}

// sensors returns the variance R of each state's sensor: as declared, else half
// of the noise that a displacement has at the start, where both of its ends were
// measured.
func sensors(m *model.Model) []float64 {
	Q := len(m.NoiseKnots)
	out := make([]float64, m.K)
	for k := range out {
		if n := m.Channels[k].Noise; n > 0 {
			out[k] = n * n
			continue
		}
		for i := range m.Members {
			s := m.Members[i].Posterior[0].LogSigma[k*Q]
			out[k] += 0.5 * math.Exp(2*s) * m.Scale[k] * m.Scale[k] / float64(len(m.Members))
		}
	}
	return out
}
