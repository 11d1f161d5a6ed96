package adapt

import (
	"math"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
)

// Of an equation alone the prediction under the inputs that act is that which is corrected without them.
func TestInputsThatAct(t *testing.T) {
	m := adaptable()
	f := filter(t, m)
	theta := make([]float64, len(f.state.Theta))
	theta[m.K] = -0.2
	r := newRobot(t, m, theta)
	r.fly(f, 20)
	p, err := estimator.New(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, got := p.NewPrediction().WithDerivatives(), p.NewPrediction().WithDerivatives()
	g := 1 + f.state.Theta[m.K]
	for name, q := range map[string]*estimator.Query{
		"held": {X0: r.x, U: slices.Repeat([]float64{0.7}, m.P)},
		"plan": {X0: r.x, U: slices.Repeat([]float64{0.7}, m.P), Plan: slices.Repeat([]float64{0.3, -0.4}, m.P)},
		"mean": {X0: r.x},
	} {
		copy(f.state.Acting, []float64{1, 1})
		acting := f.Effective(q)
		if acting == q || (acting.Plan == nil) != (q.Plan == nil) || q.U != nil && acting.U[0] != g*q.U[0] || q.Plan != nil && acting.Plan[m.P] != g*q.Plan[m.P] {
			t.Fatalf("%s: from %+v, %+v", name, q, acting)
		}
		if !p.Predict(got, acting) || !f.Correct(got, q) || !p.Predict(want, q) || !f.Correct(want, q) {
			t.Fatal(name)
		}
		for j, v := range want.Mean {
			if math.Abs(got.Mean[j]-v) > 1e-9 || math.Abs(got.DMean[j]-want.DMean[j]) > 1e-6 {
				t.Errorf("%s: number %d is %v and moves by %v, expected %v and %v", name, j, got.Mean[j], got.DMean[j], v, want.DMean[j])
			}
		}
	}
	// The gradient by a plan is the Jacobian's by the same plan.
	q := &estimator.Query{X0: r.x, U: slices.Repeat([]float64{0.7}, m.P), Plan: slices.Repeat([]float64{0.3, -0.4}, m.P)}
	a := p.NewPrediction().WithInputJacobian(len(q.Plan))
	gradient := p.NewGradient(len(q.Plan))
	mean, std := make([]float64, len(a.Mean)), make([]float64, len(a.Mean))
	f.state.Acting[0] = 1
	if !p.Predict(a, f.Effective(q)) || !f.Correct(a, q) {
		t.Fatal("no prediction")
	}
	for j := range mean {
		clear(mean)
		mean[j] = 1
		if !p.Adjoint(gradient, f.Effective(q), mean, std) {
			t.Fatal("no gradient")
		}
		f.corrector.ByCommands(gradient)
		for i, v := range gradient.Plan {
			if want := a.InputJacobian[j*len(q.Plan)+i]; math.Abs(v-want) > 1e-9*(1+math.Abs(want)) {
				t.Errorf("number %d moves by %v with number %d of the plan, by the Jacobian %v", j, v, i, want)
			}
		}
	}
	if n := testing.AllocsPerRun(50, func() { f.Effective(&estimator.Query{X0: r.x, U: r.u}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	long := &estimator.Query{X0: r.x, Plan: make([]float64, mostPlan+m.P)}
	if f.Effective(long) != long {
		t.Error("a longer plan than is copied has other inputs")
	}
	f.Reset()
	if q = (&estimator.Query{X0: r.x, U: r.u}); f.Effective(q) != q {
		t.Error("nothing is known, and inputs act otherwise")
	}
}
