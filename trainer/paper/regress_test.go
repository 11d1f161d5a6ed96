package paper

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

func TestGradientOfARegression(t *testing.T) {
	const rows, h = 7, 1e-6
	rng := rand.New(rand.NewPCG(6, 6))
	net := mlp.New([]int{2, 4, 3, 2}, []mlp.Activation{mlp.Tanh, mlp.Sigmoid, mlp.Linear})
	net.Glorot(rng)
	theta := make([]float64, net.Params())
	net.Bind(theta)
	d := newNetGradient(&net, rows)
	var x, y, w []float64
	order := rng.Perm(rows)
	for range rows {
		x = append(x, rng.NormFloat64(), rng.NormFloat64())
		y = append(y, rng.NormFloat64(), rng.NormFloat64())
		w = append(w, rng.Float64(), rng.Float64())
	}
	tape := mlp.NewTape(&net, rows, false)
	loss := func() float64 {
		net.Forward(tape, rows, x, nil)
		s := 0.0
		for i, v := range tape.Out() {
			s += 0.5 * w[i] * (v - y[i]) * (v - y[i])
		}
		return s
	}
	for range 2 { // nothing is left of the first
		d.weighted(&net, x, y, w, order)
	}
	for i := range theta {
		old := theta[i]
		theta[i] = old + h
		plus := loss()
		theta[i] = old - h
		minus := loss()
		theta[i] = old
		if want := (plus - minus) / (2 * h); !(math.Abs(d.flat[i]-want) <= 1e-7) {
			t.Fatalf("parameter %d: %v, difference %v", i, d.flat[i], want)
		}
	}
}

// A net is fitted to a smaller error than by Adam in as many steps.
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
