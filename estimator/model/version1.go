package model

import "github.com/dgm-robotics/dgm/estimator/priordynamics"

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
