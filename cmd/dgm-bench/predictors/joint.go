package predictors

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer"
	scoring "github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// groups are states of which ellipses are scored, as far as a recording has them.
var groups = []struct {
	name   string
	states []string
}{
	{"x, y", []string{"x", "y"}},
	{"position", []string{"x", "y", "z"}},
	{"height, its rate", []string{"z", "vz"}},
	{"pitch, forward velocity", []string{"pitch", "vx"}},
	{"angle, rate", []string{"theta", "omega"}},
	{"angles, rates", []string{"theta1", "theta2", "omega1", "omega2"}},
	{"angles, rates", []string{"q1", "q2", "w1", "w2"}},
}

// Draws of an energy score, and the time between the windows that have one, in horizons.
const (
	energyDraws  = 60
	jointStrides = 0.2
)

// JointStudy returns the study "joint".
func JointStudy() *study.Study {
	in := Folders{}
	return &study.Study{
		Name: "joint", Short: "Covariances and tubes on recorded robots",
		Seeds: 1, From: 1, Sets: names(recordings()), Summary: []string{"energy", "tube95", "factor95"},
		Needs: []string{"energy"},
		Long: `joint trains models of recorded robots without nets and scores how their errors go together, on the windows of
public: the coverage of the ellipses of pairs and triples of states, by the model's correlations and as if the states were
independent, with their volume over that of the latter and the gain in log density; the energy score of draws over that of draws of independent states; and how many whole trajectories, all
states at 50 times of the horizon, are inside the tubes of 50, 90 and 95 %, with the factor of the tube over that of
Bonferroni, which takes all states and 50 times for independent.`,
		Example: `  dgm-bench joint --sets double,crazyflie-readme`,
		Flags:   in.AddFlags,
		Tables:  jointTables,
		Run:     func(ctx context.Context, u *study.Unit) error { return jointly(ctx, u, in) },
	}
}

// jointly trains a model and scores how its errors go together.
func jointly(ctx context.Context, u *study.Unit, in Folders) error {
	r, err := in.needed(u.Set)
	if err != nil {
		return err
	}
	d, err := in.load(ctx, r, uint64(u.Seed))
	if err != nil {
		return u.Fail(ctx, err)
	}
	d.settings = worthSettings(d.settings, "prior")
	d.settings.Direct, d.settings.History = true, true
	res, err := trainer.Train(ctx, d.train, d.settings, nil)
	if err := cmp.Or(ctx.Err(), err); err != nil {
		return u.Fail(ctx, err)
	}
	u.Put("recording", r.title)
	if len(res.Model.Joint) == 0 {
		return u.Fail(ctx, fmt.Errorf("the model has no correlations"))
	}
	if err := tubeScores(ctx, u, d, res.Model); err != nil {
		return err
	}
	return pairScores(u, d, res.Model)
}

func tubeScores(ctx context.Context, u *study.Unit, d *data, m *model.Model) error {
	tubes, err := scoring.Joint(ctx, m, d.test, scoring.Options{})
	if err != nil {
		return err
	}
	for level, t := range tubes {
		name := strings.TrimPrefix(fmt.Sprintf("%.2f", distance(level)), "0.")
		u.Put("tube"+name, round(t.Covered, 4)).Put("factor"+name, round(t.Factor, 3)).Put("approximate"+name, t.Approximate)
		u.Put("low"+name, round(t.Low, 4)).Put("high"+name, round(t.High, 4)).Put("trajectories", t.Trajectories)
		u.Put("flights", t.Flights)
	}
	bonferroni := distuv.UnitNormal.Quantile(1 - 0.025/(50*float64(m.K)))
	u.Put("bonferroni", round(tubes["0.95"].Factor/bonferroni, 3))
	return nil
}

func distance(level string) (v float64) {
	fmt.Sscan(level, &v)
	return v
}

// ellipse counts the windows inside the ellipses of a group of states.
type ellipse struct {
	at             []int // states
	n              float64
	gain, area     float64       // sums of the log density beyond that without the correlations, and of the log of the volume
	squares        [2]float64    // sum of the normalised squared errors, with the correlations and without
	in50, in95     [2]float64    // windows inside
	chi50, chi95   float64       // quantiles
	covariance     *mat.SymDense //
	errors, solved *mat.VecDense
}

