package dynamics

import (
	"fmt"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/program"
)

var inf = math.Inf(1)

// signal is the input over the horizon: rows that are held for a step each, the last one to the end.
type signal struct {
	c    *compiler
	reg  program.Reg // P×rows
	plan feature.Plan
	from *Means // (optional) what the caller takes the means of; nil = the program does
}

func newSignal(c *compiler, reg program.Reg, rows int, step float64) signal {
	return signal{c: c, reg: reg, plan: feature.Plan{Values: make([]float64, rows), P: 1, Step: step}}
}

// Span is a time over which a mean of the input is taken, times a factor; where it has no length, the value at From.
type Span struct{ From, To, Factor float64 }

// Means are inputs of a program that are means of the input over the horizon, or of what acts of it, whatever its rows and their
// step: P × spans each.
type Means struct {
	Regs   []program.Reg
	Spans  [][]Span
	Acting []bool // means of the outputs of the actuators
}

// reg returns the input for spans.
func (m *Means) reg(c *compiler, spans []Span, acting bool) program.Reg {
	for i, at := range m.Spans {
		if slices.Equal(at, spans) && m.Acting[i] == acting {
			return m.Regs[i]
		}
	}
	m.Regs = append(m.Regs, c.Input(fmt.Sprint(Plan, len(m.Regs)), c.m.P, len(spans)))
	m.Spans, m.Acting = append(m.Spans, spans), append(m.Acting, acting)
	return m.Regs[len(m.Regs)-1]
}

// SetMeans sets the means in a lane of a machine to those of a command, or of what acts of it. input (P) is overwritten.
func SetMeans[T program.Float](to *program.Machine[T], m *Means, lane int, command, acting channel.Signal, input []float64) {
	for i, spans := range m.Spans {
		signal := command
		if m.Acting[i] {
			signal = acting
		}
		for j, at := range spans {
			switch {
			case at.Factor == 0:
				clear(input)
			case at.To > at.From:
				signal.Mean(input, at.From, at.To)
			default:
				signal.At(input, at.From)
			}
			for c, u := range input {
				to.Set(m.Regs[i], c, j, lane, at.Factor*u)
			}
		}
	}
}

// means appends the means over spans, each times its factor: P×len(spans).
func (s *signal) means(spans []Span) program.Reg {
	if s.from != nil {
		return s.from.reg(s.c, spans, false)
	}
	var entries []program.Entry
	for j, at := range spans {
		for r := range len(s.plan.Values) {
			share := 0.0
			if at.To > at.From {
				share = s.plan.Share(r, at.From, at.To)
			} else {
				held := [1]float64{}
				(&feature.PlanRow{Plan: &s.plan, Row: r}).At(held[:], at.From)
				share = held[0]
			}
			if share != 0 && at.Factor != 0 {
				entries = append(entries, program.Entry{To: j, From: r, W: share * at.Factor})
			}
		}
	}
	return s.c.Columns(s.reg, len(spans), entries)
}

// standardised appends (factor·mean − factor·scaler)/std of the means over spans.
func (s *signal) standardised(spans []Span, mean, std []float64) program.Reg {
	P, T := len(mean), len(spans)
	w, c := make([]float64, P*T), make([]float64, P*T)
	for p := range P {
		for j, at := range spans {
			w[p*T+j], c[p*T+j] = 1/std[p], -at.Factor*mean[p]/std[p]
		}
	}
	return s.c.Weigh(s.means(spans), T, w, c)
}

// start appends the standardised input at the start: P×1.
func (s *signal) start(mean, std []float64) program.Reg {
	return s.standardised([]Span{{0, 0, 1}}, mean, std)
}
