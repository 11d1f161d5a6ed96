package attribution

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/replay"
)

// Kinds of faults.
const (
	Gain   = "actuator gain" // Amount: %, of the input's effect
	Delay  = "input delay"   // Amount: ms, of one input or of all
	Offset = "sensor offset" // Amount: in the unit of the state
)

// Fault is one that may have happened.
type Fault struct {
	Kind string // Gain, Delay or Offset
	Name string // of the input or state; All = all inputs
	Unit string // of Amount

	at   int     // input or state; -1 = all inputs
	step float64 // of the amount, for the signature
}

// All is the name of a delay of all inputs.
const All = "all inputs"

// Steps of the signatures: predictions are nearly linear in changes as large.
const (
	gainStep  = 10.0 // %
	delayStep = 30.0 // ms
)

// faults returns those that a model distinguishes: of each input and each state.
func faults(m *model.Model) (out []Fault) {
	for p, c := range m.Channels[m.K:] {
		out = append(out, Fault{Kind: Gain, Name: c.Name, Unit: "%", at: p, step: gainStep}, Fault{Kind: Delay, Name: c.Name, Unit: "ms", at: p, step: delayStep})
	}
	if m.P > 1 {
		out = append(out, Fault{Kind: Delay, Name: All, Unit: "ms", at: -1, step: delayStep})
	}
	for k, c := range m.Channels[:m.K] {
		out = append(out, Fault{Kind: Offset, Name: c.Name, Unit: c.Unit, at: k})
	}
	return out
}

// change writes to q the query that base would be if the fault had its step: what acted, or
// what would be measured.
func (f *Fault) change(q, base *estimator.Query, w *replay.Window, m *model.Model) {
	copy(q.X0, base.X0)
	copy(q.U, base.U)
	copy(q.Plan, base.Plan)
	q.History = append(q.History[:0], base.History...)
	row := m.K + m.P
	switch f.Kind {
	case Gain:
		factor := 1 + f.step/100
		q.U[f.at] *= factor
		for i := f.at; i < len(q.Plan); i += m.P {
			q.Plan[i] *= factor
		}
		for i := m.K + f.at; i < len(q.History); i += row {
			q.History[i] *= factor
		}
	case Delay:
		f.delay(q, w, m)
	case Offset:
		q.X0[f.at] += f.step
		for i := f.at; i < len(q.History); i += row {
			q.History[i] += f.step
		}
	}
}

// left writes what is measured with the fault less what would have been predicted of it, to dst (K).
func (f *Fault) left(dst, changed, nominal []float64) {
	if f.Kind != Offset {
		floats.SubTo(dst, changed, nominal)
		return
	}
	floats.SubTo(dst, nominal, changed) // both ends are off
	dst[f.at] += f.step
}

// delay writes the input that acts where it acts later by the step: what was commanded before.
func (f *Fault) delay(q *estimator.Query, w *replay.Window, m *model.Model) {
	late := f.step / 1000
	mean := make([]float64, m.P)
	set := func(dst []float64, from, to float64) {
		w.Flight.InputMean(mean, from, to)
		for p, v := range mean {
			if f.at < 0 || f.at == p {
				dst[p] = v
			}
		}
	}
	t0, step := w.Flight.T[w.Start], m.Horizon*float64(m.P)/float64(len(q.Plan))
	set(q.U, t0-late, t0-late+1e-3)
	for r := range len(q.Plan) / m.P {
		from := t0 - late + step*float64(r)
		set(q.Plan[r*m.P:(r+1)*m.P], from, from+step)
	}
	from := t0
	for j, edge := range m.History.Edges {
		if at := j*(m.K+m.P) + m.K; at+m.P <= len(q.History) {
			set(q.History[at:at+m.P], t0-edge-late, from-late)
		}
		from = t0 - edge
	}
}

func (f Fault) String() string { return fmt.Sprintf("%s of %s", f.Kind, f.Name) }
