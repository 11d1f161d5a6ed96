package candidates

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/estimator/channel"
	dynamics "github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/budget"
	"github.com/dgm-robotics/dgm/trainer/stack"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// arm is a chain of two links that lie, each joint driven by a torque.
var arm = dynamics.Chain{
	Angles: []int{0, 1}, Rates: []int{2, 3}, Unit: []float64{1, 1}, Relative: true, Mass: []float64{0.3, 0.15}, Rotor: []float64{0.02},
	Sine: make([]float64, 2), Cosine: make([]float64, 2), Viscous: []float64{1.5, 0.8}, Dry: []float64{0.6, 0.3}, Gain: []float64{6, 0, 0, 5},
}

var armTask = window.Task{Inputs: 2, Horizon: 0.4, States: []channel.Channel{
	{Name: "q1", Unit: "rad", Role: channel.State, Derivative: "w1"}, {Name: "q2", Unit: "rad", Role: channel.State, Derivative: "w2"},
	{Name: "w1", Unit: "rad/s", Role: channel.State}, {Name: "w2", Unit: "rad/s", Role: channel.State},
}}

// flown returns flights of the arm of so many samples.
func flown(seed uint64, flights, samples int) (out []window.Flight) {
	rng := rand.New(rand.NewPCG(seed, 2))
	for at := range flights {
		s, x, u := window.Series{}, []float64{rng.NormFloat64(), rng.NormFloat64(), 0, 0}, []float64{0, 0}
		for i := range samples {
			if i%25 == 0 {
				u[0], u[1] = 2*rng.NormFloat64()-x[0], rng.NormFloat64()-0.5*x[1]
			}
			s.T, s.U = append(s.T, int64(i)*2e7), append(s.U, u...)
			for k, v := range x {
				s.X = append(s.X, v+[]float64{1e-3, 1e-3, 1e-2, 1e-2}[k]*rng.NormFloat64())
			}
			for range 4 {
				arm.Add(x, slices.Clone(x), u, 0.005)
			}
		}
		out = append(out, window.Prepare(at, s, armTask.States, 2, window.Options{})...)
	}
	return out
}

// identified returns the prior dynamics with the equation of motion of flights, and its candidates.
func identified(t *testing.T, flights []window.Flight) (*Prior, []stack.Candidate) {
	t.Helper()
	p := &Prior{task: armTask, set: Settings{Motion: true, MotionWindows: 64, Inputs: []channel.Channel{{Name: "t1"}, {Name: "t2"}}}}
	found, err := p.fitMotion(t.Context(), flights, window.Folds(flights, armTask.Horizon, 5), budget.New(time.Hour, budget.Plan{States: 4}, nil))
	if err != nil {
		t.Fatal(err)
	}
	return p, found
}

// An arm whose links are coupled gets the equation of a chain, which few parameters describe.
func TestAnArmIsAChain(t *testing.T) {
	flights := flown(1, 4, 250)
	p, found := identified(t, flights)
	if len(found) != 1 || !found[0].Physical || len(found[0].Folds) != 4 {
		t.Fatalf("%d candidates", len(found))
	}
	e := p.EquationOfMotion()
	if e.Kind != dynamics.ChainKind || found[0].Whole.String() != "equation of motion, planar chain of links" {
		t.Fatalf("%s: %s", e.Kind, found[0].Whole.String())
	}
	for i, want := range arm.Parameters([]string{"t1", "t2"}) {
		got := e.Parameters[i]
		if got.Name != want.Name || math.Abs(got.Value-want.Value) > 0.1*(1+math.Abs(want.Value)) || !(got.Low < got.Value && got.Value < got.High) {
			t.Errorf("%v, in truth %v", got, want)
		}
	}
	// A fit to other flights, without folds, keeps the widths of the intervals.
	before := e.Parameters[0].High - e.Parameters[0].Low
	if _, err := p.fitMotion(t.Context(), flights[:3], nil, budget.New(time.Hour, budget.Plan{States: 4}, nil)); err != nil {
		t.Fatal(err)
	}
	if q := p.EquationOfMotion().Parameters[0]; math.Abs(q.High-q.Low-before) > 1e-9 {
		t.Errorf("the interval is %v wide, before %v", q.High-q.Low, before)
	}
}

// 95 % intervals of the parameters of a chain hold the true ones about as often.
func TestIntervalsOfAChain(t *testing.T) {
	if os.Getenv("DGM_SLOW") == "" {
		t.Skip("slow; set DGM_SLOW=1")
	}
	inside, all := 0, 0
	for seed := range uint64(20) {
		p, _ := identified(t, flown(100+seed, 5, 600))
		for i, want := range arm.Parameters([]string{"t1", "t2"}) {
			all++
			if q := p.EquationOfMotion().Parameters[i]; q.Low <= want.Value && want.Value <= q.High {
				inside++
			}
		}
	}
	t.Logf("%d of %d parameters are in their intervals", inside, all)
	if share := float64(inside) / float64(all); share < 0.9 {
		t.Errorf("%.3f of the parameters are in their intervals", share)
	}
}
