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

// NewFlow takes the mean of the fit's dynamics.
func (f *Fit) NewFlow() *Flow { return f.flow(f.mean(), nil) }

// NewPolynomialFlow takes the mean of the fit's dynamics too, but a polynomial takes
// over what it can say of it along the data, and a net of one hidden layer, the first
// of the dynamics', says the rest. The polynomial counts states from where they are
// nought in their unit, or with centred from their mean.
func (f *Fit) NewPolynomialFlow(d *Data, centred bool) *Flow {
	zero := make([]float64, d.K)
	if !centred {
		f.Inputs.Lift.Apply(zero, zero)
	}
	fl := f.flow(f.splitDynamics(d, newPolynomial(zero)))
	fl.part = rawAndNet
	if centred {
		fl.part = centredAndNet
	}
	return fl
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

// newPlainFlow returns a flow of a polynomial alone that says what the dynamics say
// along the data.
func (f *Fit) newPlainFlow(d *Data, p form) *Flow {
	zero := make([]float64, d.K)
	f.Inputs.Lift.Apply(zero, zero)
	degree := 2
	if p == linear {
		degree = 1
	}
	poly := newWhole(zero, degree)
	poly.dense = p != sparse
	f.splitDynamics(d, poly)
	fl := f.flow(mlp.Net{}, poly)
	fl.part = p
	return fl
}

// flow returns the flow of a net and, unless it is nil, a polynomial.
func (f *Fit) flow(net mlp.Net, poly *polynomial) *Flow {
	fl := &Flow{Inputs: f.Inputs, Net: net, Poly: poly}
	fl.bind()
	_, n := fl.groups()
	for range n {
		fl.Alpha = append(fl.Alpha, math.Max(f.Settings.Decay, 1e-3))
	}
	for k := range f.Params.Map.K {
		fl.Sigma = append(fl.Sigma, math.Exp(f.Params.LogSigma[k*noiseKnots]))
	}
	return fl
}

// mean returns a copy of the dynamics without their standard deviations.
func (f *Fit) mean() mlp.Net {
	K := f.Params.Map.K
	src := &f.Params.Dynamics
	widths := []int{K}
	var acts []mlp.Activation
	for i := range src.Layers {
		widths = append(widths, src.Layers[i].Out)
		acts = append(acts, src.Layers[i].Act)
	}
	widths[len(widths)-1] = K
	net := mlp.New(widths, acts)
	for i := range src.Layers {
		a, b := &src.Layers[i], &net.Layers[i]
		for r := range a.In {
			copy(b.W[r*b.Out:(r+1)*b.Out], a.W[r*a.Out:])
		}
		copy(b.B, a.B)
	}
	return net
}

// splitDynamics splits what the dynamics say at the smoothed states: a polynomial first, the
// first layer with new weights after that.
func (f *Fit) splitDynamics(d *Data, poly *polynomial) (mlp.Net, *polynomial) {
	const ridge = 0.1
	K := d.K
	var z []float64
	for j := range d.Trajectories {
		tr := &d.Trajectories[j]
		mean := make([]float64, len(tr.T)*K)
		f.Predict(mean, make([]float64, len(mean)), tr.X0, tr.T)
		for i, v := range mean {
			z = append(z, (v-f.Inputs.Lift.Mean[i%K])/f.Inputs.Lift.Std[i%K])
		}
	}
	n := len(z) / K
	whole := f.mean()
	tape := mlp.NewTape(&whole, n, false)
	whole.Forward(tape, n, z, nil)
	y := append([]float64(nil), tape.Out()[:n*K]...)
	poly.fit(y, z, n, K, ridge)
	first := &whole.Layers[0]
	H := first.Out
	x := make([]float64, n*(H+1))
	for i := range n {
		copy(x[i*(H+1):], tape.Y[0][i*H:(i+1)*H])
		x[i*(H+1)+H] = 1
	}
	w := leastSquares(x, y, n, H+1, K, ridge)
	net := mlp.New([]int{K, H, K}, []mlp.Activation{first.Act, mlp.Linear})
	copy(net.Layers[0].W, first.W)
	copy(net.Layers[0].B, first.B)
	copy(net.Layers[1].W, w)
	copy(net.Layers[1].B, w[H*K:])
	return net, poly
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
