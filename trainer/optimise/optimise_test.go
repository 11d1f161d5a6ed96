package optimise

import (
	"math"
	"testing"
)

// A badly scaled quadratic: Adam with a falling rate must end at its minimum.
func TestAdamFindsMinimum(t *testing.T) {
	x, want, curve := []float64{5, -3}, []float64{1, 2}, []float64{1, 400}
	g := make([]float64, 2)
	a := NewAdam(2)
	c := Cosine{From: 0.1, To: 1e-4, WarmUp: 10, Steps: 1500}
	for i := range c.Steps {
		for j := range x {
			g[j] = curve[j] * (x[j] - want[j])
		}
		a.Step(x, g, c.At(i))
	}
	for j := range x {
		if math.Abs(x[j]-want[j]) > 1e-3 {
			t.Errorf("x[%d] = %v, want %v", j, x[j], want[j])
		}
	}
}

// The first step of Adam has the length of the rate, whatever the gradient.
func TestAdamFirstStep(t *testing.T) {
	for _, g := range []float64{1e-4, 1, 1e6} {
		x := []float64{0}
		NewAdam(1).Step(x, []float64{g}, 0.02)
		if math.Abs(x[0]+0.02) > 1e-5 {
			t.Errorf("gradient %g: step %g, want -0.02", g, x[0])
		}
	}
}

func TestClip(t *testing.T) {
	g := []float64{3, 4}
	if n := Clip(g, 10); n != 5 || g[0] != 3 {
		t.Errorf("norm %v, gradient %v", n, g)
	}
	if Clip(g, 1); math.Abs(math.Hypot(g[0], g[1])-1) > 1e-15 || math.Abs(g[0]/g[1]-0.75) > 1e-15 {
		t.Errorf("clipped to %v", g)
	}
}

func TestSchedules(t *testing.T) {
	c := Cosine{From: 1, To: 0.01, WarmUp: 5, Steps: 100}
	if c.At(0) != 0.2 || c.At(4) != 1 || c.At(5) != 1 || math.Abs(c.At(99)-0.01) > 1e-12 {
		t.Errorf("cosine: %v %v %v %v", c.At(0), c.At(4), c.At(5), c.At(99))
	}
	r := Rise{From: 0.2, To: 0.5, Power: 0.8, Steps: 100}
	if r.At(20) != 0 || r.At(50) != 1 || r.At(99) != 1 || math.Abs(r.At(35)-math.Pow(0.5, 0.8)) > 1e-12 {
		t.Errorf("rise: %v %v %v %v", r.At(20), r.At(50), r.At(99), r.At(35))
	}
}
