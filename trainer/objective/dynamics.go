package objective

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/mlp"
)

// dynamics evaluates f and sD at the smoother's mean, and carries adjoints back.
type dynamics struct {
	tape  *mlp.Tape
	adj   *netAdjoint
	in    []float64 // Ns×(L+P)
	slope []float64 // Ns×L, ∂coordinate/∂mean of its channel
	x     []float64 // K scratch
	fbar  []float64 // Ns×2K, adjoint of the net's output
}

func newDynamics(net *mlp.Net, lift *channel.Lift, k, rows int) *dynamics {
	return &dynamics{
		tape: mlp.NewTape(net, rows, false), adj: newNetAdjoint(net, rows, false, true),
		in: make([]float64, rows*net.In()), slope: make([]float64, rows*lift.Dim()),
		x: make([]float64, k), fbar: make([]float64, rows*2*k),
	}
}

// forward evaluates the net at x = origin + scale·mean (mean Ns×K), with the
// standardised inputs u (Ns×P).
func (d *dynamics) forward(net *mlp.Net, lift *channel.Lift, rows, k int, mean, origin, scale, u []float64) {
	I, L := net.In(), lift.Dim()
	P := I - L
	for i := range rows {
		for c := range k {
			d.x[c] = origin[i*k+c] + scale[c]*mean[i*k+c]
		}
		lift.Apply(d.in[i*I:i*I+L], d.x)
		copy(d.in[i*I+L:(i+1)*I], u[i*P:(i+1)*P])
		slope := d.slope[i*L : (i+1)*L]
		lift.Slope(slope, d.x)
		for l, c := range lift.Of {
			slope[l] *= scale[c]
		}
	}
	net.Forward(d.tape, rows, d.in, nil)
}

// output returns f and sD of row i and channel c, and dsD/ds.
func (d *dynamics) output(i, c, k int) (f, sD, slope float64) {
	o := d.tape.Out()[i*2*k : (i+1)*2*k]
	s := o[k+c]
	return o[c], softplus(s), 1 / (1 + math.Exp(-s))
}

// softplus returns log(1 + e^s), stably.
func softplus(s float64) float64 {
	return math.Max(s, 0) + math.Log1p(math.Exp(-math.Abs(s)))
}

// adjoint carries fbar back to the net's gradient and adds ∂L/∂mean to meanbar
// (Ns×K).
func (d *dynamics) adjoint(net, grad *mlp.Net, lift *channel.Lift, rows, k int, meanbar []float64) {
	d.adj.run(net, grad, d.tape, d.fbar, nil)
	I, L := net.In(), lift.Dim()
	for i := range rows {
		for l, c := range lift.Of {
			meanbar[i*k+c] += d.adj.x[i*I+l] * d.slope[i*L+l]
		}
	}
}
