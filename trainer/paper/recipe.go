package paper

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/dgm-robotics/dgm/trainer/cores"
)

// Recipe says how a model is learned from data.
type Recipe struct {
	Settings
	Members int      // fits, each refined
	Rounds  int      // of the refinement, with an update of prior and noise after each
	Final   Settings // of the smoother that predicts
	Virtual Virtual  // what it learns from

	Known    *Known // (optional) the field that is refined in place of the members' dynamics
	Residual []int  // (optional) widths of the hidden layers of a net that is added to it
}

// DefaultRecipe returns the recipe for a data set: the same for all, but that
// derivatives are matched at the observations of one trajectory and at equal steps
// along each of many, and that one trajectory has no starts beside its own.
func DefaultRecipe(d *Data) Recipe {
	r := Recipe{Settings: DefaultSettings(), Members: 4, Rounds: 4, Final: DefaultSettings(), Virtual: Virtual{Starts: 200, Times: 20}}
	r.F, r.Steps = 50, 500
	r.Final.Steps, r.Final.Lambda, r.Final.Decay, r.Final.Sigma, r.Final.Anchor = 400, 0, 0.01, 0.05, 0
	if len(d.Trajectories) > 1 {
		r.Support = 8
	} else {
		r.Virtual.Times = 150
	}
	return r
}

// String tells the settings on one line.
func (r Recipe) String() string {
	return fmt.Sprintf("%d members: %s; refined in %d rounds; smoother: %s, on %d starts beside those of the data, %d times each",
		r.Members, r.Settings, r.Rounds, r.Final, r.Virtual.Starts, r.Virtual.Times)
}

// String tells the settings on one line.
func (s Settings) String() string {
	return fmt.Sprintf("core %v %s, D %d, F %d, dynamics %v %s, %d steps %g to %g, sigma %g, lambda %g from %g to %g, decay %g, support %d, anchor %g",
		s.Core, s.Act, s.D, s.F, s.Dynamics, s.DynAct, s.Steps, s.Rate, s.Last, s.Sigma, s.Lambda, s.From, s.To, s.Decay, s.Support, s.Anchor)
}

// Model is a smoother that was taught by an ensemble of refined dynamics.
type Model struct {
	K        int
	Members  []*Fit  // as gradient matching left them
	Flows    []*Flow // their dynamics, refined; those that were dropped are not here
	Smoother *Fit    // predicts
	Rerun    int     // fits that had collapsed and were run again
	Dropped  int     // flows that could not be integrated or explain the data worse
	Took     Took
}

// Took are the seconds of the parts of a recipe.
type Took struct{ Members, Flows, Smoother float64 }

// A flow is dropped where its evidence is worse than the best by more than this, in
// nats for each number observed.
const dropped = 0.03

// Learn follows the recipe. seed decides everything random.
func Learn(ctx context.Context, d *Data, r Recipe, seed uint64) (*Model, error) {
	m := &Model{K: d.K}
	same := make([]*Data, r.Members)
	for i := range same {
		same[i] = d
	}
	var err error
	began := time.Now()
	if m.Members, err = m.fits(ctx, same, r.Settings, seed*1000); err != nil {
		return nil, err
	}
	m.Took.Members = time.Since(began).Seconds()
	began = time.Now()
	if err := m.refine(ctx, d, r, seed*1000+800); err != nil {
		return nil, err
	}
	m.Took.Flows = time.Since(began).Seconds()
	began = time.Now()
	if m.Smoother, err = distil(ctx, m.Flows, d, r.Final, r.Virtual, seed*1000+900); err != nil {
		return nil, err
	}
	m.Took.Smoother = time.Since(began).Seconds()
	return m, nil
}

// refine shoots with the dynamics of every member and keeps those that explain the
// data.
func (m *Model) refine(ctx context.Context, d *Data, r Recipe, seed uint64) error {
	flows := make([]*Flow, len(m.Members))
	cores.Each(len(flows), func(i int) {
		if f := r.flow(m.Members[i], d, seed+uint64(i)); f.Shoot(ctx, d, r.Rounds) {
			flows[i] = f
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	best := math.Inf(1)
	for _, f := range flows {
		if f != nil {
			best = math.Min(best, f.Evidence)
		}
	}
	for _, f := range flows {
		if f == nil || !(f.Evidence <= best+dropped*float64(d.Rows()*d.K)) {
			m.Dropped++
			continue
		}
		m.Flows = append(m.Flows, f)
	}
	if len(m.Flows) == 0 {
		return errFlow
	}
	return nil
}

// Predict writes mean and standard deviation of the state at times after the
// start x0 (both len(times)×K row-major, raw units).
func (m *Model) Predict(mean, std, x0, times []float64) {
	m.Smoother.Predict(mean, std, x0, times)
	for i, v := range std {
		std[i] = math.Sqrt(v)
	}
}

// Integrate writes mean and standard deviation of the flows' solutions, integrated,
// as Predict does: what the smoother was taught. ok is false where one cannot be
// integrated.
func (m *Model) Integrate(mean, std, x0, times []float64) (ok bool) {
	n, E := len(mean), float64(len(m.Flows))
	one, v, squares := make([]float64, n), make([]float64, n), make([]float64, n)
	clear(mean)
	clear(std)
	for _, f := range m.Flows {
		if !f.Predict(one, v, x0, times) {
			return false
		}
		for i, a := range one {
			mean[i] += a / E
			squares[i] += a * a / E
			std[i] += v[i] / E
		}
	}
	for i, v := range std {
		std[i] = math.Sqrt(v + math.Max(0, squares[i]-mean[i]*mean[i]))
	}
	return true
}

// A fit has collapsed where its objective is worse than the best by more than
// this, in nats for each number observed: the trivial solution, a flat smoother
// under large noise, which is consistent with itself. It is run again, at most
// twice.
const (
	collapse = 0.3
	reruns   = 2
)

// fits trains on each of the data.
func (m *Model) fits(ctx context.Context, data []*Data, set Settings, seed uint64) ([]*Fit, error) {
	out := make([]*Fit, len(data))
	errs := make([]error, len(data))
	run := func(i int, seed uint64) { out[i], errs[i] = Train(ctx, data[i], set, seed) }
	cores.Each(len(data), func(i int) { run(i, seed+uint64(i)) })
	for try := range reruns {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		best := math.Inf(1)
		for _, f := range out {
			if f != nil {
				best = math.Min(best, f.Parts.Total)
			}
		}
		var again []int
		for i, f := range out {
			if f == nil || f.Parts.Total > best+collapse*float64(data[i].Rows()*data[i].K) {
				again = append(again, i)
			}
		}
		m.Rerun += len(again)
		cores.Each(len(again), func(j int) {
			i := again[j]
			old := out[i]
			run(i, seed+uint64(100*(try+1)+i))
			if old != nil && (out[i] == nil || out[i].Parts.Total > old.Parts.Total) {
				out[i], errs[i] = old, nil
			}
		})
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
