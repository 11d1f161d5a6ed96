package optimise

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
	"github.com/dgm-robotics/dgm/trainer/cores"
)

// SOAP is the optimiser of Vyas et al. (2024), "SOAP: Improving and Stabilizing Shampoo
// using Adam": parameters are matrices, and Adam is run in the coordinates in which the
// mean squares of their gradients G,
//
//	L = E[G Gᵀ] = QL Λ QLᵀ      R = E[Gᵀ G] = QR Λ′ QRᵀ
//
// are diagonal. Where a net fits a smooth function to many digits, it leaves a
// fraction of the error that Adam leaves in as many steps.
type SOAP struct {
	Beta1, Beta2, Epsilon float64
	Every                 int // steps between two updates of the coordinates

	all []*preconditioned
	t   int
}

// preconditioned is one matrix of parameters (r×c), which begins at at.
type preconditioned struct {
	at, r, c int
	l, rr    []float64 // r×r and c×c, mean squares of gradients
	ql, qr   []float64 // their eigenvectors, in columns
	m, v     []float64 // r×c; the mean in the parameters' coordinates, the mean square in the rotated ones
	a, b, w  []float64 // r×c each
	q        []float64 // of the larger side, squared
	mul      matmul.Work
}

// NewSOAP returns an optimiser for matrices of so many rows and columns, which follow each
// other, row-major: β1 and β2 0.95, ε 1e-8, an update of the coordinates every 10 steps.
func NewSOAP(shapes [][2]int) *SOAP {
	s := &SOAP{Beta1: 0.95, Beta2: 0.95, Epsilon: 1e-8, Every: 10}
	at := 0
	for _, shape := range shapes {
		r, c := shape[0], shape[1]
		n, side := r*c, max(r, c)
		s.all = append(s.all, &preconditioned{at: at, r: r, c: c,
			l: make([]float64, r*r), rr: make([]float64, c*c), ql: make([]float64, r*r), qr: make([]float64, c*c),
			m: make([]float64, n), v: make([]float64, n), a: make([]float64, n), b: make([]float64, n), w: make([]float64, n),
			q: make([]float64, side*side)})
		at += n
	}
	return s
}

// Step moves the parameters against the gradient at learning rate rate. The first step
// moves nothing: it finds the coordinates.
func (s *SOAP) Step(params, grad []float64, rate float64) {
	s.t++
	cores.Each(len(s.all), func(i int) {
		t := s.all[i]
		t.step(s, params[t.at:t.at+t.r*t.c], grad[t.at:t.at+t.r*t.c], rate)
	})
}

func (t *preconditioned) step(s *SOAP, params, grad []float64, rate float64) {
	G := matmul.Matrix(t.r, t.c, grad)
	t.mul.Mul(matmul.Matrix(t.r, t.r, t.l), 1-s.Beta2, false, G, true, G, s.Beta2)
	t.mul.Mul(matmul.Matrix(t.c, t.c, t.rr), 1-s.Beta2, true, G, false, G, s.Beta2)
	if s.t == 1 {
		eigenvectors(t.ql, t.l, t.r)
		eigenvectors(t.qr, t.rr, t.c)
		return
	}
	for i, g := range grad {
		t.m[i] = s.Beta1*t.m[i] + (1-s.Beta1)*g
	}
	t.rotate(t.a, t.m)
	t.rotate(t.b, grad)
	c1 := 1 - math.Pow(s.Beta1, float64(s.t-1))
	c2 := 1 - math.Pow(s.Beta2, float64(s.t-1))
	for i, g := range t.b {
		t.v[i] = s.Beta2*t.v[i] + (1-s.Beta2)*g*g
		t.a[i] = t.a[i] / c1 / (math.Sqrt(t.v[i]/c2) + s.Epsilon)
	}
	t.rotateBack(t.b, t.a)
	for i, d := range t.b {
		params[i] -= rate * d
	}
	if s.t%s.Every == 0 {
		t.iterate(t.ql, t.l, t.r)
		t.iterate(t.qr, t.rr, t.c)
	}
}

// rotate sets y = QLᵀ x QR.
func (t *preconditioned) rotate(y, x []float64) {
	t.mul.Mul(matmul.Matrix(t.r, t.c, t.w), 1, true, matmul.Matrix(t.r, t.r, t.ql), false, matmul.Matrix(t.r, t.c, x), 0)
	t.mul.Mul(matmul.Matrix(t.r, t.c, y), 1, false, matmul.Matrix(t.r, t.c, t.w), false, matmul.Matrix(t.c, t.c, t.qr), 0)
}

// rotateBack sets y = QL x QRᵀ.
func (t *preconditioned) rotateBack(y, x []float64) {
	t.mul.Mul(matmul.Matrix(t.r, t.c, t.w), 1, false, matmul.Matrix(t.r, t.r, t.ql), false, matmul.Matrix(t.r, t.c, x), 0)
	t.mul.Mul(matmul.Matrix(t.r, t.c, y), 1, false, matmul.Matrix(t.r, t.c, t.w), true, matmul.Matrix(t.c, t.c, t.qr), 0)
}

// iterate takes one step of orthogonal iteration towards the eigenvectors of a (n×n).
func (t *preconditioned) iterate(q, a []float64, n int) {
	next := matmul.Matrix(n, n, t.q[:n*n])
	t.mul.Mul(next, 1, false, matmul.Matrix(n, n, a), false, matmul.Matrix(n, n, q), 0)
	tau, work := make([]float64, n), make([]float64, 32*n)
	lapack64.Geqrf(next, tau, work, len(work))
	lapack64.Orgqr(next, tau, work, len(work))
	copy(q, next.Data)
}

// eigenvectors sets q to those of the symmetric a (n×n), that of the largest eigenvalue
// first: where orthogonal iteration leaves them.
func eigenvectors(q, a []float64, n int) {
	copy(q, a)
	size := make([]float64, 1)
	lapack64.Syev(lapack.EVCompute, blas64.Symmetric{N: n, Stride: n, Data: q, Uplo: blas.Lower}, make([]float64, n), size, -1)
	work := make([]float64, int(size[0]))
	lapack64.Syev(lapack.EVCompute, blas64.Symmetric{N: n, Stride: n, Data: q, Uplo: blas.Lower}, make([]float64, n), work, len(work))
	for i := range n {
		slices.Reverse(q[i*n : (i+1)*n])
	}
}
