package model

import (
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/motion"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

func equationFields(r *priordynamics.Model, c *coder) {
	c.float("step", &r.Step)
	c.int("degree", &r.Degree)
	c.object("lift", func(c *coder) { liftFields(&r.Lift, c) })
	c.floats("input_mean", &r.UMean)
	c.floats("input_std", &r.UStd)
	c.floats("bound", &r.Bound)
	if c.optional("ellipsoid", len(r.Ellipsoid) > 0) {
		c.floats("ellipsoid", (*[]float64)(&r.Ellipsoid))
	}
	c.floats("weights", &r.Weights)
	c.object("body", func(c *coder) { bodyFields(&r.Body, c) })
}

func bodyFields(b *priordynamics.Body, c *coder) {
	c.ints("position", &b.Position, maxChannels-1)
	c.ints("velocity", &b.Velocity, maxChannels-1)
	c.ints("attitude", &b.Attitude, maxChannels-1)
	c.ints("rates", &b.Rates, maxChannels-1)
	c.floats("sign", &b.Sign)
	c.float("omega", &b.Omega)
	c.flag("in_body", &b.InBody)
}

func chainFields(a *priordynamics.Chain, c *coder) {
	c.ints("angles", &a.Angles, maxChannels-1)
	c.ints("rates", &a.Rates, maxChannels-1)
	c.floats("unit", &a.Unit)
	c.flag("relative", &a.Relative)
	c.floats("mass", &a.Mass)
	c.floats("rotor", &a.Rotor)
	c.floats("sine", &a.Sine)
	c.floats("cosine", &a.Cosine)
	c.floats("viscous", &a.Viscous)
	c.floats("dry", &a.Dry)
	c.floats("gain", &a.Gain)
}

func liftFields(l *channel.Lift, c *coder) {
	kind := make([]int, len(l.Kind))
	for i, k := range l.Kind {
		kind[i] = int(k)
	}
	c.ints("of", &l.Of, maxChannels-1)
	c.ints("kind", &kind, int(channel.Friction))
	c.floats("omega", &l.Omega)
	c.floats("mean", &l.Mean)
	c.floats("std", &l.Std)
	if !c.decodes() {
		return
	}
	l.Kind = l.Kind[:0]
	for _, k := range kind {
		l.Kind = append(l.Kind, channel.Embedding(k))
	}
}

func netFields(n *mlp.Net, c *coder) {
	list(c, "layers", &n.Layers, func(l *mlp.Layer, c *coder) {
		c.int("in", &l.In)
		c.int("out", &l.Out)
		choice(c, "activation", &l.Act, mlp.Tanh)
		c.floats("w", &l.W)
		c.floats("b", &l.B)
	})
}

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
