package objective

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// PriorDynamics are a known part of the dynamics: f = their vector field + net.
type PriorDynamics struct {
	Model               *priordynamics.Model
	InputMean, InputStd []float64 // P, to undo the standardisation of Batch.U
	TimeStd             float64   // s for one unit of standardised time
}

// dynamics evaluates f and sD at the smoother's mean, and carries adjoints back.
type dynamics struct {
	prior *PriorDynamics
	field *priordynamics.Field
	f0    []float64 // Ns×K, the prior's part of f
	u     []float64 // Ns×P, raw inputs
	xs    []float64 // Ns×K, states
	g     []float64 // K scratch
	xbar  []float64 // K scratch
	scale []float64 // K
	tape  *mlp.Tape
	adj   *NetAdjoint
	in    []float64 // Ns×(L+P)
	slope []float64 // Ns×L, ∂coordinate/∂mean of its channel
	fbar  []float64 // Ns×2K, adjoint of the net's output
}

func newDynamics(net *mlp.Net, spec Spec, k, rows int) *dynamics {
	lift := &spec.Lift
	d := &dynamics{
		prior: spec.PriorDynamics, scale: spec.Scale, xs: make([]float64, rows*k), f0: make([]float64, rows*k), g: make([]float64, k), xbar: make([]float64, k),
		tape: mlp.NewTape(net, rows, false), adj: NewNetAdjoint(net, rows, false, true),
		in: make([]float64, rows*net.In()), slope: make([]float64, rows*lift.Dim()),
		fbar: make([]float64, rows*2*k),
	}
	if d.prior != nil {
		d.field = priordynamics.NewField(d.prior.Model, k)
		d.u = make([]float64, rows*len(d.prior.InputMean))
	}
	return d
}

// forward evaluates the net at x = origin + scale·mean (mean Ns×K), with the
// standardised inputs u (Ns×P).
func (d *dynamics) forward(net *mlp.Net, lift *channel.Lift, rows, k int, mean, origin, scale, u []float64) {
	I, L := net.In(), lift.Dim()
	P := I - L
	for i := range rows {
		x := d.xs[i*k : (i+1)*k]
		for c := range x {
			x[c] = origin[i*k+c] + scale[c]*mean[i*k+c]
		}
		lift.Apply(d.in[i*I:i*I+L], x)
		copy(d.in[i*I+L:(i+1)*I], u[i*P:(i+1)*P])
		slope := d.slope[i*L : (i+1)*L]
		lift.Derivative(slope, x)
		for l, c := range lift.Of {
			slope[l] *= scale[c]
		}
	}
	net.Forward(d.tape, rows, d.in, nil)
	if d.prior == nil {
		return
	}
	for i := range rows {
		raw := d.u[i*P : (i+1)*P]
		for c := range raw {
			raw[c] = d.prior.InputMean[c] + d.prior.InputStd[c]*u[i*P+c]
		}
		f0 := d.f0[i*k : (i+1)*k]
		d.field.At(f0, d.xs[i*k:(i+1)*k], raw)
		for c := range f0 {
			f0[c] *= d.prior.TimeStd / scale[c]
		}
	}
}

// output returns f and sD of row i and channel c, and dsD/ds.
func (d *dynamics) output(i, c, k int) (f, sD, slope float64) {
	o := d.tape.Out()[i*2*k : (i+1)*2*k]
	sD, slope = softplus(o[k+c])
	return d.f0[i*k+c] + o[c], sD, slope
}

// softplus returns log(1 + e^s), stably, and its derivative.
func softplus(s float64) (value, slope float64) {
	e := math.Exp(-math.Abs(s))
	value, slope = math.Log1p(e), 1/(1+e)
	if s < 0 {
		return value, e * slope
	}
	return s + value, slope
}

// adjoint carries fbar back to the net's gradient and adds ∂L/∂mean to meanbar
// (Ns×K).
func (d *dynamics) adjoint(net, grad *mlp.Net, lift *channel.Lift, rows, k int, meanbar []float64) {
	d.adj.Run(net, grad, d.tape, d.fbar, nil)
	I, L := net.In(), lift.Dim()
	for i := range rows {
		for l, c := range lift.Of {
			meanbar[i*k+c] += d.adj.X[i*I+l] * d.slope[i*L+l]
		}
	}
	if d.prior == nil {
		return
	}
	P := I - L
	for i := range rows {
		for c := range k {
			d.g[c] = d.fbar[i*2*k+c] * d.prior.TimeStd / d.scale[c]
		}
		clear(d.xbar)
		d.field.Adjoint(d.xbar, d.xs[i*k:(i+1)*k], d.u[i*P:(i+1)*P], d.g)
		for c := range k {
			meanbar[i*k+c] += d.xbar[c] * d.scale[c]
		}
	}
}
