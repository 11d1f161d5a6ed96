package model

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/linear"
)

// FieldError is why a field of a model is refused.
type FieldError struct {
	Field  string
	Reason string
}

func (e *FieldError) Error() string { return fmt.Sprintf("field %s: %s", e.Field, e.Reason) }

// dimension limits: a model beyond them is a damaged file or a mistake.
const (
	maxChannels = 256
	maxWidth    = 4096
	maxPoints   = 10000
	maxRoll     = 10000 // steps of the prior over a horizon

	// Every self-check is evaluated at load.
	maxChecks     = 16
	maxCheckTimes = 100
)

// complete sets what is another value yet.
func complete[T comparable](field *T, value T) {
	if *field != value {
		*field = value
	}
}

// Check returns a *FieldError for the first thing in the model that does not
// agree with the rest, or nil. It also completes what follows from other fields
// (K, P, the inputs' horizon, each map's K); of a complete model it writes nothing, so that
// several predictors of it can be made at a time.
func (m *Model) Check() error {
	c := &checker{}
	if err := channel.Check(m.Channels); err != nil {
		return &FieldError{"channels", err.Error()}
	}
	states := channel.Select(m.Channels, channel.State)
	inputs := channel.Select(m.Channels, channel.Input)
	complete(&m.K, len(states))
	complete(&m.P, len(inputs))
	c.that(len(m.Channels) <= maxChannels, "channels", "%d channels, at most %d", len(m.Channels), maxChannels)
	c.that(m.K+m.P == len(m.Channels), "channels", "only states and inputs belong in a model")
	for i, ch := range m.Channels {
		c.that((ch.Role == channel.State) == (i < m.K), "channels", "states must come before inputs")
	}
	c.positive("horizon", m.Horizon)
	c.that(m.Points >= 1 && m.Points <= maxPoints, "points", "%d is outside 1…%d", m.Points, maxPoints)
	complete(&m.Inputs.Horizon, m.Horizon)
	m.checkInputs(c)
	if !m.Displacement {
		c.length("origin", m.Origin, m.K)
	}
	c.length("scale", m.Scale, m.K)
	c.allPositive("scale", m.Scale)
	Q := len(m.NoiseKnots)
	c.that(Q >= 1 && Q <= 64, "noise_knots", "%d knots, expected 1…64", Q)
	c.finite("noise_knots", m.NoiseKnots)
	for i, tau := range m.NoiseKnots {
		c.that(tau >= 0 && (i == 0 || tau > m.NoiseKnots[i-1]), "noise_knots", "must ascend from 0 or later")
	}
	c.length("sensor", m.Sensor, m.K)
	for _, r := range m.Sensor {
		c.that(r >= 0, "sensor", "a variance is negative")
	}
	c.that(len(m.NetworkWeight) <= Conditions, "gain", "%d conditions, at most %d", len(m.NetworkWeight), Conditions)
	for i, g := range m.NetworkWeight {
		field := fmt.Sprintf("gain[%d]", i)
		c.that(m.Displacement, field, "belongs to a model of displacements")
		c.length(field, g, m.K*Q)
		c.each(field, g, func(v float64) bool { return v >= 0 && v <= 1 }, "a share of %v is outside 0…1")
	}
	c.that(len(m.ScaleFactor) <= Conditions, "widen", "%d conditions, at most %d", len(m.ScaleFactor), Conditions)
	for i, w := range m.ScaleFactor {
		field := fmt.Sprintf("widen[%d]", i)
		c.length(field, w, m.K*Q)
		c.each(field, w, func(v float64) bool { return v > 0 }, "%v is not a factor: it must be positive")
	}
	c.that(len(m.OODExponent) == 0 || len(m.OODExponent) == len(m.ScaleFactor), "growth", "of %d readouts, and widen has %d", len(m.OODExponent), len(m.ScaleFactor))
	c.finite("growth", m.OODExponent)
	c.each("growth", m.OODExponent, func(v float64) bool { return v >= 0 && v <= 10 }, "%v is outside 0…10")
	m.checkMotion(c, Q)
	m.checkCalibration(c)
	m.checkJoint(c)
	c.that(len(m.Members) >= 1, "members", "none")
	for i := range m.Members {
		m.checkMember(c, &m.Members[i], fmt.Sprintf("members[%d]", i), Q, i == 0 || m.Members[i].GivesVariance())
	}
	for i := range m.Refits {
		m.checkMember(c, &m.Refits[i], fmt.Sprintf("refits[%d]", i), Q, false)
	}
	m.checkRest(c)
	if c.err != nil {
		return c.err
	}
	return nil
}

