package paper

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestPolynomialsDerivatives(t *testing.T) {
	const K = 3
	zero := []float64{0.4, -0.2, 0.1}
	chosen, dense := newPolynomial(zero), newWhole(zero, 2)
	if n := K * (K + K*(K+1)/2); len(chosen.w) != n || len(dense.w) != n+K {
		t.Fatalf("%d and %d terms", len(chosen.w), len(dense.w))
	}
	derivatives(t, chosen)
	derivatives(t, dense)
}

// derivatives compares those of a polynomial of three states with differences.
func derivatives(t *testing.T, p *polynomial) {
	t.Helper()
	const K, h = 3, 1e-6
	rng := rand.New(rand.NewPCG(4, 4))
	for i := range p.w {
		p.w[i] = rng.NormFloat64()
	}
	z := []float64{0.3, -1.2, 0.7}
	P := 5 + len(p.w)
	w := &tangent{K: K, P: P, zs: z, f: make([]float64, K), b: make([]float64, K)}
	at := func() []float64 {
		clear(w.f)
		p.add(w)
		return append([]float64(nil), w.f...)
	}
	fz, F := make([]float64, K*K), make([]float64, K*P)
	w.fz, w.F, w.sensitivity = fz, F, true
	at()
	w.sensitivity = false
	// Of a polynomial of degree two central differences leave rounding only.
	check := func(what string, x *float64, got func(k int) float64) {
		old := *x
		*x = old + h
		plus := at()
		*x = old - h
		minus := at()
		*x = old
		for k := range K {
			if want := (plus[k] - minus[k]) / (2 * h); math.Abs(got(k)-want) > 1e-8 {
				t.Errorf("output %d by %s: %v, difference %v", k, what, got(k), want)
			}
		}
	}
	for j := range K {
		check("a state", &z[j], func(k int) float64 { return fz[k*K+j] })
	}
	for n := range p.w {
		check("a weight", &p.w[n], func(k int) float64 { return F[k*P+5+n] })
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
	p := newPolynomial(make([]float64, K))
	p.fit(y, z, n, K, 1e-6)
	for i, v := range y {
		if math.Abs(v) > 1e-5 {
			t.Fatalf("number %d: %v is left", i, v)
		}
	}
	p.add(&tangent{K: K, zs: []float64{3, 5}, f: y[:K], b: make([]float64, K)}) // 2·3 − 15, 12.5
	if math.Abs(y[0]+9) > 1e-3 || math.Abs(y[1]-12.5) > 1e-3 {
		t.Errorf("at another point %v", y[:K])
	}
}
