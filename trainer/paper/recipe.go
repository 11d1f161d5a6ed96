package paper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/cores"
)

// Recipe holds the settings by which a model is learned from data.
type Recipe struct {
	Settings
	Members int          // fits, which flows begin from in turn
	Most    int          // observations that a member is trained on, of whole trajectories; 0 = all
	Rounds  int          // of the refinement, at most, with an update of prior and noise after each
	Refits  int          // simulated data sets, or groups of trajectories left out in turn, on which flows are refined again
	Final   Distillation // of the smoother that predicts

	Known *Known // (optional) the field that is refined in place of the members' dynamics

	Progress func(what string) // (optional) is called with each stage as it begins, and with shares of long ones
}

// DefaultRecipe returns the recipe for a data set: the same for all, except that
// derivatives are matched at the observations of one trajectory and at equal steps
// along each of many, and that the smoother of one trajectory learns from one start,
// in a quarter of the steps on batches half as large.
func DefaultRecipe(d *Data) Recipe {
	r := Recipe{Settings: DefaultSettings(), Members: 3, Most: 2000, Rounds: 12, Refits: 8, Final: Distillation{
		Core: []int{64, 64, 64, 64}, Act: mlp.Tanh, D: 3, F: 100,
		Regression: Regression{Steps: 12000, Batch: 1000, Rate: 0.01, Last: 1e-5},
		Rounds:     60, Starts: 30000, Times: 20, SpreadStarts: 3000, SpreadTimes: 10,
	}}
	r.F, r.Steps = 50, 300
	if len(d.Trajectories) > 1 {
		r.Support = 8
	} else {
		// All starts are the same: its beginning and its end are queried every time.
		r.Final.Steps, r.Final.Batch = 3000, 500
		r.Final.Starts, r.Final.Times, r.Final.SpreadStarts, r.Final.SpreadTimes = 80, 50, 20, 50
	}
	return r
}

// String returns the settings on one line.
func (r Recipe) String() string {
	return fmt.Sprintf("%d members of up to %d observations: %s; refined in %d rounds, %d refits; smoother: %s",
		r.Members, r.Most, r.Settings, r.Rounds, r.Refits, r.Final)
}

// Learn follows the recipe. seed decides everything random. The error reports what is wrong
// with the data, why the numbers failed, or that ctx ended.
func Learn(ctx context.Context, d *Data, r Recipe, seed uint64) (*Model, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	if r.Members < 1 || r.Rounds < 1 {
		return nil, errors.New("a recipe has one member and one round at least")
	}
	if r.Known != nil && len(r.Known.free()) == 0 {
		return nil, errors.New("no parameter of the known field is free: there is nothing to learn")
	}
	if r.Progress == nil {
		r.Progress = func(string) {}
	}
	m := &Model{K: d.K, VarianceInflation: 1}
	began := time.Now()
	lap := func() float64 {
		last := began
		began = time.Now()
		return began.Sub(last).Seconds()
	}
	r.Progress("members are trained")
	parts := make([]*Data, r.Members)
	for i := range parts {
		parts[i] = d.subsample(rand.New(rand.NewPCG(seed, uint64(i))), r.Most)
	}
	var err error
	if m.Members, err = m.fits(ctx, parts, r.Settings, seed*1000); err != nil {
		return nil, err
	}
	m.Took.Members = lap()
	teacher := m.mixture
	r.Progress("their dynamics are refined")
	switch err := m.refine(ctx, d, r); {
	case errors.Is(err, errFlow) && r.Known == nil:
		if teacher = m.membersMixture(); teacher == nil {
			return nil, fmt.Errorf("%w, and every member collapsed: %w", err, errCollapsed)
		}
	case err != nil:
		return nil, err
	default:
		r.Progress("the variance inflation is found by refits")
		if err := m.inflate(ctx, d, r, seed*1000+850); err != nil {
			return nil, err
		}
	}
	m.Took.Flows = lap()
	if m.Smoother, err = distil(ctx, teacher, m.Members[0].Inputs, d, r.Final, r.Progress, seed*1000+900); err != nil {
		return nil, err
	}
	m.Took.Smoother = lap()
	return m, nil
}

