package model

import (
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// The fields of every part of a model, in the order in which they are written.
// FORMAT.md lists the same.

func (m *Model) fields(c *coder) {
	c.text("vehicle", &m.Vehicle)
	list(c, "channels", &m.Channels, channelFields)
	c.float("horizon", &m.Horizon)
	c.int("points", &m.Points)
	c.flag("displacement", &m.Displacement)
	c.flag("velocity", &m.Velocity)
	c.object("inputs", func(c *coder) { inputFields(&m.Inputs, c) })
	c.floats("origin", &m.Origin)
	c.floats("scale", &m.Scale)
	c.floats("noise_knots", &m.NoiseKnots)
	list(c, "members", &m.Members, memberFields)
	list(c, "refits", &m.Refits, memberFields)
	c.floats("sensor", &m.Sensor)
	c.matrix("gain", &m.NetworkWeight, double)
	c.matrix("widen", &m.ScaleFactor, double)
	c.floats("growth", &m.OODExponent)
	c.object("region", func(c *coder) {
		r := &m.OOD
		c.floats("mean", &r.Mean)
		c.floats("inverse", &r.Inverse)
		c.matrix("points", &r.Points, single)
		c.float("distance", &r.Distance)
		c.float("near", &r.Near)
		c.float("far", &r.Far)
		c.matrix("low", &r.Low, double)
		c.matrix("high", &r.High, double)
		c.float("variance", &r.Variance)
	})
	c.object("motion", func(c *coder) {
		c.floats("usual", &m.RMSDisplacement.Typical)
		c.float("least", &m.RMSDisplacement.Min)
		c.float("most", &m.RMSDisplacement.Max)
		c.floats("power", &m.RMSDisplacement.Exponent)
	})
	c.object("dynamics", func(c *coder) { netFields(&m.Dynamics.Net, c) })
	c.object("prior", func(c *coder) { equationFields(&m.PriorDynamics, c) })
	c.object("companion", func(c *coder) { equationFields(&m.Secondary, c) })
	c.floats("blend", &m.LinearWeight)
	c.object("baseline", func(c *coder) {
		c.float("step", &m.Baseline.Step)
		c.floats("a", &m.Baseline.A)
		c.floats("b", &m.Baseline.B)
		c.floats("c", &m.Baseline.C)
	})
	c.floats("linear_std", &m.LinearStd)
	c.object("provenance", func(c *coder) {
		p := &m.Provenance
		c.text("tool", &p.Tool)
		c.text("data_hash", &p.DataHash)
		c.text("config", &p.Config)
		c.uint("seed", &p.Seed)
		c.text("scores", &p.Scores)
		c.text("partial", &p.Partial)
		c.text("verdict", &p.Verdict)
	})
	list(c, "self_checks", &m.Checks, checkFields)
}

func equationFields(r *priordynamics.Model, c *coder) {
	c.float("step", &r.Step)
	c.int("degree", &r.Degree)
	c.object("lift", func(c *coder) { liftFields(&r.Lift, c) })
	c.floats("input_mean", &r.UMean)
	c.floats("input_std", &r.UStd)
	c.floats("bound", &r.Bound)
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

func channelFields(ch *channel.Channel, c *coder) {
	role := string(ch.Role)
	c.text("name", &ch.Name)
	c.text("unit", &ch.Unit)
	c.text("role", &role)
	c.text("derivative", &ch.Derivative)
	c.float("period", &ch.Period)
	c.flag("invariant", &ch.Invariant)
	c.float("noise", &ch.Noise)
	c.text("frame", &ch.Frame)
	ch.Role = channel.Role(role)
}

func inputFields(in *feature.Inputs, c *coder) {
	c.float("time_mean", &in.TimeMean)
	c.float("time_std", &in.TimeStd)
	c.int("knots", &in.Knots)
	c.flag("causal", &in.Causal)
	c.floats("input_mean", &in.InputMean)
	c.floats("input_std", &in.InputStd)
	c.object("lift", func(c *coder) { liftFields(&in.Lift, c) })
}

func liftFields(l *channel.Lift, c *coder) {
	kind := make([]int, len(l.Kind))
	for i, k := range l.Kind {
		kind[i] = int(k)
	}
	c.ints("of", &l.Of, maxChannels-1)
	c.ints("kind", &kind, int(channel.Cosine))
	c.floats("omega", &l.Omega)
	c.floats("mean", &l.Mean)
	c.floats("std", &l.Std)
	l.Kind = l.Kind[:0]
	for _, k := range kind {
		l.Kind = append(l.Kind, channel.Embedding(k))
	}
}

func memberFields(m *Member, c *coder) {
	c.int("d", &m.Map.D)
	c.int("f", &m.Map.F)
	c.int("basis", &m.Map.Basis.Terms)
	c.flag("gated", &m.Map.Gated)
	c.object("core", func(c *coder) { netFields(&m.Map.Core, c) })
	c.object("head", func(c *coder) { netFields(&m.Map.Head, c) })
	c.floats("omega", &m.Map.Omega)
	c.uint("omega_seed", &m.OmegaSeed)
	c.floats("log_amplitude", &m.Map.LogAmp)
	list(c, "posterior", &m.Posterior, posteriorFields)
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

func posteriorFields(p *Posterior, c *coder) {
	c.matrix("weights", &p.Weights, double)
	c.floats("log_sigma", &p.LogSigma)
	// Exact kernels take their variance as a difference: they need all digits.
	exact := p.Exact != nil
	c.flag("exact", &exact)
	if !exact {
		c.matrix("inverse_factor", &p.InverseFactor, single)
		return
	}
	c.matrix("inverse_factor", &p.InverseFactor, double)
	if p.Exact == nil {
		p.Exact = new(Exact)
	}
	c.int("n", &p.Exact.N)
	c.matrix("z", &p.Exact.Z, double)
	c.floats("gate", &p.Exact.Gate)
	c.floats("b", &p.Exact.B)
}

func checkFields(s *SelfCheck, c *coder) {
	choice(c, "readout", &s.Readout, Hold)
	c.floats("x0", &s.X0)
	c.floats("u", &s.U)
	c.floats("plan", &s.Plan)
	c.floats("times", &s.Times)
	c.floats("mean", &s.Mean)
	c.floats("std", &s.Std)
	c.floats("obs_std", &s.ObsStd)
}
