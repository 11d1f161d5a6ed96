package posterior

import "github.com/dgm-robotics/dgm/estimator/feature"

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
