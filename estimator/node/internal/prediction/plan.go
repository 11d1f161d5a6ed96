package prediction

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// plans decides which plans of a stream of states are used, and with what time axis.
type plans struct {
	timed bool    // a plan without plan_dt counts only where the sender has shown the horizon
	seq   uint64  // of the last state
	t     int64   // ns, of the last state
	shown float64 // s, what the sender's last plan with plan_dt covered; 0 = it sent none
}

// sameSpan is the difference of two times, as a share, that is rounding.
const sameSpan = 1e-6

func same(a, b float64) bool { return math.Abs(a-b) <= sameSpan*b }

// span returns what the plan of a state covers, s, by its plan_dt.
func span(s *wire.State, inputs int) float64 { return s.PlanDt * float64(len(s.Plan)/inputs) }

// silence is the time between two states, ns, after which their sender may be another.
const silence = 1e9

// take notes what a state shows of its sender. One whose seq goes back, or which comes after
// a silence, is another, or has started again.
func (p *plans) take(s *wire.State, inputs int) {
	if s.Seq <= p.seq || s.T-p.t > silence || s.T < p.t {
		p.shown = 0
	}
	p.seq, p.t = s.Seq, s.T
	if len(s.Plan) > 0 && s.PlanDt > 0 {
		p.shown = span(s, inputs)
	}
}

// of returns the plan of a state (rows×P) for a model of a horizon, s, and the step of a
// row, s, which is 0 where the rows divide the horizon. unused is true for a plan whose
// times are not known; then there is none.
func (p *plans) of(s *wire.State, inputs int, horizon float64) (plan []float64, step float64, unused bool) {
	switch {
	case len(s.Plan) == 0:
		return nil, 0, false
	case s.PlanDt > 0 && !same(span(s, inputs), horizon):
		return s.Plan, s.PlanDt, false
	case s.PlanDt > 0 || !p.timed || same(p.shown, horizon):
		return s.Plan, 0, false
	}
	return nil, 0, true
}

// PlanFlags returns the flags of a plan that covers span, s, of a model of a horizon, for a
// prediction up to last and an estimator that predicts up to reach, s.
func PlanFlags(span, horizon, last, reach float64) wire.Flags {
	switch longest := math.Max(horizon, reach); {
	case span < last && !same(span, last):
		return wire.PlanHeld
	case span > longest && !same(span, longest):
		return wire.PlanCut
	}
	return 0
}

// shifted writes to dst the plan (rows×P) from a time on that is shift rows after its
// start: the means over its rows. The last row is held after the end of the plan.
func shifted(dst, plan []float64, inputs int, shift float64) []float64 {
	dst = append(dst[:0], plan...)
	rows := len(plan) / inputs
	shift = math.Min(shift, float64(rows)) // of a short plan it may be larger than an int
	for i := range rows {
		at := float64(i) + shift
		j := min(int(at), rows-1)
		f := min(at-float64(j), 1) // share of the step after j
		next := min(j+1, rows-1)
		for p := range inputs {
			dst[i*inputs+p] = (1-f)*plan[j*inputs+p] + f*plan[next*inputs+p]
		}
	}
	return dst
}
