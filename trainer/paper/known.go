package paper

import (
	"math"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

// Known is a vector field that is known but for the values of its parameters. The
// caller hands it over as a value.
//
// A parameter is learned as the logarithm of what it is over the guess: it keeps the
// guess' sign, and a prior says by how much a guess may be wrong.
type Known struct {
	F      func(dst, x, p []float64)       // sets dst (K) to dx/dt
	VJP    func(dx, dp, x, p, g []float64) // adds gᵀ ∂f/∂x to dx (K) and gᵀ ∂f/∂p to dp (Q)
	Guess  []float64                       // Q
	Spread []float64                       // Q, standard deviation of log p/guess before anything was measured; 0 = the guess is right
}

// free returns the parameters that are learned.
func (n *Known) free() []int {
	var out []int
	for q, s := range n.Spread {
		if s > 0 {
			out = append(out, q)
		}
	}
	return out
}

// knownPart adds a known field to a tangent, in standardised states and time.
type knownPart struct {
	*Known
	of        []int     // the parameter of each of the first numbers of theta
	theta     []float64 // the flow's
	time      float64   // s for one unit of standardised time
	shift, by []float64 // K: x = shift + by·z
	p, dp     []float64 // Q
	x, dx, g  []float64 // K
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

// add adds the field at zs to f, and with sensitivity its derivatives to fz and its
// columns of F.
func (n *knownPart) add(t *tangent) {
	copy(n.p, n.Guess)
	for i, q := range n.of {
		n.p[q] *= math.Exp(n.theta[i])
	}
	for k := range n.x {
		n.x[k] = n.shift[k] + n.by[k]*t.zs[k]
	}
	n.F(n.g, n.x, n.p)
	for k, v := range n.g {
		t.f[k] += n.time / n.by[k] * v
	}
	if !t.sensitivity {
		return
	}
	for k := range t.K {
		clear(n.g)
		clear(n.dx)
		clear(n.dp)
		n.g[k] = n.time / n.by[k]
		n.VJP(n.dx, n.dp, n.x, n.p, n.g)
		for j, v := range n.dx {
			t.at.fz[k*t.K+j] += v * n.by[j]
		}
		for i, q := range n.of {
			t.at.F[k*t.dense+i] = n.dp[q] * n.p[q]
		}
	}
}

// flow returns what is refined of a member: its dynamics or, where it is given, the
// known field with the parameters that follow the member's smoother best.
func (r *Recipe) flow(f *Fit, d *Data, p form, seed uint64) *Flow {
	switch {
	case r.Known != nil:
		return f.newKnown(r.Known, r.Residual, d, seed)
	case p == netAlone:
		return f.NewFlow()
	case p == rawAndNet || p == centredAndNet:
		return f.NewPolynomialFlow(d, p == centredAndNet)
	}
	return f.newPlainFlow(d, p)
}

// newKnown returns a flow of a known field, with a net of the given hidden layers
// beside it (nil: none) that adds nothing yet.
func (f *Fit) newKnown(known *Known, residual []int, d *Data, seed uint64) *Flow {
	fl := &Flow{Inputs: f.Inputs, Known: known}
	K, free := f.Params.Map.K, known.free()
	if residual != nil {
		widths := append(append([]int{K}, residual...), K)
		acts := make([]mlp.Activation, len(widths)-1)
		for i := range residual {
			acts[i] = f.Settings.DynAct
		}
		fl.Net = mlp.New(widths, acts)
		fl.Net.Glorot(rand.New(rand.NewPCG(seed, 0x7265736964)))
		clear(fl.Net.Layers[len(residual)].W)
	}
	fl.Theta = make([]float64, len(free)+fl.Net.Params())
	fl.Net.Bind(fl.Theta[len(free):])
	for _, q := range free {
		fl.Alpha = append(fl.Alpha, 1/(known.Spread[q]*known.Spread[q]))
	}
	for _, n := fl.groups(); len(fl.Alpha) < n; {
		fl.Alpha = append(fl.Alpha, residualPrior)
	}
	for k := range K {
		fl.Sigma = append(fl.Sigma, math.Exp(f.Params.LogSigma[k*noiseKnots]))
	}
	f.matchDerivatives(fl, d)
	return fl
}

// residualPrior is the first precision of the weights of a net beside a known field.
const residualPrior = 100
