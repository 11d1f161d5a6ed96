package paper

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/dgm-robotics/dgm/estimator/mlp"
)

// tangent integrates dz/dt = f(z; θ) for one start, f a dense net, a known field or
// their sum, together with its sensitivity S = ∂z/∂θ (K×P), by the classical method of order 4:
//
//	dS/dt = ∂f/∂z S + ∂f/∂θ
//
// States and time are standardised.
type tangent struct {
	net          *mlp.Net
	known        *knownPart  // (optional)
	poly         *polynomial // (optional)
	K, P         int
	z            []float64 // K
	S            []float64 // K×P
	zs, f, zsum  []float64 // K: state of a stage, its slope, weighted sum of slopes
	Ss, F, Ssum  []float64 // K×P, the same of S
	fz           []float64 // K×K, ∂f/∂z
	y            [][]float64
	g, gback     []float64 // K×widest
	b            []float64 // K, states as the polynomial counts them
	sensitivity  bool
	maxMagnitude float64
}

func newTangent(net *mlp.Net, sensitivity bool) *tangent {
	return newTangentOf(net, net.In(), net.Params(), sensitivity)
}

// newTangentOf takes the memory for K states and P parameters, of which the net's are
// the last but for those of a polynomial; without layers it is not there.
func newTangentOf(net *mlp.Net, K, P int, sensitivity bool) *tangent {
	t := &tangent{net: net, K: K, P: P, sensitivity: sensitivity, maxMagnitude: 1e4}
	v := func(n int) []float64 { return make([]float64, n) }
	t.z, t.zs, t.f, t.zsum, t.b = v(K), v(K), v(K), v(K), v(K)
	widest := K
	for i := range net.Layers {
		t.y = append(t.y, v(net.Layers[i].Out))
		widest = max(widest, net.Layers[i].Out, net.Layers[i].In)
	}
	if sensitivity {
		t.S, t.Ss, t.F, t.Ssum, t.fz = v(K*P), v(K*P), v(K*P), v(K*P), v(K*K)
		t.g, t.gback = v(K*widest), v(K*widest)
	}
	return t
}

// start sets the state, which does not depend on θ.
func (t *tangent) start(z0 []float64) {
	copy(t.z, z0)
	clear(t.S)
}

// slope sets f at zs and, with sensitivity, F = ∂f/∂z Ss + ∂f/∂θ.
func (t *tangent) slope() {
	if len(t.net.Layers) > 0 {
		t.netSlope()
	} else {
		clear(t.f)
		clear(t.fz)
	}
	if t.known != nil {
		t.known.add(t)
	}
	if t.poly != nil {
		t.poly.add(t)
	}
	if !t.sensitivity {
		return
	}
	K, P := t.K, t.P
	for k := range K {
		row := blas64.Vector{N: P, Inc: 1, Data: t.F[k*P : (k+1)*P]}
		for j := range K {
			if d := t.fz[k*K+j]; d != 0 {
				blas64.Axpy(d, blas64.Vector{N: P, Inc: 1, Data: t.Ss[j*P : (j+1)*P]}, row)
			}
		}
	}
}

// netSlope sets f to the net and, with sensitivity, fz and the net's columns of F.
func (t *tangent) netSlope() {
	x := t.zs
	for i := range t.net.Layers {
		l := &t.net.Layers[i]
		y := t.y[i]
		evaluate(y, l, x)
		x = y
	}
	copy(t.f, x)
	if !t.sensitivity {
		return
	}
	K, P := t.K, t.P
	// g (K×Out): ∂f/∂(layer's input to its activation), from the last layer down.
	g := t.g[:K*K]
	clear(g)
	for k := range K {
		g[k*K+k] = 1
	}
	end := P - t.poly.params()
	for i := len(t.net.Layers) - 1; i >= 0; i-- {
		l := &t.net.Layers[i]
		in := t.zs
		if i > 0 {
			in = t.y[i-1]
		}
		begin := end - len(l.W) - len(l.B)
		for k := range K {
			gk := g[k*l.Out : (k+1)*l.Out]
			row := t.F[k*P+begin : k*P+end]
			for a, v := range in {
				dst := row[a*l.Out : (a+1)*l.Out]
				for o, w := range gk {
					dst[o] = v * w
				}
			}
			copy(row[len(l.W):], gk)
		}
		end = begin
		below := t.gback[:K*l.In]
		if i == 0 {
			below = t.fz
		}
		for k := range K {
			gk := g[k*l.Out : (k+1)*l.Out]
			for a := range l.In {
				s := 0.0
				for o, w := range l.W[a*l.Out : (a+1)*l.Out] {
					s += w * gk[o]
				}
				if i > 0 {
					s *= derivative(t.net.Layers[i-1].Act, t.y[i-1][a])
				}
				below[k*l.In+a] = s
			}
		}
		t.g, t.gback = t.gback, t.g
		g = below
	}
}

// derivative returns act' where act is y.
func derivative(a mlp.Activation, y float64) float64 {
	switch a {
	case mlp.Sigmoid:
		return y * (1 - y)
	case mlp.Tanh:
		return 1 - y*y
	}
	return 1
}

// advance takes n steps of length h. ok is false where the state leaves all bounds.
func (t *tangent) advance(h float64, n int) (ok bool) {
	for range n {
		copy(t.zs, t.z)
		copy(t.Ss, t.S)
		for q, c := range [4]float64{h / 2, h / 2, h, 0} {
			t.slope()
			w := h / 6
			if q == 1 || q == 2 {
				w = h / 3
			}
			stage(t.zsum, t.zs, t.z, t.f, w, c, q)
			if t.sensitivity {
				stage(t.Ssum, t.Ss, t.S, t.F, w, c, q)
			}
		}
		for k := range t.z {
			t.z[k] += t.zsum[k]
			if !(math.Abs(t.z[k]) < t.maxMagnitude) {
				return false
			}
		}
		for i, v := range t.Ssum {
			t.S[i] += v
		}
	}
	return true
}

// stage adds w·f to the sum of slopes and sets the next stage's argument x + c f.
func stage(sum, next, x, f []float64, w, c float64, q int) {
	if q == 0 {
		for i, v := range f {
			sum[i] = w * v
			next[i] = x[i] + c*v
		}
		return
	}
	for i, v := range f {
		sum[i] += w * v
		next[i] = x[i] + c*v
	}
}
