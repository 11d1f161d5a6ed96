package paper

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
)

// weightCovariance finds the covariance C of a channel's weights such that N(0, φᵀCφ) is
// likely for errors of which the mean squares at n rows of features Φ (n×F) are
// known: the teacher's variances plus the squared errors of the smoother.
//
// It begins with C = c cᵀ, c by least squares such that φ·c is the errors' root mean
// square, relative to it, plus a multiple of the unit matrix. Expectation maximisation
// follows: with weights of their own for every row, drawn from N(0, C),
//
//	s = φᵀCφ      C ← C + C [1/n Σ φφᵀ (e² − s)/s²] C
type weightCovariance struct {
	n, F   int
	phi    []float64 // n×F
	square []float64 // n, mean square errors
	C      []float64 // F×F
	s      []float64 // n
	pc, q  []float64 // n×F
	step   []float64 // F×F
	work   matmul.Work
}

// newWeightCovariance returns the first C. It keeps phi and square.
func newWeightCovariance(phi, square []float64) *weightCovariance {
	const ridge, free = 1e-7, 0.03 // shares: of the features' mean square; of the errors' harmonic mean
	n := len(square)
	F := len(phi) / n
	v := func(n int) []float64 { return make([]float64, n) }
	e := &weightCovariance{n: n, F: F, phi: phi, square: square, C: v(F * F), s: v(n), pc: v(n * F), q: v(n * F), step: v(F * F)}
	ones, size, inverse := e.s, 0.0, 0.0
	for i, v := range square {
		ones[i] = 1
		inverse += 1 / v / float64(n)
		g := 1 / math.Sqrt(v)
		for j, p := range phi[i*F : (i+1)*F] {
			e.q[i*F+j] = g * p
			size += g * g * p * p / float64(F)
		}
	}
	c := leastSquares(e.q, ones, n, F, 1, ridge*size)
	for i := range F {
		for j := range F {
			if c != nil {
				e.C[i*F+j] = c[i] * c[j]
			}
		}
		e.C[i*F+i] += free / inverse
	}
	return e
}

// improve takes so many steps.
func (e *weightCovariance) improve(steps int) {
	n, F := e.n, e.F
	for range steps {
		e.values()
		for i, s := range e.s {
			g := (e.square[i] - s) / (s * s) / float64(n)
			for j, v := range e.pc[i*F : (i+1)*F] {
				e.q[i*F+j] = g * v
			}
		}
		e.work.MulLower(matmul.Matrix(F, F, e.step), 1, true, matmul.Matrix(n, F, e.q), false, matmul.Matrix(n, F, e.pc), 0)
		for i := range F {
			for j := range i + 1 {
				v := e.C[i*F+j] + e.step[i*F+j]
				e.C[i*F+j], e.C[j*F+i] = v, v
			}
		}
	}
}

// values sets pc = ΦC and s, the variances of the rows.
func (e *weightCovariance) values() {
	n, F := e.n, e.F
	e.work.Mul(matmul.Matrix(n, F, e.pc), 1, false, matmul.Matrix(n, F, e.phi), false, matmul.Matrix(F, F, e.C), 0)
	for i := range n {
		e.s[i] = dot(e.phi[i*F:(i+1)*F], e.pc[i*F:])
	}
}

// factor returns the lower triangular M (F×F) with MᵀM = C; nil where C cannot be
// factorised. With the order of the features reversed, R Rᵀ = C for lower R is M = reversed
// Rᵀ.
func (e *weightCovariance) factor() []float64 {
	F := e.F
	size := 0.0
	for i := range F {
		size += e.C[i*F+i] / float64(F)
	}
	for jitter := 0.0; jitter < 1e-6; jitter = 10*jitter + 1e-14 {
		rev := slices.Clone(e.C)
		slices.Reverse(rev)
		for i := range F {
			rev[i*F+i] += jitter * size
		}
		if _, ok := lapack64.Potrf(blas64.Symmetric{N: F, Stride: F, Data: rev, Uplo: blas.Lower}); !ok {
			continue
		}
		m := make([]float64, F*F)
		for i := range F {
			for j := range i + 1 {
				m[i*F+j] = rev[(F-1-j)*F+F-1-i]
			}
		}
		return m
	}
	return nil
}
