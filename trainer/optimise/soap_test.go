package optimise

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
)

// descend minimises ½ ‖A (X − X̂) B‖² from X = 0 and returns the path of X.
func descend(step func(x, g []float64, rate float64), A, B, want blas64.General, rate Cosine) [][]float64 {
	n, m := want.Rows, want.Cols
	var w matmul.Work
	x, grad, left := make([]float64, n*m), make([]float64, n*m), make([]float64, n*m)
	d, e := make([]float64, n*m), make([]float64, n*m)
	var path [][]float64
	for i := range rate.Steps {
		for j := range d {
			d[j] = x[j] - want.Data[j]
		}
		w.Mul(matmul.Matrix(n, m, left), 1, false, A, false, matmul.Matrix(n, m, d), 0)
		w.Mul(matmul.Matrix(n, m, e), 1, false, matmul.Matrix(n, m, left), false, B, 0)
		w.Mul(matmul.Matrix(n, m, left), 1, true, A, false, matmul.Matrix(n, m, e), 0)
		w.Mul(matmul.Matrix(n, m, grad), 1, false, matmul.Matrix(n, m, left), true, B, 0)
		step(x, grad, rate.At(i))
		path = append(path, append([]float64(nil), x...))
	}
	return path
}

func rotation(rng *rand.Rand, n int) blas64.General {
	q := normal(rng, n, n)
	tau, work := make([]float64, n), make([]float64, 32*n)
	lapack64.Geqrf(q, tau, work, len(work))
	lapack64.Orgqr(q, tau, work, len(work))
	return q
}

func normal(rng *rand.Rand, r, c int) blas64.General {
	q := matmul.Matrix(r, c, make([]float64, r*c))
	for i := range q.Data {
		q.Data[i] = rng.NormFloat64()
	}
	return q
}

func times(a, b blas64.General, transA, transB bool) blas64.General {
	var w matmul.Work
	r, c := a.Rows, b.Cols
	if transA {
		r = a.Cols
	}
	if transB {
		c = b.Rows
	}
	out := matmul.Matrix(r, c, make([]float64, r*c))
	w.Mul(out, 1, transA, a, transB, b, 0)
	return out
}

// A rotated problem has the rotated path, which Adam does not have.
func TestSOAPIsRotationEquivariant(t *testing.T) {
	const n = 5
	rng := rand.New(rand.NewPCG(1, 1))
	A, B, want := normal(rng, n, n), normal(rng, n, n), normal(rng, n, n)
	U, V := rotation(rng, n), rotation(rng, n)
	rate := Cosine{From: 0.05, To: 0.001, Steps: 40}
	far := func(first, second func(x, g []float64, rate float64)) float64 {
		path := descend(first, A, B, want, rate)
		turned := descend(second, times(A, U, false, true), times(V, B, true, false), times(times(U, want, false, false), V, false, false), rate)
		most := 0.0
		for i, x := range path {
			for j, v := range times(times(U, matmul.Matrix(n, n, x), false, false), V, false, false).Data {
				most = math.Max(most, math.Abs(v-turned[i][j]))
			}
		}
		return most
	}
	first, second := NewSOAP([][2]int{{n, n}}), NewSOAP([][2]int{{n, n}})
	first.Epsilon, second.Epsilon = 1e-3, 1e-3 // the second gradient is the first, and off the diagonal zero but for rounding
	if d := far(first.Step, second.Step); !(d < 1e-5) {
		t.Errorf("SOAP's paths part by %v", d)
	}
	if d := far(NewAdam(n*n).Step, NewAdam(n*n).Step); !(d > 1e-2) {
		t.Errorf("Adam's paths part by %v: the test sees no axes", d)
	}
}

// Several matrices of any shape: each is moved by its own gradient alone.
func TestSOAPMovesEachMatrixAlone(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	shapes := [][2]int{{3, 1}, {1, 4}, {7, 2}}
	at := 0
	both, x := NewSOAP(shapes), make([]float64, 3+4+14)
	alone, y := make([]*SOAP, len(shapes)), make([]float64, len(x))
	for i, s := range shapes {
		alone[i] = NewSOAP([][2]int{s})
	}
	for range 25 {
		g := normal(rng, 1, len(x)).Data
		both.Step(x, g, 0.1)
		at = 0
		for i, s := range shapes {
			n := s[0] * s[1]
			alone[i].Step(y[at:at+n], g[at:at+n], 0.1)
			at += n
		}
	}
	for i, v := range x {
		if v != y[i] || math.IsNaN(v) || v == 0 {
			t.Fatalf("parameter %d: %v, alone %v", i, v, y[i])
		}
	}
}

// Gradients that are noise, large along some mixtures of the parameters and small along
// others: no step is long, from the first on.
func TestSOAPStepsAreBounded(t *testing.T) {
	const r, c = 12, 9
	rng := rand.New(rand.NewPCG(7, 7))
	U, V := rotation(rng, r), rotation(rng, c)
	s := NewSOAP([][2]int{{r, c}})
	x, old := make([]float64, r*c), make([]float64, r*c)
	for step := range 60 {
		z := normal(rng, r, c)
		for i := range r {
			for j := range c {
				z.Data[i*c+j] *= math.Pow(10, -float64(i+j)/4)
			}
		}
		copy(old, x)
		s.Step(x, times(times(U, z, false, false), V, false, true).Data, 1)
		d := 0.0
		for i, v := range x {
			d += (v - old[i]) * (v - old[i]) / (r * c)
		}
		// Noise leaves √((1−β1)/(1+β1)) = 0.16 of a step, more at first.
		if d := math.Sqrt(d); step > 0 && !(d < 1.2) || step > 15 && !(d < 0.4) {
			t.Errorf("step %d is %v times the rate", step, d)
		}
	}
}

// What turns round at every step moves nothing: a step is along the mean of the gradients.
func TestSOAPHasMomentum(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	g, s, x := normal(rng, 4, 3).Data, NewSOAP([][2]int{{4, 3}}), make([]float64, 12)
	for range 200 {
		s.Step(x, g, 0.01)
		for i := range g {
			g[i] = -g[i]
		}
	}
	for i, v := range x {
		if math.Abs(v) > 0.05 { // 200 steps of 0.01 in one direction are 2
			t.Errorf("parameter %d has moved by %v", i, v)
		}
	}
}
