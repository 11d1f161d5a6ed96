package paper

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

// Flow is a vector field, the mean of a fit's dynamics refined by shooting, with
// the Laplace approximation of its posterior.
type Flow struct {
	Inputs   *feature.Inputs
	Known    *Known        // (optional) a field, in place of Net and Poly; its parameters come first in Theta
	Net      mlp.Net       // K → K; may have no layers beside a known field or a polynomial
	Poly     *polynomial   // (optional) added to Net; its weights come last in Theta
	part     form          // what Poly was at first
	Theta    []float64     // P, of which Net and Poly are views
	Alpha    []float64     // precision of the prior, a group of parameters
	Sigma    []float64     // K, noise, standardised
	Free     float64       // effective number of parameters
	Cost     float64       // ½ Σ e²/σ² + ½ Σ α θ²
	Evidence float64       // −log evidence, up to a constant
	Inv      []float64     // P×P, inverse factor L⁻¹ of the posterior's precision
	factor   matmul.Packed // L⁻ᵀ
}

// form names the parts of a flow beside a known field.
type form int

const (
	netAlone      form = iota
	rawAndNet          // a net and a polynomial of states counted from zero in their unit
	centredAndNet      // a net and one of states counted from their mean
	sparse             // no net, and one of states counted from zero
	linear             // no net, and a dense polynomial of degree one
	quadratic          // of degree two
)

// Dim returns K, the number of states.
func (f *Flow) Dim() int { return len(f.Inputs.Lift.Std) }

// known returns how many parameters of a known field come first in Theta.
func (f *Flow) known() int {
	if f.Known == nil {
		return 0
	}
	return len(f.Known.free())
}

// bind moves the parameters of net and polynomial into Theta, behind those of a known
// field.
func (f *Flow) bind() {
	theta := make([]float64, f.known()+f.Net.Params()+f.Poly.params())
	copy(theta, f.Theta[:min(f.known(), len(f.Theta))])
	rest := f.Net.Bind(theta[f.known():])
	if f.Poly != nil {
		copy(rest, f.Poly.w)
		f.Poly.w = rest
	}
	f.Theta = theta
}

// copy returns a flow with memory of its own and without a posterior.
func (f *Flow) copy() *Flow {
	c := &Flow{
		Inputs: f.Inputs, Known: f.Known, part: f.part, Theta: f.Theta,
		Net:   mlp.Net{Layers: slices.Clone(f.Net.Layers)},
		Alpha: slices.Clone(f.Alpha), Sigma: slices.Clone(f.Sigma),
	}
	if f.Poly != nil {
		p := *f.Poly
		c.Poly = &p
	}
	c.bind()
	return c
}

// setPosterior sets the inverse factor of the posterior's precision (P×P, lower triangular).
func (f *Flow) setPosterior(inv []float64) {
	f.Inv = inv
	f.factor.Pack(matmul.Matrix(len(f.Theta), len(f.Theta), inv), true, true)
}

// predict writes mean and, unless it is nil, variance by the parameters of the state at times
// (rising) after x0 (len(times)×K, raw units). ok is false where the flow cannot be integrated.
func (f *Flow) predict(mean, variance, x0, times []float64) (ok bool) {
	if variance == nil {
		return f.integrate(f.tangent(false), mean, x0, times, func(int) {})
	}
	P := len(f.Theta)
	U, ok := f.covarianceFactor(mean, x0, times)
	if !ok {
		return false
	}
	R := len(times) * f.Dim()
	matmul.Dots(variance[:R], matmul.Matrix(R, P, U), matmul.Matrix(R, P, U))
	return true
}

// covarianceFactor writes mean as predict does, and returns U (len(times)·K×P, raw
// units) such that the covariance of all these states by the parameters is U Uᵀ.
func (f *Flow) covarianceFactor(mean, x0, times []float64) (U []float64, ok bool) {
	R, P := len(times)*f.Dim(), len(f.Theta)
	t := f.tangent(true)
	all := make([]float64, 0, R*P)
	if !f.integrate(t, mean, x0, times, func(int) {
		for j, v := range t.S {
			all = append(all, f.Inputs.Lift.Std[j/P]*v)
		}
	}) {
		return nil, false
	}
	U = make([]float64, R*P)
	var w matmul.Work
	w.MulPacked(matmul.Matrix(R, P, U), 1, false, matmul.Matrix(R, P, all), &f.factor, 0)
	return U, true
}

// integrate takes t from x0 through the times (rising), writes the states to mean and
// calls reached at each.
func (f *Flow) integrate(t *tangent, mean, x0, times []float64, reached func(i int)) (ok bool) {
	K, lift := f.Dim(), &f.Inputs.Lift
	return t.through(f.Inputs, x0, times, func(i int) {
		for k := range K {
			mean[i*K+k] = lift.Mean[k] + lift.Std[k]*t.z[k]
		}
		reached(i)
	})
}

// tangent returns an integrator of the flow.
func (f *Flow) tangent(sensitivity bool) *tangent {
	t := newTangent(&f.Net, f.Poly, f.Dim(), len(f.Theta), sensitivity)
	if f.Known != nil {
		t.known = newKnownPart(f.Known, f.Inputs, f.Theta)
	}
	return t
}

// Parameters returns the values of all parameters of the known field (Q) and the
// standard deviation of the logarithm of each.
func (f *Flow) Parameters() (p, spread []float64) {
	P := len(f.Theta)
	p, spread = slices.Clone(f.Known.Guess), make([]float64, len(f.Known.Guess))
	for i, q := range f.Known.free() {
		p[q] *= math.Exp(f.Theta[i])
		v := 0.0
		for r := i; r < P; r++ {
			v += f.Inv[r*P+i] * f.Inv[r*P+i]
		}
		spread[q] = math.Sqrt(v)
	}
	return p, spread
}

// groups returns for every parameter the group that shares its prior, numbered as they
// come, and their number. Each parameter of a known field is a group of its own. Weights of
// the net's first layer share one for every input, so that inputs without influence can be
// left out (automatic relevance determination), those of the last one for every output,
// those of others one, and so do the biases of each layer. Terms of a polynomial have one
// each or, where it is dense, one for every degree and output.
func (f *Flow) groups() (of []int, n int) {
	type group struct {
		part       string
		layer, key int
	}
	numbers := map[group]int{}
	add := func(part string, layer, key int) {
		g := group{part, layer, key}
		if _, ok := numbers[g]; !ok {
			numbers[g] = len(numbers)
		}
		of = append(of, numbers[g])
	}
	for i := range f.known() {
		add("known", 0, i)
	}
	for i, l := range f.Net.Layers {
		for w := range l.W {
			switch i {
			case 0:
				add("weights", i, w/l.Out)
			case len(f.Net.Layers) - 1:
				add("weights", i, w%l.Out)
			default:
				add("weights", i, 0)
			}
		}
		for range l.B {
			add("biases", i, 0)
		}
	}
	for i := range f.Poly.params() {
		if t := f.Poly.terms[i]; f.Poly.dense {
			add("terms", t.degree(), t.k)
		} else {
			add("terms", 0, i)
		}
	}
	return of, len(numbers)
}