// fits trains on each of the data, and returns the fits that did not fail. A member whose
// objective is worse than the best by more than collapse is run again: flows begin from a
// collapsed one too, where it stays so.
func (m *Model) fits(ctx context.Context, data []*Data, set Settings, seed uint64) ([]*Fit, error) {
	out := make([]*Fit, len(data))
	errs := make([]error, len(data))
	run := func(i int, seed uint64) {
		f, err := trainOnce(ctx, data[i], set, seed, 0)
		if errs[i] = err; f != nil && (out[i] == nil || f.Parts.Total <= out[i].Parts.Total) {
			out[i] = f
		}
	}
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
		cores.Each(len(again), func(j int) { run(again[j], seed+uint64(100*(try+1)+again[j])) })
	}
	// Flows are tried from all members: one that failed every time is left out.
	fine := slices.DeleteFunc(out, func(f *Fit) bool { return f == nil })
	if len(fine) == 0 {
		return nil, errs[0]
	}
	return fine, nil
}

// refine shoots with the dynamics of the members and keeps the flows that explain the
// data: one of every form that a flow may have, and of the net alone only where no other
// complete one can be integrated.
func (m *Model) refine(ctx context.Context, d *Data, r Recipe) error {
	flows := m.refineForms(ctx, d, r, r.forms(d))
	if !slices.ContainsFunc(flows, func(f *Flow) bool { return f.part != sparse }) {
		flows = append(flows, m.refineForms(ctx, d, r, make([]form, r.Members))...)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(flows) == 0 {
		return errFlow
	}
	m.Flows = keepLikely(flows, d)
	m.Dropped += len(flows) - len(m.Flows)
	return nil
}

// refineForms returns the flows of so many forms that can be integrated, each from another
// member and, where that fails, from the next.
func (m *Model) refineForms(ctx context.Context, d *Data, r Recipe, forms []form) []*Flow {
	var mutex sync.Mutex // a member has one memory to predict with
	begin := func(i, try int) *Flow {
		mutex.Lock()
		defer mutex.Unlock()
		return r.flow(m.Members[(i+try)%len(m.Members)], d, forms[i])
	}
	flows := make([]*Flow, len(forms))
	cores.Each(len(forms), func(i int) {
		for try := range m.Members {
			if ctx.Err() != nil {
				return
			}
			if f := begin(i, try); f.Shoot(ctx, d, r.Rounds) {
				flows[i] = f
				return
			}
		}
	})
	out := slices.DeleteFunc(flows, func(f *Flow) bool { return f == nil })
	m.Dropped += len(forms) - len(out)
	return out
}

// forms returns the forms that flows may have, between which the evidence decides. Terms of a
// polynomial are chosen where there are three values for each, and not more than 200.
func (r *Recipe) forms(d *Data) []form {
	const each, most = 3, 200
	terms := newPolynomial(make([]float64, d.K), 1, 2).params()
	switch {
	case r.Known != nil:
		return make([]form, r.Members)
	case terms <= most && d.Rows()*d.K >= each*terms:
		return []form{rawAndNet, sparse, centredAndNet}
	}
	return []form{quadratic, linear}
}

// inflate sets the factor of the flows' variances: where their terms were chosen by refits on
// data simulated from them, where they were not, and there are four trajectories for each
// group, by refits that leave a group out. Those of a known field stay.
func (m *Model) inflate(ctx context.Context, d *Data, r Recipe, seed uint64) error {
	const each = 4
	switch {
	case r.Known != nil || r.Refits == 0:
		return nil
	case slices.ContainsFunc(m.Flows, func(f *Flow) bool { return f.Poly != nil && !f.Poly.dense }):
		return m.bootstrap(ctx, d, r, seed)
	case r.Refits > 1 && len(d.Trajectories) >= each*r.Refits:
		return m.jackknife(ctx, d, r, seed)
	}
	return nil
}
