package paper

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

// Flow is a vector field, the mean of a fit's dynamics refined by shooting, with
// the Laplace approximation of its posterior.
type Flow struct {
	Inputs   *feature.Inputs
	Known    *Known        // (optional) a field that Net is added to; its parameters come first in Theta
	Net      mlp.Net       // K → K; without layers beside a known field that nothing is added to
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

// form tells what is beside the net of a flow.
type form int

const (
	netAlone      form = iota
	rawAndNet          // a polynomial of states counted from where they are nought in their unit
	centredAndNet      // one of states counted from their mean
	sparse             // no net, and one of states counted from where they are nought
	linear             // no net, and a dense polynomial of degree one
	quadratic          // of degree two
)

// The parts of flows, in turn, between which the evidence decides: where there are
// values enough to choose terms by, and where there are not.
var (
	sparseForms = []form{rawAndNet, sparse, centredAndNet}
	denseForms  = []form{quadratic, linear}
)

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

// setPosterior takes the inverse factor of the posterior's precision (P×P, lower triangular).
func (f *Flow) setPosterior(inv []float64) {
	f.Inv = inv
	f.factor.Pack(matmul.Matrix(len(f.Theta), len(f.Theta), inv), true, true)
}

// Predict writes mean and variance of the state at times (rising) after x0
// (len(times)×K, raw units). ok is false where the flow cannot be integrated.
func (f *Flow) Predict(mean, variance, x0, times []float64) (ok bool) {
	K, P := f.Dim(), len(f.Theta)
	U, ok := f.covarianceFactor(mean, x0, times)
	if !ok {
		return false
	}
	R := len(times) * K
	matmul.Dots(variance[:R], matmul.Matrix(R, P, U), matmul.Matrix(R, P, U))
	return true
}

// solve writes the mean as Predict does.
func (f *Flow) solve(mean, x0, times []float64) (ok bool) {
	return f.walk(f.tangent(false), mean, x0, times, func(int) {})
}

// covarianceFactor writes the mean as Predict does, and returns U (len(times)·K×P, raw
// units) such that the covariance of all these states is U Uᵀ.
func (f *Flow) covarianceFactor(mean, x0, times []float64) (U []float64, ok bool) {
	K, P := f.Dim(), len(f.Theta)
	t := f.tangent(true)
	all := make([]float64, len(times)*K*P)
	if !f.walk(t, mean, x0, times, func(i int) {
		for k := range K {
			dst := all[(i*K+k)*P : (i*K+k+1)*P]
			for p, v := range t.S[k*P : (k+1)*P] {
				dst[p] = f.Inputs.Lift.Std[k] * v
			}
		}
	}) {
		return nil, false
	}
	R := len(times) * K
	U = make([]float64, R*P)
	var w matmul.Work
	w.MulPacked(matmul.Matrix(R, P, U), 1, false, matmul.Matrix(R, P, all), &f.factor, 0)
	return U, true
}

// walk integrates t from x0 through the times (rising), writes the states to mean
// and calls at when each is reached.
func (f *Flow) walk(t *tangent, mean, x0, times []float64, at func(i int)) (ok bool) {
	K := f.Dim()
	z0 := make([]float64, K)
	f.Inputs.Lift.Apply(z0, x0)
	t.start(z0)
	now := f.Inputs.Standard(0)
	for i, when := range times {
		if to := f.Inputs.Standard(when); to > now {
			s := int(math.Ceil((to - now) / maxStep))
			if !t.advance((to-now)/float64(s), s) {
				return false
			}
			now = to
		}
		for k := range K {
			mean[i*K+k] = f.Inputs.Lift.Mean[k] + f.Inputs.Lift.Std[k]*t.z[k]
		}
		at(i)
	}
	return true
}

// Form tells what the field is made of.
func (f *Flow) Form() string {
	switch {
	case f.Known != nil && len(f.Net.Layers) > 0:
		return "known and net"
	case f.Known != nil:
		return "known"
	}
	return [...]string{"net", "terms and net", "centred terms and net", "terms", "linear", "quadratic"}[f.part]
}

// known returns how many parameters of a known field come first in Theta, each a
// group of the prior for itself.
func (f *Flow) known() int {
	if f.Known == nil {
		return 0
	}
	return len(f.Known.free())
}

// Dim returns K, the number of states.
func (f *Flow) Dim() int { return len(f.Inputs.Lift.Std) }

// groups returns the group of every parameter: of a known field each is one for
// itself.
func (f *Flow) groups() (of []int, n int) {
	for n = range f.known() {
		of = append(of, n)
	}
	n = len(of)
	if len(f.Net.Layers) > 0 {
		net, more := groups(&f.Net)
		for _, g := range net {
			of = append(of, n+g)
		}
		n += more
	}
	terms, more := f.Poly.groups()
	for _, g := range terms {
		of = append(of, n+g)
	}
	return of, n + more
}

// tangent returns an integrator of the flow.
func (f *Flow) tangent(sensitivity bool) *tangent {
	t := newTangentOf(&f.Net, f.Poly, f.Dim(), len(f.Theta), sensitivity)
	if f.Known != nil {
		v := func(n int) []float64 { return make([]float64, n) }
		K, Q := t.K, len(f.Known.Guess)
		t.known = &knownPart{
			Known: f.Known, of: f.Known.free(), theta: f.Theta,
			time: f.Inputs.TimeStd, shift: f.Inputs.Lift.Mean, by: f.Inputs.Lift.Std,
			p: v(Q), dp: v(Q), x: v(K), dx: v(K), g: v(K),
		}
	}
	return t
}

// Parameters returns the values of all parameters of the known field (Q) and the
// standard deviation of the logarithm of each.
func (f *Flow) Parameters() (p, spread []float64) {
	Q, P := len(f.Known.Guess), len(f.Theta)
	p, spread = append([]float64(nil), f.Known.Guess...), make([]float64, Q)
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

// groups returns for every parameter the group that shares its prior: of the first
// layer a group for every input, so that inputs which say nothing can be left out
// (automatic relevance determination), of the last a group for every output, and
// one for the rest of each layer's weights and for its biases.
func groups(net *mlp.Net) (of []int, n int) {
	last := len(net.Layers) - 1
	for i := range net.Layers {
		l := &net.Layers[i]
		for a := range l.In {
			for o := range l.Out {
				switch {
				case i == 0:
					of = append(of, n+a)
				case i == last:
					of = append(of, n+o)
				default:
					of = append(of, n)
				}
			}
		}
		switch i {
		case 0:
			n += l.In
		case last:
			n += l.Out
		default:
			n++
		}
		for range l.Out {
			of = append(of, n)
		}
		n++
	}
	return of, n
}
