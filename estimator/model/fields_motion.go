package model

import "github.com/dgm-robotics/dgm/estimator/motion"

func motionFields(e *motion.Equation, c *coder) {
	c.text("kind", &e.Kind)
	list(c, "roles", &e.Roles, func(r *motion.Role, c *coder) {
		c.text("name", &r.Name)
		c.int("state", &r.State)
		c.float("scale", &r.Scale)
		c.flag("turns", &r.Turns)
	})
	c.flag("world", &e.World)
	c.flag("squared", &e.Squared)
	c.floats("bound", &e.Bound)
	list(c, "parameters", &e.Parameters, func(p *motion.Parameter, c *coder) {
		c.text("name", &p.Name)
		c.text("unit", &p.Unit)
		c.float("value", &p.Value)
		c.float("low", &p.Low)
		c.float("high", &p.High)
	})
}
