package optimise

import (
	"context"
	"errors"
	"math"
	"slices"
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
	r := Ramp{From: 0.2, To: 0.5, Power: 0.8, Steps: 100}
	if r.At(20) != 0 || r.At(50) != 1 || r.At(99) != 1 || math.Abs(r.At(35)-math.Pow(0.5, 0.8)) > 1e-12 {
		t.Errorf("rise: %v %v %v %v", r.At(20), r.At(50), r.At(99), r.At(35))
	}
}

// A failed evaluation takes the last move back and halves the rate; one failure too many
// ends the loop, as the context does.
func TestLoop(t *testing.T) {
	run := func(ctx context.Context, failures int, evaluate func(step int, x float64) Outcome) (x float64, rates []float64, failed int, err error) {
		params, grad := []float64{0}, []float64{-1}
		l := Loop{
			Steps: 5, Rate: func(int) float64 { return 1 }, MaxFailures: failures, Groups: []Group{{params, grad, plain{}}},
			Evaluate: func(step int) Outcome { return evaluate(step, params[0]) },
			Moved:    func(_ int, r float64) { rates = append(rates, r) },
		}
		failed, err = l.Run(ctx)
		return params[0], rates, failed, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	x, rates, failed, err := run(ctx, 1, func(step int, x float64) Outcome {
		if step == 2 {
			return Failed
		}
		return Descend
	})
	if want := []float64{1, 1, 0.5, 0.5}; x != 2 || !slices.Equal(rates, want) || failed != 1 || err != nil {
		t.Errorf("one failure: x %v, rates %v, %d failures, %v", x, rates, failed, err)
	}
	var diverged *DivergedError
	if _, _, failed, err := run(ctx, 1, func(int, float64) Outcome { return Failed }); failed != 2 || !errors.As(err, &diverged) || diverged.Step != 1 {
		t.Errorf("failures only: %d, %v", failed, err)
	}
	if x, _, _, err := run(ctx, 0, func(_ int, x float64) Outcome {
		if x == 3 {
			return Done
		}
		return Descend
	}); x != 3 || err != nil {
		t.Errorf("done at 3: x %v, %v", x, err)
	}
	if x, _, _, err := run(ctx, 0, func(step int, _ float64) Outcome {
		if step == 1 {
			cancel()
		}
		return Descend
	}); x != 2 || err != context.Canceled {
		t.Errorf("cancelled in the second step: x %v, %v", x, err)
	}
}

// plain moves parameters by rate times gradient.
type plain struct{}

func (plain) Step(params, grad []float64, rate float64) { params[0] -= rate * grad[0] }
