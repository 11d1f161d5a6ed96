package ode

// RK4 integrates with the classical method of order 4 and steps of one size.
type RK4 struct {
	k              int
	k1, k2, k3, k4 []float64 // K each: stages
	tmp            []float64 // K
}

// NewRK4 returns a solver for k states.
func NewRK4(k int) *RK4 {
	if k <= 0 {
		panic(badSize)
	}
	m := make([]float64, 5*k)
	return &RK4{k: k, k1: m[:k:k], k2: m[k : 2*k : 2*k], k3: m[2*k : 3*k : 3*k], k4: m[3*k : 4*k : 4*k], tmp: m[4*k:]}
}

// Advance carries x (K, in place) from t0 to t1 in n equal steps. It returns
// false where the result is not finite.
func (r *RK4) Advance(f Func, x []float64, t0, t1 float64, n int) (ok bool) {
	if len(x) != r.k {
		panic(badSize)
	}
	if n <= 0 {
		panic(badStep)
	}
	h := (t1 - t0) / float64(n)
	for i := range n {
		t := t0 + float64(i)*h
		f(r.k1, t, x)
		r.shift(x, r.k1, h/2)
		f(r.k2, t+h/2, r.tmp)
		r.shift(x, r.k2, h/2)
		f(r.k3, t+h/2, r.tmp)
		r.shift(x, r.k3, h)
		f(r.k4, t+h, r.tmp)
		for k := range x {
			x[k] += h / 6 * (r.k1[k] + 2*(r.k2[k]+r.k3[k]) + r.k4[k])
		}
	}
	return finite(x)
}

func (r *RK4) shift(x, slope []float64, h float64) {
	for k := range x {
		r.tmp[k] = x[k] + h*slope[k]
	}
}