func newEllipse(at []int) *ellipse {
	n := len(at)
	chi := distuv.ChiSquared{K: float64(n)}
	return &ellipse{at: at, chi50: chi.Quantile(0.5), chi95: chi.Quantile(0.95), covariance: mat.NewSymDense(n, nil), errors: mat.NewVecDense(n, nil), solved: mat.NewVecDense(n, nil)}
}

// add counts the errors (K) of a time under standard deviations and correlations.
func (e *ellipse) add(errors, std, correlation []float64) error {
	K := len(std)
	plain := 0.0
	for i, a := range e.at {
		if math.IsNaN(errors[a]) {
			return nil
		}
		e.errors.SetVec(i, errors[a]/std[a])
		plain += square(errors[a] / std[a])
		for j, b := range e.at[:i+1] {
			e.covariance.SetSym(i, j, correlation[a*K+b])
		}
	}
	var c mat.Cholesky
	if !c.Factorize(e.covariance) {
		return fmt.Errorf("a correlation is not positive definite")
	}
	if err := c.SolveVecTo(e.solved, e.errors); err != nil {
		return err
	}
	e.n++
	e.area += 0.5 * c.LogDet()
	e.gain += 0.5 * (plain - mat.Dot(e.solved, e.errors) - c.LogDet())
	for i, v := range [...]float64{mat.Dot(e.solved, e.errors), plain} {
		e.squares[i] += v
		if v <= e.chi50 {
			e.in50[i]++
		}
		if v <= e.chi95 {
			e.in95[i]++
		}
	}
	return nil
}

func square(v float64) float64 { return v * v }

// ellipsesOf returns those of the groups of which there are all states, with their names.
func ellipsesOf(states []channel.Channel) (all []*ellipse, titles []string) {
	for _, g := range groups {
		var at []int
		for _, name := range g.states {
			if k := channel.Index(states, name); k >= 0 {
				at = append(at, k)
			}
		}
		if len(at) == len(g.states) {
			all, titles = append(all, newEllipse(at)), append(titles, g.name)
		}
	}
	return all, titles
}

// pairScores puts the coverage of ellipses and the energy scores into a row, means over the
// horizons.
func pairScores(u *study.Unit, d *data, m *model.Model) error {
	K, times := m.K, d.of.horizons
	p, err := estimator.NewFast(m, times)
	if err != nil {
		return err
	}
	draw, err := p.Trajectories(times)
	if err != nil {
		return err
	}
	ellipses, titles := ellipsesOf(m.Channels[:K])
	dst, q := p.NewPrediction().WithCorrelation(), &estimator.Query{}
	energy := newEnergy(len(dst.Mean), K)
	errors := make([]float64, len(dst.Mean))
	rng := rand.New(rand.NewPCG(uint64(u.Seed), 7))
	for w := range replay.Each(d.test, window.Cut(d.test, d.task.Horizon, jointStrides*d.task.Horizon), times) {
		w.Query(q, m, model.Plan, planRows)
		if !p.Predict(dst, q) {
			return fmt.Errorf("segment %q, sample %d: a prediction is not finite", w.Flight.Name, w.Start)
		}
		for j, y := range w.Measured {
			errors[j] = w.X0[j%K] + y - dst.Mean[j]
		}
		copy(dst.Std, dst.ObsStd)
		for i := range times {
			for _, e := range ellipses {
				if err := e.add(errors[i*K:(i+1)*K], dst.ObsStd[i*K:(i+1)*K], dst.Correlation[i*K*K:(i+1)*K*K]); err != nil {
					return err
				}
			}
		}
		if !draw.Start(dst, q) {
			return fmt.Errorf("segment %q, sample %d: draws are not finite", w.Flight.Name, w.Start)
		}
		energy.add(errors, dst, draw, rng)
	}
	for i, e := range ellipses {
		for j, name := range []string{"", "_plain"} {
			u.Put(titles[i]+"_50"+name, round(e.in50[j]/e.n, 4)).Put(titles[i]+"_95"+name, round(e.in95[j]/e.n, 4))
			u.Put(titles[i]+"_gain", round(e.gain/e.n, 3)).Put(titles[i]+"_area", round(math.Exp(e.area/e.n), 3))
			u.Put(titles[i]+"_mean"+name, round(e.squares[j]/e.n/float64(len(e.at)), 3))
		}
	}
	u.Put("groups", titles)
	u.Put("energy", round(energy.ratio(), 4)).Put("energy_whole", round(energy.whole[0]/energy.whole[1], 4))
	return nil
}

