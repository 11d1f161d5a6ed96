package dynamics

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/program"
)

var inf = math.Inf(1)

// signal is the input over the horizon: rows that are held for a step each, the last one to the end.
type signal struct {
	c    *compiler
	reg  program.Reg // P×rows
	plan feature.Plan
}

func newSignal(c *compiler, reg program.Reg, rows int, step float64) signal {
	return signal{c, reg, feature.Plan{Values: make([]float64, rows), P: 1, Step: step}}
}

// span is a time over which a mean is taken, times a factor; where it has no length the value at From.
type span struct{ From, To, Factor float64 }

// means appends the means over spans, each times its factor: P×len(spans).
func (s *signal) means(spans []span) program.Reg {
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
func (s *signal) standardised(spans []span, mean, std []float64) program.Reg {
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
	return s.standardised([]span{{0, 0, 1}}, mean, std)
}
