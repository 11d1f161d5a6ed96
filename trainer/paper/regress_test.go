package paper

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

func TestDescentIsTheGradient(t *testing.T) {
	const rows, h = 7, 1e-6
	rng := rand.New(rand.NewPCG(6, 6))
	net := mlp.New([]int{2, 4, 3, 2}, []mlp.Activation{mlp.Tanh, mlp.Sigmoid, mlp.Linear})
	net.Glorot(rng)
	theta := make([]float64, net.Params())
	net.Bind(theta)
	d := newNetGradient(&net, rows)
	for i := range d.x {
		d.x[i] = rng.NormFloat64()
	}
	last := len(d.y) - 1
	loss := func() float64 {
		d.forward(&net, rows)
		s := 0.0
		for _, v := range d.y[last] {
			s += 0.5 * v * v
		}
		return s
	}
	loss()
	copy(d.ybar, d.y[last])
	d.backward(&net, rows)
	for i := range theta {
		old := theta[i]
		theta[i] = old + h
		plus := loss()
		theta[i] = old - h
		minus := loss()
		theta[i] = old
		if want := (plus - minus) / (2 * h); !(math.Abs(d.grad[i]-want) <= 1e-7) {
			t.Fatalf("parameter %d: %v, difference %v", i, d.grad[i], want)
		}
	}
	// The flying net says the same.
	tape := mlp.NewTape(&net, rows, false)
	net.Forward(tape, rows, d.x, nil)
	loss()
	for i, v := range tape.Out() {
		if !(math.Abs(v-d.y[last][i]) <= 1e-12) {
			t.Fatalf("output %d: %v and %v", i, d.y[last][i], v)
		}
	}
}

// A net is fitted far beyond what Adam does in as many steps.
func TestRegressionIsExact(t *testing.T) {
	const n = 1500
	rng := rand.New(rand.NewPCG(7, 7))
	net := mlp.New([]int{2, 16, 16, 1}, []mlp.Activation{mlp.Tanh, mlp.Tanh, mlp.Linear})
	net.Glorot(rng)
	x, y, w := make([]float64, 2*n), make([]float64, n), make([]float64, n)
	for i := range n {
		a, b := 2*rng.Float64()-1, 2*rng.Float64()-1
		x[2*i], x[2*i+1], y[i], w[i] = a, b, math.Sin(4*a+2*b*b), 1
	}
	regress(context.Background(), &net, x, y, w, Regression{Steps: 1000, Batch: 200, Rate: 0.01, Last: 1e-5}, func(int) {}, rng)
	tape := mlp.NewTape(&net, n, false)
	net.Forward(tape, n, x, nil)
	s := 0.0
	for i, v := range tape.Out() {
		s += (v - y[i]) * (v - y[i]) / n
	}
	if rms := math.Sqrt(s); !(rms < 0.03) { // 0.02; by Adam 0.09
		t.Errorf("root mean square error %v", rms)
	}
}
