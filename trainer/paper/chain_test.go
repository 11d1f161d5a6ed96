package paper

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

func TestGradientOfThePosterior(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	net := mlp.New([]int{2, 5, 4, 2}, []mlp.Activation{mlp.Sigmoid, mlp.Tanh, mlp.Linear})
	net.Glorot(rng)
	b := &Bayes{Net: net, Prior: make([]float64, net.Params()), Sigma: 0.3, Step: 0.3}
	for i := range b.Prior {
		b.Prior[i] = 0.1 + 0.01*float64(i)
	}
	p := b.posterior(turning(3, 6, 0.1))
	theta := p.theta
	for i := range theta {
		theta[i] += 0.1 * rng.NormFloat64()
	}
	grad, other := make([]float64, len(theta)+1), make([]float64, len(theta)+1)
	logSigma := -0.7
	if _, ok := p.gradient(grad, logSigma); !ok {
		t.Fatal("not finite")
	}
	const h = 1e-6
	for i := range grad {
		at := func(d float64) float64 {
			if i == len(theta) {
				v, _ := p.gradient(other, logSigma+d)
				return v
			}
			old := theta[i]
			theta[i] += d
			v, _ := p.gradient(other, logSigma)
			theta[i] = old
			return v
		}
		// Values of some hundreds: rounding over h is 1e-7 of these.
		if want := (at(h) - at(-h)) / (2 * h); !(math.Abs(grad[i]-want) <= 1e-5*(1+math.Abs(want))) {
			t.Errorf("number %d: %v, difference %v", i, grad[i], want)
		}
	}
}

// Both rules sample the posterior of a rate that is known nearly in closed form:
// x' = −p x, one weight.
func TestChainsFindTheRate(t *testing.T) {
	d := &Data{K: 1, Trajectories: []Trajectory{{X0: []float64{1}}}}
	rng := rand.New(rand.NewPCG(5, 5))
	for i := range 50 {
		at := 2 * float64(i+1) / 50
		d.Trajectories[0].T = append(d.Trajectories[0].T, at)
		d.Trajectories[0].Y = append(d.Trajectories[0].Y, math.Exp(-at)+0.05*rng.NormFloat64())
	}
	net := mlp.New([]int{1, 1}, []mlp.Activation{mlp.Linear})
	net.Layers[0].W[0] = -1.2
	b := &Bayes{Net: net, Prior: []float64{0.5, 0}, Sigma: 0.1, Step: 0.1}
	for name, walk := range map[string]func() Walk{
		"SGLD": func() Walk { return SGLD(2e-3, 1, 0.3) }, "SGHMC": func() Walk { return SGHMC(1e-5, 0.05) },
	} {
		s, err := b.Sample(context.Background(), d, walk, Chains{4, 3000, 2000}, 1)
		if err != nil || s.Lost > 0 {
			t.Fatalf("%s: %v, %d chains lost", name, err, s.Lost)
		}
		m, v := 0.0, 0.0
		for _, p := range s.Theta {
			m += p[0] / float64(len(s.Theta))
			if p[1] != 0 {
				t.Fatalf("%s moves a weight without spread", name)
			}
		}
		for _, p := range s.Theta {
			v += (p[0] - m) * (p[0] - m) / float64(len(s.Theta))
		}
		// σ/√Σ(t e^−t)² is about 0.026; the noise is sampled too and a little above.
		if !(math.Abs(m+1) <= 0.1) || !(math.Sqrt(v) >= 0.015) || !(math.Sqrt(v) <= 0.08) {
			t.Errorf("%s: rate %v ± %v", name, m, math.Sqrt(v))
		}
		if !(s.RHat > 0.99 && s.RHat < 1.3) {
			t.Errorf("%s: R-hat %v", name, s.RHat)
		}
		x := make([]float64, 1)
		if !b.Solve(x, []float64{-1, 0}, []float64{1}, []float64{1}) || !(math.Abs(x[0]-math.Exp(-1)) <= 1e-5) {
			t.Errorf("solution %v", x)
		}
	}
	// Chains at far too high rates are counted as lost.
	s, err := b.Sample(context.Background(), d, func() Walk { return SGLD(10, 1, 0.3) }, Chains{2, 500, 100}, 1)
	if err != nil || s.Lost != 2 || len(s.Theta) != 0 || !math.IsNaN(s.RHat) {
		t.Errorf("%v: %+v", err, s)
	}
}

func TestPretrainedNetGivesRawDerivatives(t *testing.T) {
	var x, dx []float64
	for i := range 60 {
		a, b := 30+10*math.Sin(float64(i)), math.Cos(0.3*float64(i))
		x, dx = append(x, a, b), append(dx, 50*b, -0.1*a)
	}
	for _, c := range []struct {
		hidden []int
		act    mlp.Activation
		bias   bool
	}{{[]int{10}, mlp.Sigmoid, true}, {[]int{4}, mlp.Linear, false}} {
		net, loss := Pretrain(x, dx, 2, c.hidden, c.act, c.bias, 3000, 1e-5, 1)
		tape := mlp.NewTape(&net, 60, false)
		net.Forward(tape, 60, x, nil)
		sum := 0.0
		for i, y := range tape.Out() {
			scale := []float64{50, 4}[i%2]
			sum += (y - dx[i]) * (y - dx[i]) / (scale * scale) / 120
		}
		if !(sum <= 1e-2) || !(loss <= 0.1) {
			t.Errorf("hidden %v: loss %v, error %v", c.hidden, loss, sum)
		}
		if b := net.Layers[0].B[0]; !c.bias && b != 0 {
			t.Errorf("bias %v in a product of matrices", b)
		}
	}
}
