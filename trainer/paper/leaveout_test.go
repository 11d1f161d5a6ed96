package paper

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// Where the form is right and noise is noise, refits that leave out trajectories differ as
// the flow says; where every robot turns at a speed of its own, which the flow takes for
// noise, they tell.
func TestLeavingOutTellsWhatThePosteriorTakesForGranted(t *testing.T) {
	r := small()
	ratio := func(d *Data) (m *Model, ratio float64) {
		t.Helper()
		f, err := Train(context.Background(), d, r.Settings, 1)
		if err != nil {
			t.Fatal(err)
		}
		flow := f.newPlainFlow(d, linear)
		if !flow.Shoot(context.Background(), d, 12) {
			t.Fatal("cannot be integrated")
		}
		m = &Model{K: d.K, Temper: 1, Members: []*Fit{f}, Flows: []*Flow{flow}}
		r := r
		r.Refits = 8
		if err := m.temper(context.Background(), d, r, 1); err != nil {
			t.Fatal(err)
		}
		return m, m.Temper
	}
	d := turning(32, 12, 0.05)
	m, right := ratio(d)
	if right == 1 || !(right >= leastTemper) || !(right <= 2) {
		t.Errorf("the form is right, and the factor %v", right)
	}
	own := turning(32, 12, 0.02)
	rng := rand.New(rand.NewPCG(3, 3))
	for j := range own.Trajectories {
		tr := &own.Trajectories[j]
		speed := 1 + 0.1*rng.NormFloat64()
		for i, at := range tr.T {
			x := rotated(tr.X0[0], at*speed)
			tr.Y[2*i], tr.Y[2*i+1] = x[0]+0.02*rng.NormFloat64(), x[1]+0.02*rng.NormFloat64()
		}
	}
	if _, wide := ratio(own); !(wide >= 3) {
		t.Errorf("every trajectory has a speed of its own, and the factor is %v", wide)
	}

	m.Temper = 1
	without := make([]*Model, 8)
	if _, ok := m.scatter(without, d); ok {
		t.Error("a ratio without refits")
	}
	for g := range without {
		c := m.Flows[0].copy()
		c.Theta[g%len(c.Theta)] += 0.001 * float64(1+g)
		without[g] = &Model{K: 2, Temper: 1, Flows: []*Flow{c}}
	}
	sure, ok := m.scatter(without, d)
	flow := m.Flows[0]
	for i := range flow.Inv {
		flow.Inv[i] *= 0.5
	}
	flow.believe(flow.Inv)
	if surer, _ := m.scatter(without, d); !ok || !(sure > 0) || !(math.Abs(surer-4*sure) <= 1e-9*surer) {
		t.Errorf("half of the standard deviation makes %v of %v", surer, sure)
	}
	without[3], without[5] = nil, nil
	if _, ok := m.scatter(without, d); !ok {
		t.Error("two of eight groups failed, and there is no ratio")
	}
}

// A copy shares no number with its flow.
func TestCopiesAreTheirOwn(t *testing.T) {
	d := turning(4, 8, 0.05)
	f, err := Train(context.Background(), d, small().Settings, 1)
	if err != nil {
		t.Fatal(err)
	}
	flow := f.NewPolynomialFlow(d, false)
	c := flow.copy()
	x0, at := []float64{1, 0}, []float64{1, 2}
	was, is := make([]float64, 4), make([]float64, 4)
	flow.solve(was, x0, at)
	if c.solve(is, x0, at); is[3] != was[3] {
		t.Errorf("a copy says %v of %v", is, was)
	}
	for i := range c.Theta {
		c.Theta[i] *= 0.5
	}
	c.Alpha[0], c.Sigma[0] = 7, 7
	if flow.solve(is, x0, at); is[3] != was[3] || flow.Alpha[0] == 7 || flow.Sigma[0] == 7 {
		t.Error("the copy's numbers are the flow's")
	}
	if c.solve(is, x0, at); is[3] == was[3] {
		t.Error("the copy's field does not follow its parameters")
	}
}
