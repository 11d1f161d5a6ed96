package dynamics

import (
	"github.com/dgm-robotics/dgm/estimator/program"
)

// oodScores is how far a query is from the training data.
type oodScores struct {
	distance program.Reg // of the start from the training states
	leverage program.Reg // of start, history and input
	input    program.Reg
	score    program.Reg
}

// inputSlack is the distance beyond the range of the training inputs, as a fraction of that range, at which the score of
// an input is 1.
const inputSlack = 0.25

// distances appends the out-of-distribution score: the largest of the distance of the start from the training states,
// the distance of the input from its range, the leverage of state, history and plan, and posterior over prior variance at
// the last of the times, each over the value at which held-out data begin to be out of distribution.
func (c *compiler) distances(s stack, e ensemble) oodScores {
	r := &c.m.OOD
	zero := c.Constant(1, 1, []float64{0})
	n := oodScores{zero, zero, zero, zero}
	all := []program.Reg{zero}
	over := func(x program.Reg, limit float64) { all = append(all, c.Weigh(x, 1, []float64{1 / limit}, nil)) }
	if len(r.Points) > 0 {
		n.distance = c.distance()
		if r.Distance > 0 {
			over(n.distance, r.Distance)
		}
	}
	if readout := int(c.s.Condition.Readout()); c.m.P > 0 && readout < len(r.Low) {
		n.input = c.inputScore(r.Low[readout], r.High[readout])
		over(n.input, max(r.Input, 1))
	}
	if s.direct != nil {
		if leverage := s.direct.whole(); leverage != program.None {
			n.leverage = leverage
		}
		if r.Leverage > 0 {
			over(n.leverage, r.Leverage)
		}
	}
	if r.Variance > 0 && !c.s.MeansOnly {
		over(e.ratio, r.Variance)
	}
	n.score = c.Largest(1, c.Stack(all...))
	return n
}

// inputScore appends the largest distance of the mean inputs over the blocks of the knots from the middle of the training
// range: 1 at a quarter of the range beyond its ends.
func (c *compiler) inputScore(low, high []float64) program.Reg {
	blocks := max(1, c.m.Inputs.Knots)
	length := c.m.Horizon / float64(blocks)
	var all []program.Reg
	for j := range blocks {
		mean := c.input.means([]Span{{float64(j) * length, float64(j+1) * length, 1}})
		w, constant := make([]float64, len(low)), make([]float64, len(low))
		for p, lo := range low {
			middle := 0.5 * (lo + high[p])
			// The range of a constant input is 0: rounding must not raise its score.
			reach := (0.5+inputSlack)*(high[p]-lo) + 1e-6*(1+max(middle, -middle))
			w[p], constant[p] = 1/reach, -middle/reach
		}
		all = append(all, c.Function(program.Abs, c.Weigh(mean, 1, w, constant)))
	}
	return c.Largest(1, c.Stack(all...))
}
