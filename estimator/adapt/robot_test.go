package adapt

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

const period = 10_000_000 // ns

func adaptable() *model.Model { return artificial.Adaptable(3, 1e-9*period) }

func filter(t testing.TB, m *model.Model) *Filter {
	f, err := New(m, func(times []float64) (Predictor, error) { return estimator.New(m, times) })
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// robot is the equation of a model with parameters, measured at every step.
type robot struct {
	m       *model.Model
	changed *priordynamics.Adapted
	plain   *priordynamics.Rollout
	theta   []float64
	x, u    []float64
	t       int64
	rng     *rand.Rand
	changes float64 // share of samples after which the input changes, 0 = 0.05
	every   int     // states from one that comes to the next while it flies, 0 = 1; the others are lost
}

type held []float64

func (h held) Mean(dst []float64, _, _ float64) { copy(dst, h) }
func (h held) At(dst []float64, _ float64)      { copy(dst, h) }

func newRobot(t *testing.T, m *model.Model, theta []float64) *robot {
	e, a, err := Parameters(m)
	if err != nil {
		t.Fatal(err)
	}
	return &robot{
		m: m, changed: priordynamics.NewAdapted(e, m.K, a, e.Step), plain: priordynamics.New(e, m.K, e.Step), theta: theta,
		x: make([]float64, m.K), u: make([]float64, m.P), rng: rand.New(rand.NewPCG(1, 2)),
	}
}

// step moves on by a sample; the input changes now and then.
func (r *robot) step() {
	r.changed.Run(r.x, held(r.u), r.theta, 1e-9*period, false)
	r.plain.Run(r.x, held(r.u))
	plain, moved := make([]float64, r.m.K), make([]float64, r.m.K)
	r.plain.At(plain, nil, 1e-9*period)
	r.changed.At(moved, nil, 1e-9*period)
	for k := range r.x {
		r.x[k] += plain[k] + moved[k]
	}
	if r.t += period; r.rng.Float64() < cmp.Or(r.changes, 0.05) {
		r.u[0] = r.m.Inputs.InputMean[0] + 2*r.m.Inputs.InputStd[0]*r.rng.NormFloat64()
	}
}

func (r *robot) measured() []float64 {
	out := slices.Clone(r.x)
	for k := range out {
		out[k] += 0.0015 * r.rng.NormFloat64()
	}
	return out
}

// fly feeds a filter for so many seconds.
func (r *robot) fly(f *Filter, s float64) {
	for i := range int(s * 1e9 / period) {
		if i%max(r.every, 1) == 0 {
			f.Observed(r.t, r.measured(), r.u)
		}
		r.step()
	}
}
