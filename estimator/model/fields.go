package model

import (
	"github.com/dgm-robotics/dgm/estimator/actuator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

// The fields of every part of a model, in the order in which they are written.
// FORMAT.md lists the same.

func (m *Model) fields(c *coder, version int) {
	c.text("vehicle", &m.Vehicle)
	list(c, "channels", &m.Channels, channelFields)
	c.float("horizon", &m.Horizon)
	c.int("points", &m.Points)
	c.flag("displacement", &m.Displacement)
	c.object("inputs", func(c *coder) { inputFields(&m.Inputs, c) })
	c.floats("origin", &m.Origin)
	c.floats("scale", &m.Scale)
	c.floats("noise_knots", &m.NoiseKnots)
	members := func(m *Member, c *coder) { memberFields(m, c, version) }
	list(c, "members", &m.Members, members)
	list(c, "refits", &m.Refits, members)
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
		if version > 1 {
			c.float("leverage", &r.Leverage)
			c.float("input", &r.Input)
		}
	})
	c.object("motion", func(c *coder) {
		c.floats("usual", &m.RMSDisplacement.Typical)
		c.float("least", &m.RMSDisplacement.Min)
		c.float("most", &m.RMSDisplacement.Max)
		c.floats("power", &m.RMSDisplacement.Exponent)
	})
	if version > 1 {
		list(c, "calibration", &m.Calibration, func(p *Calibration, c *coder) { calibrationFields(p, c, version) })
		c.floats("bound", &m.Bound)
		if c.optional("joint", len(m.Joint) > 0) {
			list(c, "joint", &m.Joint, jointFields)
		}
	}
	c.object("dynamics", func(c *coder) { netFields(&m.Dynamics.Net, c) })
	if version == 1 {
		m.firstStack(c)
	} else {
		list(c, "stack", &m.Stack, func(p *Component, c *coder) { componentFields(p, c, version) })
		c.object("history", func(c *coder) {
			c.floats("edges", &m.History.Edges)
		})
	}
	if version >= versionWithActuators && c.optional("actuators", len(m.Actuators) > 0) {
		list(c, "actuators", &m.Actuators, func(r *actuator.Response, c *coder) {
			c.float("dead", &r.Dead)
			c.float("lag", &r.Lag)
		})
	}
	c.object("baseline", func(c *coder) {
		c.float("step", &m.Baseline.Step)
		c.floats("a", &m.Baseline.A)
		c.floats("b", &m.Baseline.B)
		c.floats("c", &m.Baseline.C)
	})
	c.floats("linear_std", &m.LinearStd)
	if c.optional("ridge", len(m.Ridge.Direct.Levels) > 0) {
		c.object("ridge", func(c *coder) {
			c.floats("edges", &m.Ridge.History.Edges)
			directFields(&m.Ridge.Direct, c, version)
		})
	}
	if c.optional("latency", len(m.Latency) > 0) {
		list(c, "latency", &m.Latency, latencyFields)
	}
	if c.optional("adaptation", len(m.Adaptation.Rate) > 0) {
		c.object("adaptation", func(c *coder) {
			c.floats("rate", &m.Adaptation.Rate)
			if c.optional("equation", m.Adaptation.Equation.Degree > 0) {
				c.object("equation", func(c *coder) { equationFields(&m.Adaptation.Equation, c) })
			}
		})
	}
	if c.optional("filter", m.Filter != nil) {
		if m.Filter == nil {
			m.Filter = new(Filter)
		}
		c.object("filter", func(c *coder) { filterFields(m.Filter, c) })
	}
	c.object("provenance", func(c *coder) {
		p := &m.Provenance
		c.text("tool", &p.Tool)
		c.text("data_hash", &p.DataHash)
		c.text("config", &p.Config)
		c.uint("seed", &p.Seed)
		c.text("scores", &p.Scores)
		c.text("partial", &p.Partial)
		c.text("verdict", &p.Verdict)
		if c.optional("segments", len(p.Segments) > 0) {
			array(c, "segments", &p.Segments, (*msgbin.Writer).String, func(r *msgbin.Reader) (string, error) { return r.String(maxKey) })
		}
	})
	list(c, "self_checks", &m.Checks, func(s *SelfCheck, c *coder) { checkFields(s, c, version) })
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
	if c.optional("estimated", ch.Estimated) {
		c.flag("estimated", &ch.Estimated)
	}
	if c.decodes() {
		ch.Role = channel.Role(role)
	}
}

func latencyFields(l *Latency, c *coder) {
	c.flag("known", &l.Known)
	c.float("dead", &l.Dead)
	c.float("dead_low", &l.DeadLow)
	c.float("dead_high", &l.DeadHigh)
	c.float("lag", &l.Lag)
	c.float("lag_low", &l.LagLow)
	c.float("lag_high", &l.LagHigh)
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

func memberFields(m *Member, c *coder, version int) {
	c.int("d", &m.Map.D)
	c.int("f", &m.Map.F)
	c.int("basis", &m.Map.Basis.Terms)
	c.flag("gated", &m.Map.Gated)
	c.object("core", func(c *coder) { netFields(&m.Map.Core, c) })
	c.object("head", func(c *coder) { netFields(&m.Map.Head, c) })
	c.floats("omega", &m.Map.Omega)
	c.uint("omega_seed", &m.OmegaSeed)
	c.floats("log_amplitude", &m.Map.LogAmp)
	list(c, "posterior", &m.Posterior, func(p *Posterior, c *coder) { posteriorFields(p, c, version) })
}

func posteriorFields(p *Posterior, c *coder, version int) {
	c.matrix("weights", &p.Weights, double)
	c.floats("log_sigma", &p.LogSigma)
	// Exact kernels take their variance as a difference: they need all digits.
	exact := p.Exact != nil
	c.flag("exact", &exact)
	if !exact {
		factor := short
		if version != 3 {
			factor = single
		}
		c.matrix("inverse_factor", &p.InverseFactor, factor)
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

func checkFields(s *SelfCheck, c *coder, version int) {
	choice(c, "readout", &s.Readout, Hold)
	c.floats("x0", &s.X0)
	c.floats("u", &s.U)
	c.floats("plan", &s.Plan)
	if version > 1 {
		c.floats("history", &s.History)
	}
	c.floats("times", &s.Times)
	c.floats("mean", &s.Mean)
	c.floats("std", &s.Std)
	c.floats("obs_std", &s.ObsStd)
}
