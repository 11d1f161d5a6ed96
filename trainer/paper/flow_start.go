package paper

import (
	"math"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

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
