package dynamics

import (
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// stack is the prior dynamics.
type stack struct {
	displacement program.Reg // K×T, state units
	spread       program.Reg // K×T: between components and members; None: 0
	disagreement program.Reg // K×T: weighted sum of that of direct maps; None: 0
	direct       *directMap  // the first of the stack; nil without
}

// stack appends the weighted sum of the components,
//
//	d(t) = d_0(t) + Σ_{j≥1} w_j(t) f_j(t) (d_j(t) − d_0(t)) + w_r(t) f_r(t) d_r(t)
//
// d_r being of a map of residuals.
func (c *compiler) stack() stack {
	m, K, T := c.m, c.m.K, c.T()
	if len(m.Stack) == 0 {
		return stack{displacement: c.Weigh(c.x, T, make([]float64, K*T), nil), spread: program.None, disagreement: program.None}
	}
	var s stack
	for i := range m.Stack {
		if m.Stack[i].Kind == model.Direct && s.direct == nil {
			s.direct = c.newDirectMap(&m.Stack[i].Direct)
		}
	}
	first := c.component(&m.Stack[0], s.direct)
	f := c.newFade(s.direct)
	terms := []weighted{{first.displacement, 1}}
	var moved, weights []program.Reg // d_j − d_0, w_j f_j
	var members []component
	var apart []weighted // of maps of residuals, see disagreement
	for i := 1; i < len(m.Stack); i++ {
		of := &m.Stack[i]
		table, _ := model.ForCondition(of.Weights, c.s.Condition)
		if !slices.ContainsFunc(table, func(v float64) bool { return v != 0 }) {
			continue
		}
		part := c.component(of, s.direct)
		w := c.faded(f, of, c.table(table, c.times))
		difference := part.displacement
		if !of.Residual {
			difference = c.sum(K, nil, weighted{part.displacement, 1}, weighted{first.displacement, -1})
		}
		terms = append(terms, weighted{c.Times(w, difference), 1})
		if of.Residual { // by itself it is no prediction, of which others can be apart
			apart = c.addDisagreement(apart, part, w)
			continue
		}
		moved, weights, members = append(moved, difference), append(weights, w), append(members, part)
	}
	s.displacement = c.sum(K, nil, terms...)
	s.spread = c.spread(s.displacement, first, moved, weights, members)
	s.disagreement = c.disagreement(apart, first, weights, members)
	return s
}

// disagreement appends those of maps, times the squares of their weights, to terms, and their sum: K×T.
func (c *compiler) disagreement(terms []weighted, first component, weights []program.Reg, members []component) program.Reg {
	if first.bounded && first.variance != program.None {
		terms = c.addDisagreement(terms, first, c.rest(weights))
	}
	for i, of := range members {
		terms = c.addDisagreement(terms, of, weights[i])
	}
	if len(terms) == 0 {
		return program.None
	}
	return c.sum(c.m.K, nil, terms...)
}

// addDisagreement appends that of one component with weights (K×T).
func (c *compiler) addDisagreement(terms []weighted, of component, w program.Reg) []weighted {
	if !of.bounded || of.variance == program.None {
		return terms
	}
	return append(terms, weighted{c.Times(c.Function(program.Square, w), of.variance), 1})
}

// rest appends the weight of the first component, 1 − Σ w: K×T.
func (c *compiler) rest(weights []program.Reg) program.Reg {
	K := c.m.K
	terms := []weighted{{c.Constant(K, c.T(), same(K*c.T(), 1)), 1}}
	for _, w := range weights {
		terms = append(terms, weighted{w, -1})
	}
	return c.sum(K, nil, terms...)
}

// faded appends the weights of a component (K×T) times its fade.
func (c *compiler) faded(f fade, of *model.Component, table []float64) program.Reg {
	factor := f.factor(of)
	if factor == program.None {
		return c.Constant(c.m.K, c.T(), table)
	}
	return c.Weigh(c.rowsOf(factor, c.m.K), c.T(), table, nil)
}

// component is one component of the stack.
type component struct {
	displacement, variance program.Reg
	bounded                bool // variance is of by how much a map is bounded
}

// component appends the displacement of a component, and the variance between its members or, of a map, by how much it is bounded (None: 0).
func (c *compiler) component(of *model.Component, d *directMap) (out component) {
	out.variance = program.None
	switch of.Kind {
	case model.Equation:
		out.displacement, out.variance = c.equation(of.Members)
	case model.Velocity:
		out.displacement = c.velocity()
	default:
		if d == nil || d.m != &of.Direct {
			d = c.newDirectMap(&of.Direct)
		}
		out.displacement, out.variance = d.displacement(of.Residual)
		out.bounded = true
	}
	return out
}

// velocity appends v0·t where a channel's derivative is measured, else 0.
func (c *compiler) velocity() program.Reg {
	states := c.m.Channels[:c.m.K]
	var of []int
	var t []float64
	for _, s := range states {
		at := -1
		if s.Derivative != "" {
			at = channel.Index(states, s.Derivative)
		}
		of, t = append(of, at), append(t, c.times...)
	}
	return c.Weigh(c.pick(c.x, of, same(len(of), 1)), c.T(), t, nil)
}

// spread appends how far components and members are apart: the root of the mean square distance of the components from
// their weighted sum, with the variance between members of a component.
//
//	spread² = Σ_j w_j² var_j + (1 − Σ w_j)² var_0 + mean_j (d_j − d)²
func (c *compiler) spread(d program.Reg, first component, moved, weights []program.Reg, members []component) program.Reg {
	K, n := c.m.K, float64(1+len(moved))
	var terms []weighted
	addVariance := func(w, variance program.Reg) {
		if variance != program.None {
			terms = append(terms, weighted{c.Times(c.Function(program.Square, w), variance), 1})
		}
	}
	if first.variance != program.None {
		addVariance(c.rest(weights), first.variance)
	}
	for i := range members {
		addVariance(weights[i], members[i].variance)
	}
	if len(moved) > 0 {
		whole := c.sum(K, nil, weighted{d, 1}, weighted{first.displacement, -1})
		terms = append(terms, weighted{c.Function(program.Square, whole), 1 / n})
		for _, r := range moved {
			terms = append(terms, weighted{c.Function(program.Square, c.sum(K, nil, weighted{r, 1}, weighted{whole, -1})), 1 / n})
		}
	}
	if len(terms) == 0 {
		return program.None
	}
	return c.Function(program.Sqrt, c.sum(K, nil, terms...))
}

// first returns a stack at the first n of its times.
func (c *compiler) first(s stack, n int) stack {
	var entries []program.Entry
	for i := range n {
		entries = append(entries, program.Entry{To: i, From: i, W: 1})
	}
	s.displacement = c.Columns(s.displacement, n, entries)
	for _, r := range []*program.Reg{&s.spread, &s.disagreement} {
		if *r != program.None {
			*r = c.Columns(*r, n, entries)
		}
	}
	c.times = c.times[:n]
	return s
}