func (m *Model) checkMotion(c *checker, Q int) {
	o := &m.RMSDisplacement
	c.that(len(o.Exponent) == 0 || len(o.Exponent) == len(m.ScaleFactor), "motion.power", "of %d readouts, and widen has %d", len(o.Exponent), len(m.ScaleFactor))
	c.finite("motion.power", o.Exponent)
	c.each("motion.power", o.Exponent, func(v float64) bool { return v >= 0 && v <= 10 }, "%v is outside 0…10")
	c.finite("motion", []float64{o.Min, o.Max})
	if len(o.Typical) == 0 {
		return
	}
	c.that(m.Displacement, "motion.usual", "belongs to a model of displacements")
	c.length("motion.usual", o.Typical, m.K*Q)
	c.each("motion.usual", o.Typical, func(v float64) bool { return v >= 0 }, "%v is negative")
	c.that(o.Min > 0 && o.Min <= 1, "motion.least", "%v is outside 0…1", o.Min)
	c.that(o.Max >= 1 && o.Max <= 1e6, "motion.most", "%v is outside 1…1e6", o.Max)
}

func (m *Model) checkRegion(c *checker) {
	r, L := &m.OOD, m.Inputs.Lift.Dim()
	c.finite("region", []float64{r.Distance, r.Leverage, r.Input, r.Near, r.Far, r.Variance})
	c.that(r.Distance >= 0 && r.Leverage >= 0 && r.Input >= 0 && r.Near >= 0 && r.Far >= 0 && r.Variance >= 0, "region", "a distance is negative")
	if len(r.Points) > 0 {
		c.length("region.mean", r.Mean, L)
		c.length("region.inverse", r.Inverse, L*(L+1)/2)
		c.rows("region.points", r.Points, len(r.Points), L)
	}
	c.that(len(r.Points) > 0 || r.Distance == 0 && r.Near == 0, "region.points", "none, so that no distance can be measured")
	if len(r.Low) > 0 || len(r.High) > 0 {
		c.that(len(r.Low) <= Readouts, "region.low", "%d readouts, at most %d", len(r.Low), Readouts)
		c.rows("region.low", r.Low, len(r.Low), m.P)
		c.rows("region.high", r.High, len(r.Low), m.P)
	}
}

func (m *Model) checkInputs(c *checker) {
	in := &m.Inputs
	c.positive("inputs.time_std", in.TimeStd)
	c.finite("inputs.time_mean", []float64{in.TimeMean})
	c.length("inputs.input_mean", in.InputMean, m.P)
	c.length("inputs.input_std", in.InputStd, m.P)
	c.allPositive("inputs.input_std", in.InputStd)
	c.that(in.Knots >= 0 && in.Knots <= maxWidth, "inputs.knots", "%d is outside 0…%d", in.Knots, maxWidth)
	c.that(m.P > 0 || in.Knots == 0, "inputs.knots", "%d knots without an input", in.Knots)
	c.lift("inputs.lift", &in.Lift, m.K, false)
}

