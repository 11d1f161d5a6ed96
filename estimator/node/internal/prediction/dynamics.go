package prediction

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// Dynamics evaluates the learned vector field, as FORMAT.md describes it: the net
// on the lifted state and the standardised input, plus the difference equation's
// increment over its step.
type Dynamics struct {
	model *model.Model
	field *priordynamics.Field // nil = none
	tape  *mlp.Tape
	in    []float64 // L+P
}

// NewDynamics returns nil for a model without a dynamics net.
func NewDynamics(m *model.Model) *Dynamics {
	net := &m.Dynamics.Net
	L := m.Inputs.Lift.Dim()
	if len(net.Layers) == 0 || net.In() != L+m.P || net.Out() != 2*m.K {
		return nil
	}
	d := &Dynamics{model: m, tape: mlp.NewTape(net, 1, false), in: make([]float64, L+m.P)}
	if e := model.EquationOf(m.Stack); e != nil {
		d.field = priordynamics.NewField(e, m.K)
	}
	return d
}

// At writes dx/dt and its standard deviation, per second, to f and sD (K) at state
// x (K) and input u (P).
func (d *Dynamics) At(f, sD, x, u []float64) {
	m := d.model
	L := m.Inputs.Lift.Dim()
	m.Inputs.Lift.Apply(d.in[:L], x)
	for p, v := range u {
		d.in[L+p] = (v - m.Inputs.InputMean[p]) / m.Inputs.InputStd[p]
	}
	m.Dynamics.Net.Forward(d.tape, 1, d.in, nil)
	clear(f)
	if d.field != nil {
		d.field.At(f, x, u)
	}
	o := d.tape.Out()
	for k, scale := range m.Scale {
		unit := scale / m.Inputs.TimeStd
		f[k] += o[k] * unit
		sD[k] = softplus(o[m.K+k]) * unit
	}
}

// softplus returns log(1 + e^s), stably.
func softplus(s float64) float64 { return math.Max(s, 0) + math.Log1p(math.Exp(-math.Abs(s))) }
