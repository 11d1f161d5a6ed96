package wire

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

// PlausibilityLimits are the limits that states of a vehicle are checked against.
type PlausibilityLimits struct {
	Layout string    // fingerprint of the model's channels
	Spelt  string    // (optional) another one that states may have, see LayoutAsSpelt
	Whole  string    // (optional) a third one: with the states that nothing measures
	MaxStd []float64 // K, state units: the largest standard deviation that P0 may have
	Absent []bool    // (optional) K, states that may be NaN, not measured, as all may in a message of a sensor with a name; some other one is measured
	Scale  []float64 // (optional) K, state units: usual distance of a prediction from its state

	// (optional) P, input units: mean and standard deviation of the inputs
	InputMean, InputStd []float64

	scaled []float64 // K×K, memory for the correlation
}

// asymmetry is how far P0 may be from symmetric and from positive semidefinite,
// as a correlation: filters in float32 leave a few parts in 1e5.
const asymmetry = 1e-4

// rounding is the distance between neighbouring floats, as a share of the scale of
// a channel, beyond which a state is too large to be predicted from.
const rounding = 1e-3

// absurd is how many times its usual size an input cannot have: a history that holds it would
// leave no digit of a prediction for as long as it is read.
const absurd = 1e9

// Coarse reports whether x is so large that the spacing of floats there exceeds a small share of scale, the
// usual distance of a prediction from its state.
func Coarse(x, scale float64) bool {
	x = math.Abs(x)
	return math.Nextafter(x, math.Inf(1))-x > rounding*scale
}

// ImplausibleInput reports whether an input with a mean and a standard deviation is too large for a prediction
// or a history.
func ImplausibleInput(u, mean, std float64) bool {
	return math.Abs(u) > absurd*(math.Abs(mean)+std) || Coarse(u, std)
}

// Check returns an *Error for the first implausible value in a decoded state, or nil. It does not check times
// and order.
func (b *PlausibilityLimits) Check(s *State) error {
	if s.Layout != "" && s.Layout != b.Layout && s.Layout != b.Spelt && s.Layout != b.Whole {
		return fail(WrongLayout, "layout", "%q, and the model's channels have %q", s.Layout, b.Layout)
	}
	if err := b.finite(s); err != nil {
		return err
	}
	if dt := s.PlanDt; !(dt >= 0) || math.IsInf(dt, 1) {
		return fail(Malformed, "plan_dt", "%v, expected seconds above 0", dt)
	}
	for k, x := range s.X {
		if k < len(b.Scale) && !math.IsNaN(x) && Coarse(x, b.Scale[k]) {
			return fail(Magnitude, "x", "element %d is %g: numbers of that size are too far apart for predictions that move by %g", k, x, b.Scale[k])
		}
	}
	for _, v := range [...]struct {
		field string
		u     []float64
	}{{"u", s.U}, {"plan", s.Plan}} {
		for i, u := range v.u {
			if P := len(b.InputStd); P > 0 && ImplausibleInput(u, b.InputMean[i%P], b.InputStd[i%P]) {
				return fail(Magnitude, v.field, "element %d is %g, and the input is usually about %g ± %g", i, u, b.InputMean[i%P], b.InputStd[i%P])
			}
		}
	}
	if len(s.P0) == 0 {
		return nil
	}
	return b.covariance(s.P0, len(s.X))
}

// finite checks that every number is, but for states that may be absent.
func (b *PlausibilityLimits) finite(s *State) error {
	measured := len(s.X)
	for _, v := range [...]struct {
		field  string
		x      []float64
		absent []bool
	}{{"x", s.X, b.Absent}, {"P0", s.P0, nil}, {"u", s.U, nil}, {"plan", s.Plan, nil}} {
		for i, x := range v.x {
			if math.IsNaN(x) && i < len(v.absent) && (v.absent[i] || s.Sensor != "") {
				measured--
			} else if math.IsNaN(x) || math.IsInf(x, 0) {
				return fail(NotANumber, v.field, "element %d is %v", i, x)
			}
		}
	}
	if measured == 0 {
		return fail(NotANumber, "x", "all elements are NaN: nothing was measured")
	}
	return nil
}

// covariance checks that P0 is a covariance: its diagonal not negative and within
// the limits, its correlation symmetric and positive semidefinite.
func (b *PlausibilityLimits) covariance(P0 []float64, K int) error {
	for k := range K {
		v := P0[k*K+k]
		if v < 0 {
			return fail(Covariance, "P0", "variance of state %d is %g, which is negative", k, v)
		}
		if std := math.Sqrt(v); k < len(b.MaxStd) && std > b.MaxStd[k] {
			return fail(Covariance, "P0", "standard deviation of state %d is %g, more than the plausible %g", k, std, b.MaxStd[k])
		}
	}
	b.scaled = msgbin.Resize(b.scaled, K*K)
	for i := range K {
		for j := range i {
			lower, upper := P0[i*K+j], P0[j*K+i]
			scale := math.Sqrt(P0[i*K+i]) * math.Sqrt(P0[j*K+j])
			if math.Abs(lower-upper) > asymmetry*scale {
				return fail(Covariance, "P0", "elements (%d,%d) and (%d,%d) are %g and %g: it is not symmetric", i, j, j, i, lower, upper)
			}
			b.scaled[i*K+j] = 0
			if scale > 0 {
				b.scaled[i*K+j] = (lower/scale + upper/scale) / 2
			} else if lower != 0 || upper != 0 {
				return fail(Covariance, "P0", "states %d and %d are correlated, and one of them has no variance", i, j)
			}
		}
		b.scaled[i*K+i] = 1 + asymmetry
	}
	if k := indefinite(b.scaled, K); k >= 0 {
		return fail(Covariance, "P0", "is not positive semidefinite: the correlations of state %d are too large", k)
	}
	return nil
}

// indefinite factors the lower triangle of the n×n row-major A in place (Cholesky)
// and returns the first row whose pivot is not positive, or -1.
func indefinite(A []float64, n int) int {
	for i := range n {
		for j := range i + 1 {
			s := A[i*n+j]
			for l := range j {
				s -= A[i*n+l] * A[j*n+l]
			}
			if j < i {
				A[i*n+j] = s / A[j*n+j]
			} else if !(s > 0) {
				return i
			} else {
				A[i*n+i] = math.Sqrt(s)
			}
		}
	}
	return -1
}