// energy sums energy scores, of draws with the correlations and of independent states, whose
// errors are each over the standard deviation of the prediction.
type energy struct {
	K      int
	draws  [2][][]float64
	scores [2][]float64 // by time
	whole  [2]float64   // of trajectories
}

func newEnergy(n, K int) *energy {
	e := &energy{K: K}
	for i := range e.draws {
		e.scores[i] = make([]float64, n/K)
		for range energyDraws {
			e.draws[i] = append(e.draws[i], make([]float64, n))
		}
	}
	return e
}

// add adds the scores of a window. Independent states have the draws of one state each of
// other trajectories.
func (e *energy) add(errors []float64, d *estimator.Prediction, from *estimator.Trajectories, rng *rand.Rand) {
	for _, to := range e.draws[0] {
		from.Draw(to, rng.NormFloat64)
		for j := range to {
			to[j] = (to[j] - d.Mean[j]) / d.ObsStd[j]
		}
	}
	for i, to := range e.draws[1] {
		for j := range to {
			to[j] = e.draws[0][(i+j%e.K)%energyDraws][j]
		}
	}
	truth := make([]float64, len(errors))
	for j := range truth {
		truth[j] = errors[j] / d.ObsStd[j]
	}
	for i, draws := range e.draws {
		for t := range e.scores[i] {
			e.scores[i][t] += energyScore(truth[t*e.K:(t+1)*e.K], draws, t*e.K)
		}
		e.whole[i] += energyScore(truth, draws, 0)
	}
}

// ratio returns the score over that of independent states, mean over the times.
func (e *energy) ratio() float64 {
	sum := 0.0
	for t, v := range e.scores[0] {
		sum += v / e.scores[1][t] / float64(len(e.scores[0]))
	}
	return sum
}

// energyScore returns that of draws, from a place on, of what was measured.
func energyScore(truth []float64, draws [][]float64, from int) float64 {
	between := func(a, b []float64) float64 {
		sum := 0.0
		for j, x := range truth {
			if !math.IsNaN(x) {
				sum += square(a[j] - b[j])
			}
		}
		return math.Sqrt(sum)
	}
	n, first, second := float64(len(draws)), 0.0, 0.0
	for i, a := range draws {
		first += between(a[from:], truth) / n
		for _, b := range draws[:i] {
			second += between(a[from:], b[from:]) / (n * (n - 1))
		}
	}
	return first - second
}

func jointTables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	lines := study.GroupBy(rows, func(r *study.Row) string { return r.Set })
	recording := study.ForSet("recording", func(set string) string { return find(set).title })
	tubes := study.Table{
		Name: "joint", Title: "Tubes, and draws of the covariance", Groups: lines,
		Columns: []study.Column{
			recording, study.MeanOf("flights", "flights", 0), study.MeanOf("in 50 %", "tube50", 2), study.MeanOf("in 90 %", "tube90", 2), study.MeanOf("in 95 %", "tube95", 2),
			study.MeanOf("factor of 95 %", "factor95", 2), study.MeanOf("over Bonferroni's", "bonferroni", 2), study.MeanOf("energy score", "energy", 3), study.MeanOf("of trajectories", "energy_whole", 3),
		},
	}
	ellipses := study.Table{Name: "joint-ellipses", Title: "Ellipses, in brackets as if states were independent", Groups: lines, Columns: []study.Column{recording}}
	var seen []string
	for _, g := range groups {
		if slices.Contains(seen, g.name) {
			continue
		}
		seen = append(seen, g.name)
		for _, level := range []string{"50", "95"} {
			ellipses.Columns = append(ellipses.Columns, study.Column{Head: g.name + ": in " + level + " %", Cell: func(l study.Group) string {
				if !l[0].Has(g.name + "_" + level) {
					return ""
				}
				return fmt.Sprintf("%s (%s)", study.Fixed(l[0].Number(g.name+"_"+level), 2), study.Fixed(l[0].Number(g.name+"_"+level+"_plain"), 2))
			}})
		}
		ellipses.Columns = append(ellipses.Columns, study.MeanOf("volume", g.name+"_area", 2), study.MeanOf("nats", g.name+"_gain", 2))
	}
	return []study.Table{tubes, ellipses}, nil
}
