package dynamics

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/actuator"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// acting appends the mean outputs of the actuators over spans, each times its factor, P×len(spans): those of the plan, and of what the
// history had before; without history the first row of the plan was held.
func (c *compiler) acting(spans []Span) program.Reg {
	if !actuator.Acts(c.m.Actuators) {
		return c.input.means(spans)
	}
	if c.input.from != nil {
		return c.input.from.reg(c, spans, true)
	}
	terms := c.pastCommands(spans)
	var done []actuator.Response
	for _, r := range c.m.Actuators {
		if !slices.Contains(done, r) {
			done = append(done, r)
			terms = append(terms, c.planned(r, spans))
		}
	}
	return c.sum(c.m.P, nil, terms...)
}

// planned appends what acts of the plan, of the inputs with a response: P×len(spans), 0 of the others.
func (c *compiler) planned(r actuator.Response, spans []Span) weighted {
	plan, n := &c.input.plan, len(spans)
	var entries []program.Entry
	for j, at := range spans {
		for row := range len(plan.Values) {
			from, to := plan.Held(row)
			if row == 0 && c.past == program.None {
				from = math.Inf(-1)
			}
			if w := at.Factor * r.Share(from, to, at.From, at.To); w != 0 {
				entries = append(entries, program.Entry{To: j, From: row, W: w})
			}
		}
	}
	x := c.Columns(c.input.reg, n, entries)
	if !slices.ContainsFunc(c.m.Actuators, func(other actuator.Response) bool { return other != r }) {
		return weighted{x, 1}
	}
	var mask []float64
	for _, other := range c.m.Actuators {
		w := 0.
		if other == r {
			w = 1
		}
		mask = append(mask, same(n, w)...)
	}
	return weighted{c.Weigh(x, n, mask, nil), 1}
}

// leastWeight is the least weight of a past command that counts.
const leastWeight = 1e-12

// pastCommands appends what acts of each row of the history: P×len(spans).
func (c *compiler) pastCommands(spans []Span) (terms []weighted) {
	if c.past == program.None {
		return nil
	}
	K, P, n, edges := c.m.K, c.m.P, len(spans), c.m.History.Edges
	for row := range edges {
		from, to := math.Inf(-1), 0.
		if row < len(edges)-1 {
			from = -edges[row]
		}
		if row > 0 {
			to = -edges[row-1]
		}
		var entries []program.Entry
		weights, some := make([]float64, P*n), false
		for j, at := range spans {
			entries = append(entries, program.Entry{To: j, W: 1})
			for p, r := range c.m.Actuators {
				w := at.Factor * r.Share(from, to, at.From, at.To)
				if weights[p*n+j] = w; math.Abs(w) < leastWeight {
					weights[p*n+j] = 0
				}
				some = some || weights[p*n+j] != 0
			}
		}
		if !some {
			continue
		}
		var places []int
		for p := range P {
			places = append(places, row*(K+P)+K+p)
		}
		terms = append(terms, weighted{c.Weigh(c.Columns(c.Some(c.past, places...), n, entries), n, weights, nil), 1})
	}
	return terms
}
