package prediction

import (
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// past is the history that predictions read: the states that were taken, resampled to the
// model's rows, and at a fixed rate the propagated states since the last of them.
type past struct {
	model  *model.Model
	stream *history.Buffer // nil = the model reads no history
	ticks  *history.Buffer // the same, and the propagated states up to the last tick
	rows   []float64       // rows×(K+P)
	input  []float64       // P, mean of a plan
	missed bool            // there were fewer rows than the model reads
}

// newPast allocates the memory for the history that a model reads.
func newPast(m *model.Model) *past {
	buffer := func() *history.Buffer { return history.NewBuffer(m.Channels[:m.K], m.P, m.History) }
	return &past{
		model: m, stream: buffer(), ticks: buffer(),
		rows: make([]float64, m.History.Rows()*(m.K+m.P)), input: make([]float64, m.P),
	}
}

// add adds a state.
func (p *past) add(s *wire.State) history.Reset { return p.stream.Add(s.T, s.X, p.inputAt(s)) }

// inputAt returns the input (P) that is held at a state: its own, else that its plan begins
// with, else the model's mean input.
func (p *past) inputAt(s *wire.State) []float64 {
	P := p.model.P
	switch {
	case len(s.U) > 0:
		return s.U
	case len(s.Plan) > 0:
		return s.Plan[:P]
	}
	return p.model.Inputs.InputMean[:P]
}

// beforeState returns the rows before a state that was added, nil = none.
func (p *past) beforeState(s *wire.State) []float64 { return p.fill(p.stream, s.T, s.X) }

// beforeTick returns the rows before the tick that comes age, ns, after a state, of which
// the propagator is then at the tick: measured up to the state, then propagated. first is
// true for the first tick of the state, planned its plan, without values where there is none.
func (p *past) beforeTick(s *wire.State, planned feature.Plan, age int64, first bool, b *propagator) []float64 {
	if p.stream == nil {
		b.at(seconds(age))
		return nil
	}
	if first {
		p.ticks.CopyFrom(p.stream)
	}
	u := p.inputAt(s)
	for tick := s.T + age; ; {
		last, any := p.ticks.Newest()
		if !any || last >= tick {
			break
		}
		next := min(last+p.ticks.Narrowest(), tick)
		if len(planned.Values) > 0 {
			planned.Mean(p.input, seconds(last-s.T), seconds(next-s.T))
			p.ticks.Hold(p.input)
		}
		if next == tick {
			break
		}
		b.at(seconds(next - s.T))
		p.ticks.Add(next, b.x, u)
	}
	b.at(seconds(age))
	return p.fill(p.ticks, s.T+age, b.x)
}

// still returns rows of a robot that rests at x0 with the mean input.
func (p *past) still(x0 []float64) []float64 {
	for row := p.rows; len(row) > 0; row = row[p.model.K+p.model.P:] {
		copy(row, x0)
		copy(row[p.model.K:], p.model.Inputs.InputMean[:p.model.P])
	}
	return orNil(p.rows)
}

// fill returns the rows before the state x0 at t0, ns, that a buffer holds.
func (p *past) fill(b *history.Buffer, t0 int64, x0 []float64) []float64 {
	n := b.Fill(p.rows, t0, x0)
	p.missed = n < b.Rows()
	return orNil(p.rows[:n*(p.model.K+p.model.P)])
}

// seconds returns a time in ns in s.
func seconds(ns int64) float64 { return float64(ns) * 1e-9 }

// orNil makes an absent vector nil, as a query has it.
func orNil(v []float64) []float64 {
	if len(v) == 0 {
		return nil
	}
	return v
}
