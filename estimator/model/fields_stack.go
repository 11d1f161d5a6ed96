package model

import (
	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

func componentFields(p *Component, c *coder, version int) {
	choice(c, "kind", &p.Kind, Direct)
	list(c, "members", &p.Members, func(r *priordynamics.Model, c *coder) {
		equationFields(r, c)
		netFields(&r.Net, c)
		c.floats("net_scale", &r.NetScale)
		if c.optional("chain", !r.Chain.Empty()) {
			c.object("chain", func(c *coder) { chainFields(&r.Chain, c) })
		}
		if version >= versionWithMotion && c.optional("motion", !r.Motion.Empty()) {
			c.object("motion", func(c *coder) { motionFields(&r.Motion, c) })
		}
	})
	if p.Kind == Direct {
		c.object("direct", func(c *coder) { directFields(&p.Direct, c, version) })
		if version >= versionWithResiduals && c.optional("residual", p.Residual) {
			c.flag("residual", &p.Residual)
		}
	}
	c.matrix("weights", &p.Weights, double)
	c.float("near", &p.Near)
	c.float("far", &p.Far)
}

func directFields(d *direct.Model, c *coder, version int) {
	after := make([]int, len(d.Derivative)) // 0 = none
	for k, of := range d.Derivative {
		after[k] = of + 1
	}
	c.object("lift", func(c *coder) { liftFields(&d.Lift, c) })
	c.floats("input_mean", &d.UMean)
	c.floats("input_std", &d.UStd)
	if version > 2 && c.optional("input_range", len(d.Range) > 0) {
		if c.floats("input_range", &d.Range); len(d.Range) == 0 {
			c.fail("input_range", "is empty: leave it out where it is not known")
		}
	}
	if version >= versionWithChanges && c.optional("input_change", len(d.Change) > 0) {
		if c.floats("input_change", &d.Change); len(d.Change) == 0 {
			c.fail("input_change", "is empty: leave it out where it is not known")
		}
	}
	c.ints("derivative", &after, maxChannels)
	c.int("blocks", &d.Blocks)
	list(c, "levels", &d.Levels, func(l *direct.Level, c *coder) {
		c.int("readout", &l.Readout)
		c.int("rows", &l.Rows)
		c.int("degree", &l.Degree)
		c.floats("times", &l.Times)
		c.singles("weights", &l.Weights)
		c.floats("mean", &l.Mean)
		c.floats("std", &l.Std)
		c.singles("factor", &l.Factor)
		c.float("rest", &l.Rest)
		if version >= versionWithAgreement && c.optional("apart", len(l.Apart) > 0) {
			if c.floats("apart", &l.Apart); len(l.Apart) == 0 {
				c.fail("apart", "is empty: leave it out where the level stands alone")
			}
		}
	})
	if !c.decodes() {
		return
	}
	d.Derivative = d.Derivative[:0]
	for _, k := range after {
		d.Derivative = append(d.Derivative, k-1)
	}
}

// firstStack reads the prior dynamics of version 1: a difference equation, averaged with a
// secondary linear model, or constant velocity without an equation.
func (m *Model) firstStack(c *coder) {
	var velocity bool
	var prior, secondary priordynamics.Model
	var weight []float64
	c.flag("velocity", &velocity)
	c.object("prior", func(c *coder) { equationFields(&prior, c) })
	c.object("companion", func(c *coder) { equationFields(&secondary, c) })
	c.floats("blend", &weight)
	switch {
	case prior.Degree > 0:
		m.Stack = []Component{{Kind: Equation, Members: []priordynamics.Model{prior}}}
	case velocity:
		m.Stack = []Component{{Kind: Velocity}}
	}
	if len(weight) == 0 {
		return
	}
	if prior.Degree == 0 || secondary.Degree == 0 {
		c.fail("blend", "needs prior dynamics and a secondary linear model")
		return
	}
	m.Stack = append(m.Stack, Component{Kind: Equation, Members: []priordynamics.Model{secondary}, Weights: [][]float64{weight, weight}})
}
