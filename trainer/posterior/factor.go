package posterior

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
)

// factor is the Cholesky factor of a symmetric matrix.
type factor struct {
	n    int
	L    []float64 // n×n, lower: the matrix, then its factor
	linv []float64 // n×n, L⁻¹, zero above the diagonal
}

// decompose replaces the matrix in L by its factor and sets linv. ok is false where it
// is not positive definite.
func (f *factor) decompose(mul *matmul.Work) (ok bool) {
	return mul.Cholesky(matmul.Matrix(f.n, f.n, f.L), f.inverse())
}

// inverse returns L⁻¹, a view.
func (f *factor) inverse() blas64.General { return matmul.Matrix(f.n, f.n, f.linv[:f.n*f.n]) }

// solve replaces x (n) by (LLᵀ)⁻¹x.
func (f *factor) solve(x []float64) {
	lower := blas64.Triangular{N: f.n, Stride: f.n, Data: f.L[:f.n*f.n], Uplo: blas.Lower, Diag: blas.NonUnit}
	blas64.Trsv(blas.NoTrans, lower, vector(x))
	blas64.Trsv(blas.Trans, lower, vector(x))
}

// addLogDet returns sum plus the logarithm of the determinant of LLᵀ.
func (f *factor) addLogDet(sum float64) float64 {
	for j := range f.n {
		sum += 2 * math.Log(f.L[j*f.n+j])
	}
	return sum
}

// packed appends L⁻¹, its lower triangle packed by rows, to dst.
func (f *factor) packed(dst []float64) []float64 {
	for j := range f.n {
		dst = append(dst, f.linv[j*f.n:j*f.n+j+1]...)
	}
	return dst
}

// mirror copies the lower triangle of a (n×n) to the upper.
func mirror(a []float64, n int) {
	for i := range n {
		for j := range i {
			a[j*n+i] = a[i*n+j]
		}
	}
}

func vector(d []float64) blas64.Vector { return blas64.Vector{N: len(d), Inc: 1, Data: d} }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Kernel is the posterior of one channel: random features or the exact kernel.
// The calls of one step come in the order Condition, At, Adjoint.
type Kernel interface {
	// Condition fits the posterior of channel k to the residuals r with
	// precisions prec (both N; prec 0 = not measured) at the rows that obs was
	// evaluated on. ok is false if the factorisation fails.
	Condition(m *feature.Map, obs *feature.Eval, k int, r, prec []float64) (fit Fit, ok bool)
	// At writes the posterior's contribution to mean, derivative mean and
	// derivative variance at the rows of sup (Ns each). ok is false where a
	// variance is not positive.
	At(sup *feature.Eval, mean, dmean, dvar []float64) (ok bool)
	// Adjoint takes ∂L/∂mean, ∂L/∂dmean, ∂L/∂dvar at the support points (a, b, g;
	// all nil when there is no matching), adds L_data's own gradient, and
	// accumulates into the adjoints of the map's outputs. It writes ∂L/∂r to rbar
	// and ∂L/∂log σ_i, without the constant c, to sbar (N), and adds the gradient
	// of the two log amplitudes to ampbar (2).
	Adjoint(a, b, g []float64, obs, sup *Bar, rbar, sbar, ampbar []float64)
}

// Fit is the value of a conditioning: L_data = ½(Quad + LogDet + c Σ log σ²).
type Fit struct {
	Quad   float64 // Σ s e² + ‖w‖²
	LogDet float64 // logdet A
}

// Bar holds adjoints of a map's head output and of its tangent, rows×Out. A
// kernel touches only the columns of its channel's features.
type Bar struct {
	Out, DOut []float64
}

// NewBar takes the memory for rows rows.
func NewBar(m *feature.Map, rows int) *Bar {
	n := rows * m.Head.Out()
	return &Bar{Out: make([]float64, n), DOut: make([]float64, n)}
}
