package paper

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

// flow returns the flow that refinement of a member starts from: of its dynamics or, where
// it is given, of the known field with the parameters that follow the member's smoother
// best.
func (r *Recipe) flow(f *Fit, d *Data, p form) *Flow {
	if r.Known != nil {
		return f.newKnown(r.Known, d)
	}
	return f.newFlow(d, p)
}

// newKnown returns a flow of a known field.
func (f *Fit) newKnown(known *Known, d *Data) *Flow {
	fl := &Flow{Inputs: f.Inputs, Known: known}
	for _, q := range known.free() {
		fl.Alpha = append(fl.Alpha, 1/(known.Spread[q]*known.Spread[q]))
	}
	f.begin(fl, 0)
	f.matchDerivatives(fl, d)
	return fl
}

// newFlow returns a flow of the mean of the fit's dynamics. A polynomial replaces as much of
// it as it can express along the data; a net of one hidden layer, the first of the
// dynamics', expresses the rest in forms that have one.
func (f *Fit) newFlow(d *Data, p form) *Flow {
	fl := &Flow{Inputs: f.Inputs, part: p}
	zero := make([]float64, d.K)
	if p != centredAndNet {
		f.Inputs.Lift.Apply(zero, zero)
	}
	switch p {
	case netAlone:
		fl.Net = f.meanDynamics()
	case rawAndNet, centredAndNet:
		fl.Poly = newPolynomial(zero, 1, 2)
		fl.Net = f.splitDynamics(d, fl.Poly)
	case linear:
		fl.Poly = newPolynomial(zero, 0, 1)
	case sparse, quadratic:
		fl.Poly = newPolynomial(zero, 0, 2)
	}
	if len(fl.Net.Layers) == 0 {
		fl.Poly.dense = p != sparse
		f.splitDynamics(d, fl.Poly)
	}
	f.begin(fl, math.Max(f.Settings.DecayD, 1e-3))
	return fl
}

// begin binds a flow's parameters, and sets the precisions that it has not yet and the
// noise, that of the fit.
func (f *Fit) begin(fl *Flow, precision float64) {
	fl.bind()
	for _, n := fl.groups(); len(fl.Alpha) < n; {
		fl.Alpha = append(fl.Alpha, precision)
	}
	for k := range fl.Dim() {
		fl.Sigma = append(fl.Sigma, math.Exp(f.Params.LogSigma[k*noiseKnots]))
	}
}

// meanDynamics returns the dynamics without their standard deviations. Memory is shared
// with the fit's.
func (f *Fit) meanDynamics() mlp.Net {
	net := mlp.Net{Layers: slices.Clone(f.Params.Dynamics.Layers)}
	last := &net.Layers[len(net.Layers)-1]
	K := last.Out / 2
	var w []float64
	for r := range last.In {
		w = append(w, last.W[r*last.Out:r*last.Out+K]...)
	}
	last.Out, last.W, last.B = K, w, last.B[:K:K]
	return net
}

// splitDynamics fits the dynamics at the smoothed states: a polynomial first, and to the
// rest the net that is returned, the dynamics' first layer with new weights after it.
func (f *Fit) splitDynamics(d *Data, poly *polynomial) mlp.Net {
	const ridge = 0.1
	K, lift := d.K, &f.Inputs.Lift
	var z []float64
	for _, tr := range d.Trajectories {
		mean := make([]float64, len(tr.T)*K)
		f.Predict(mean, nil, tr.X0, tr.T)
		for i, v := range mean {
			z = append(z, (v-lift.Mean[i%K])/lift.Std[i%K])
		}
	}
	n := len(z) / K
	dynamics := f.meanDynamics()
	tape := mlp.NewTape(&dynamics, n, false)
	dynamics.Forward(tape, n, z, nil)
	y := slices.Clone(tape.Out())
	poly.fit(y, z, n, K, ridge)
	first := &dynamics.Layers[0]
	H := first.Out
	var x []float64
	for i := range n {
		x = append(append(x, tape.Y[0][i*H:(i+1)*H]...), 1)
	}
	w := leastSquares(x, y, n, H+1, K, ridge)
	second := mlp.Layer{In: H, Out: K, W: w[:H*K], B: w[H*K:]}
	return mlp.Net{Layers: []mlp.Layer{*first, second}}
}