func (m *Model) checkMember(c *checker, e *Member, path string, noiseKnots int, variance bool) {
	p := &e.Map
	complete(&p.K, m.K)
	c.that(p.D >= 1 && p.D <= maxWidth, path+".d", "%d is outside 1…%d", p.D, maxWidth)
	c.that(p.F >= 0 && p.F <= maxWidth && p.F%2 == 0, path+".f", "%d is not an even number within 0…%d", p.F, maxWidth)
	c.that(p.Basis.Terms >= 0 && p.Basis.Terms <= 8, path+".basis", "%d is outside 0…8", p.Basis.Terms)
	c.that(p.Gated == m.Displacement, path+".gated", "must be as displacement is")
	c.net(path+".core", &p.Core, m.Inputs.Dim(), -1)
	if c.err != nil {
		return
	}
	c.net(path+".head", &p.Head, p.Core.Out(), p.K+p.K*p.D)
	c.length(path+".omega", p.Omega, p.F/2*p.D)
	c.length(path+".log_amplitude", p.LogAmp, 2*p.K)
	c.that(len(e.Posterior) >= 1 && len(e.Posterior) <= Readouts, path+".posterior", "%d readouts, expected 1…%d", len(e.Posterior), Readouts)
	for r := range e.Posterior {
		if c.err != nil {
			return
		}
		q := &e.Posterior[r]
		field := fmt.Sprintf("%s.posterior[%d]", path, r)
		T := p.Features()
		c.that((q.Exact != nil) == (e.Posterior[0].Exact != nil), field+".exact", "must be the same for both readouts")
		if x := q.Exact; x != nil {
			T = x.N
			c.that(p.F == 0, path+".f", "%d with the exact kernel", p.F)
			c.that(x.N >= 1 && x.N <= 1<<14, field+".n", "%d is outside 1…%d", x.N, 1<<14)
			c.rows(field+".z", x.Z, m.K, x.N*p.D)
			c.length(field+".gate", x.Gate, x.N)
			c.length(field+".b", x.B, x.N*p.Basis.Dim(p.Inputs()))
		}
		c.that(T > 0, path+".f", "no features at all")
		c.rows(field+".weights", q.Weights, m.K, T)
		c.length(field+".log_sigma", q.LogSigma, m.K*noiseKnots)
		if variance {
			c.rows(field+".inverse_factor", q.InverseFactor, m.K, T*(T+1)/2)
		}
	}
}

func (m *Model) checkRest(c *checker) {
	if c.err != nil {
		return
	}
	m.checkRegion(c)
	c.net("dynamics", &m.Dynamics.Net, m.Inputs.Lift.Dim()+m.P, 2*m.K)
	m.checkStack(c)
	if len(m.LinearStd) > 0 {
		c.length("linear_std", m.LinearStd, m.K*len(m.NoiseKnots))
		c.allPositive("linear_std", m.LinearStd)
	}
	m.checkRidge(c)
	m.checkAdaptation(c)
	m.checkFilter(c)
	m.checkLatency(c)
	m.checkActuators(c)
	c.finite("baseline.step", []float64{m.Baseline.Step})
	if len(m.Baseline.A) > 0 {
		Z := linear.NewLifting(m.Channels[:m.K]).Z
		c.positive("baseline.step", m.Baseline.Step)
		c.length("baseline.a", m.Baseline.A, Z*Z)
		c.length("baseline.b", m.Baseline.B, Z*m.P)
		c.length("baseline.c", m.Baseline.C, Z)
	}
	c.that(len(m.Checks) <= maxChecks, "self_checks", "%d of them, at most %d", len(m.Checks), maxChecks)
	for i := range m.Checks[:min(len(m.Checks), maxChecks)] {
		s, path := &m.Checks[i], fmt.Sprintf("self_checks[%d]", i)
		n := len(s.Times) * m.K
		c.that(s.Readout < Readouts, path+".readout", "%d is unknown", s.Readout)
		c.length(path+".x0", s.X0, m.K)
		c.length(path+".u", s.U, m.P)
		c.that(m.P == 0 || len(s.Plan)%m.P == 0, path+".plan", "%d numbers are no whole number of rows", len(s.Plan))
		c.that(s.Readout == Hold || m.P == 0 || len(s.Plan) > 0, path+".plan", "none for the readout plan")
		c.finite(path+".plan", s.Plan)
		c.that(len(s.History)%(m.K+m.P) == 0, path+".history", "%d numbers are no whole number of rows", len(s.History))
		c.finite(path+".history", s.History)
		c.that(len(s.Times) >= 1 && len(s.Times) <= maxCheckTimes, path+".times", "%d times, expected 1…%d", len(s.Times), maxCheckTimes)
		c.finite(path+".times", s.Times)
		c.each(path+".times", s.Times, func(v float64) bool { return !m.Displacement || (v > 0 && v <= m.Horizon*(1+1e-9)) }, "%v s is outside the horizon (0, %v] s", m.Horizon)
		c.length(path+".mean", s.Mean, n)
		c.length(path+".std", s.Std, n)
		c.length(path+".obs_std", s.ObsStd, n)
	}
}
