package paper

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

func TestPolynomialsTerms(t *testing.T) {
	const K = 3
	zero := make([]float64, K)
	chosen, dense := newPolynomial(zero, 1, 2), newPolynomial(zero, 0, 2)
	if n := K * (K + K*(K+1)/2); len(chosen.w) != n || len(dense.w) != n+K {
		t.Fatalf("%d and %d terms", len(chosen.w), len(dense.w))
	}
}

// The sensitivity of polynomials of all kinds, with and without a net, is the derivative of
// the integrator's steps, for few states and many.
func TestSensitivityOfPolynomials(t *testing.T) {
	const h = 1e-6
	rng := rand.New(rand.NewPCG(4, 4))
	for _, K := range []int{2, 3, fewStates + 2} {
		zero := make([]float64, K)
		for k := range zero {
			zero[k] = 0.3 * rng.NormFloat64()
		}
		pruned := newPolynomial(zero, 1, 2)
		pruned.whole = false
		terms := pruned.terms
		pruned.terms = nil
		for i, m := range terms {
			if i%3 != 1 {
				pruned.terms = append(pruned.terms, m)
			}
		}
		pruned.w = make([]float64, len(pruned.terms))
		for _, p := range []*polynomial{newPolynomial(zero, 1, 2), pruned, newPolynomial(zero, 0, 1), newPolynomial(zero, 0, 2)} {
			for _, hidden := range []int{0, 4} {
				f := &Flow{Inputs: &feature.Inputs{Lift: channel.Lift{Std: make([]float64, K)}}, Poly: p}
				if hidden > 0 {
					f.Net = mlp.New([]int{K, hidden, K}, []mlp.Activation{mlp.Tanh, mlp.Linear})
				}
				f.bind()
				for i := range f.Theta {
					f.Theta[i] = 0.3 * rng.NormFloat64()
				}
				z0 := make([]float64, K)
				for k := range z0 {
					z0[k] = 0.5 * rng.NormFloat64()
				}
				end := func(w *tangent) *tangent {
					w.start(z0)
					if !w.advance(0.1, 4) {
						t.Fatal("left all bounds")
					}
					return w
				}
				w, plain := end(f.tangent(true)), f.tangent(false)
				for n := range f.Theta {
					old := f.Theta[n]
					f.Theta[n] = old + h
					plus := append([]float64(nil), end(plain).z...)
					f.Theta[n] = old - h
					minus := end(plain).z
					for k := range K {
						// Rounding over h is 1e-10.
						if want := (plus[k] - minus[k]) / (2 * h); !(math.Abs(w.S[k*len(f.Theta)+n]-want) < 1e-8) {
							t.Fatalf("%d states, %d terms, net of %d: state %d by parameter %d: %v, difference %v", K, len(p.w), hidden, k, n, w.S[k*len(f.Theta)+n], want)
						}
					}
					f.Theta[n] = old
				}
			}
		}
	}
}

func TestPolynomialFitsWhatIsOne(t *testing.T) {
	const K, n = 2, 40
	rng := rand.New(rand.NewPCG(5, 5))
	z, y := make([]float64, n*K), make([]float64, n*K)
	for i := range n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		z[i*K], z[i*K+1] = a, b
		y[i*K], y[i*K+1] = 2*a-a*b, 0.5*b*b
	}
	p := newPolynomial(make([]float64, K), 1, 2)
	p.fit(y, z, n, K, 1e-6)
	for i, v := range y {
		if !(math.Abs(v) <= 1e-5) {
			t.Fatalf("number %d: %v is left", i, v)
		}
	}
	w := newTangent(&mlp.Net{}, p, K, len(p.w), false)
	copy(w.stageZ, []float64{3, 5})
	w.evaluate() // 2·3 − 15, 12.5
	if !(math.Abs(w.f[0]+9) <= 1e-3) || !(math.Abs(w.f[1]-12.5) <= 1e-3) {
		t.Errorf("at another point %v", w.f)
	}
}
