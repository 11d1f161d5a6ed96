// Package modeltest makes models for tests: of any shape, with every feature of
// the format, conditioned on invented data so that their variances behave as
// trained ones do. Only tests import it.
package modeltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/actuator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/linear"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/motion"
	"github.com/dgm-robotics/dgm/estimator/ood"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// Shape lists the parts of a model. The zero value of an optional part omits it.
type Shape struct {
	K, P        int
	Core        []int // (optional) widths; defaults to 8-6
	D           int   // (optional) defaults to 2
	F           int   // random features; 0 with Exact
	Basis       int   // (optional)
	Exact       int   // (optional) observations of the exact kernel
	Knots       int   // (optional) defaults to 3 where there are inputs
	Members     int   // (optional) defaults to 1
	Refits      int   // (optional)
	Readouts    int   // (optional) posteriors of a member; defaults to 1
	Paper       bool  // the paper's form instead of the windows form
	ScaleFactor bool
	Calibrated  bool // with a calibration of every covariate
	Filtered    bool // a filter estimates the first state and its rate; noise and calibration are of the state
	Velocity    bool
	Prior       int  // (optional) degree of the prior dynamics
	Dry         bool // with a Prior: its equations have dry friction of the first rate
	Body        bool // with a Prior of 12 states: a rigid body's, the velocity in its axes
	Chain       bool // with a Prior of 4 states: the first equation's has two links
	Motion      bool // with a Prior of 4 states: the first equation is that of a differential drive
	Nets        int  // (optional) with a Prior: members of a further component, each with a net
	Direct      bool // with a Prior: a direct map is the last component, which fades
	Residual    bool // with Direct: a further one, of residuals, which fades
	History     int  // (optional) with Direct: rows of history that it reads
	Late        bool // with a Prior and inputs: these follow their commands late
	Range       bool // with Direct and inputs: many standard normal inputs leave the map's range
	Change      bool // with Range: so do changes of them
	Bounded     bool // with Direct and at least two rows of history: the level that reads them is bounded by two others
}

// Horizon of all models, s.
const Horizon = 0.8

// New makes a model; the same rng gives the same model. Channels come in fours:
// an angle and its rate, a position (invariant) and its velocity. It panics if
// the shape is invalid.
func New(s Shape, rng *rand.Rand) *model.Model {
	s = s.defaults()
	m := &model.Model{
		Vehicle: "test", Channels: channels(s.K, s.P), K: s.K, P: s.P, Horizon: Horizon, Points: 10,
		Displacement: !s.Paper, Inputs: inputs(s, rng), NoiseKnots: []float64{0, 0.1, 1},
	}
	if s.Paper {
		m.NoiseKnots = []float64{0}
	}
	for range s.K {
		m.Origin = append(m.Origin, rng.NormFloat64())
		m.Scale = append(m.Scale, 0.5+rng.Float64())
		m.Sensor = append(m.Sensor, 1e-4*rng.Float64())
	}
	if !s.Paper {
		m.Origin = nil
	}
	if s.Filtered {
		m.Sensor[0], m.Sensor[1] = 0.05+0.1*rng.Float64(), 0.05+0.1*rng.Float64()
		m.Filter = &model.Filter{R: slices.Clone(m.Sensor), Chains: []model.FilterChain{{Rate: 1, Q: 0.5}}, Start: slices.Repeat([]float64{1}, s.K+1), Gap: 0.1, Smoothed: true}
	}
	for i := range s.Members {
		m.Members = append(m.Members, member(m, s, uint64(i), rng))
	}
	for i := range s.Refits {
		e := member(m, s, uint64(s.Members+i), rng)
		for r := range e.Posterior {
			e.Posterior[r].InverseFactor = nil
		}
		m.Refits = append(m.Refits, e)
	}
	for range s.Readouts {
		if s.ScaleFactor {
			m.ScaleFactor = append(m.ScaleFactor, factors(s.K*len(m.NoiseKnots), rng))
			if !s.Paper {
				m.NetworkWeight = append(m.NetworkWeight, shares(s.K*len(m.NoiseKnots), rng))
			}
			m.OODExponent = append(m.OODExponent, 0.2+0.3*rng.Float64())
		}
	}
	m.Stack = stack(m, s, rng)
	if s.History > 0 {
		m.History = edges(s.History)
	}
	if s.Late {
		for i := range s.P {
			m.Actuators = append(m.Actuators, actuator.Response{Dead: 0.05 * float64(i+1), Lag: 0.04 * float64((i+1)%2)})
		}
	}
	m.OOD = around(m, rng)
	if s.ScaleFactor && !s.Paper {
		m.RMSDisplacement = ood.RMSDisplacement{Typical: factors(s.K*len(m.NoiseKnots), rng), Min: 0.3, Max: 3}
		for range s.Readouts {
			m.RMSDisplacement.Exponent = append(m.RMSDisplacement.Exponent, 0.3+0.4*rng.Float64())
		}
	}
	if s.Calibrated {
		calibrate(m, s, rng)
	}
	m.Dynamics.Net = net([]int{m.Inputs.Lift.Dim() + s.P, 4, 2 * s.K}, rng)
	m.Baseline = baseline(m, rng)
	m.LinearStd = factors(s.K*len(m.NoiseKnots), rng)
	m.Provenance = model.Provenance{Tool: "modeltest", DataHash: "00", Config: "a = 1", Seed: 7, Scores: "{}", Verdict: "made up"}
	if _, err := m.Encode(); err != nil {
		panic("modeltest: " + err.Error())
	}
	return m
}

// calibrate adds a calibration by every covariate.
func calibrate(m *model.Model, s Shape, rng *rand.Rand) {
	Q := len(m.NoiseKnots)
	if !s.ScaleFactor {
		m.RMSDisplacement = ood.RMSDisplacement{Typical: factors(s.K*Q, rng), Min: 1, Max: 1}
	}
	m.Bound = factors(s.K*Q, rng)
	covariates := int(model.CovariateRoughness) // as in files before it
	if s.History > 4 {
		covariates = int(model.Covariates)
	}
	for range s.Readouts {
		p := model.Calibration{LogScale: normal(s.K*Q, 0.2, rng), Centre: normal(covariates, 0.3, rng), Half50: 0.6, PlainSensor: true}
		for range covariates {
			p.Coefficient = append(p.Coefficient, shares(s.K, rng))
		}
		if s.History > 4 {
			p.Knots = []float64{0.05, 0.2, 0.45, 1}
			p.LogScale = normal(s.K*len(p.Knots), 0.2, rng)
			p.Most, p.Further = []float64{0.5, 0.5, math.Inf(1), math.Inf(1), 0.2}, []float64{0, 0.2, 0, 0, 0.4}
		}
		m.Calibration = append(m.Calibration, p)
	}
}

func (s Shape) defaults() Shape {
	if s.Core == nil {
		s.Core = []int{8, 6}
	}
	if s.Knots == 0 && s.P > 0 {
		s.Knots = 3
	}
	s.D, s.Members, s.Readouts = max(s.D, 0), max(s.Members, 1), max(s.Readouts, 1)
	if s.D == 0 {
		s.D = 2
	}
	return s
}

func channels(k, p int) []channel.Channel {
	var out []channel.Channel
	for i := range k {
		c := channel.Channel{Role: channel.State, Frame: "ned"}
		switch i % 4 {
		case 0:
			c.Name, c.Unit, c.Period = fmt.Sprintf("angle%d", i), "rad", channel.Angle
		case 1:
			c.Name, c.Unit, c.Noise = fmt.Sprintf("rate%d", i), "rad/s", 0.01
		case 2:
			c.Name, c.Unit, c.Invariant = fmt.Sprintf("position%d", i), "m", true
		case 3:
			c.Name, c.Unit = fmt.Sprintf("velocity%d", i), "m/s"
		}
		if i%2 == 1 {
			out[i-1].Derivative = c.Name
		}
		out = append(out, c)
	}
	for i := range p {
		out = append(out, channel.Channel{Name: fmt.Sprintf("command%d", i), Unit: "N", Role: channel.Input})
	}
	return out
}

func inputs(s Shape, rng *rand.Rand) feature.Inputs {
	in := feature.Inputs{
		Horizon: Horizon, TimeMean: Horizon / 2, TimeStd: Horizon / math.Sqrt(12),
		Lift: channel.NewLift(channels(s.K, 0)), Knots: s.Knots, Causal: !s.Paper,
	}
	for i := range in.Lift.Mean {
		in.Lift.Mean[i], in.Lift.Std[i] = 0.2*rng.NormFloat64(), 0.5+rng.Float64()
	}
	for range s.P {
		in.InputMean = append(in.InputMean, 0.3*rng.NormFloat64())
		in.InputStd = append(in.InputStd, 0.5+rng.Float64())
	}
	return in
}

// around has three reference points in skewed coordinates.
func around(m *model.Model, rng *rand.Rand) ood.Detector {
	L := m.Inputs.Lift.Dim()
	r := ood.Detector{Mean: normal(L, 0.1, rng), Limits: ood.Limits{Distance: 3}, Near: 0.5, Far: 4, Variance: 0.9}
	for i := range L {
		r.Inverse = append(append(r.Inverse, normal(i, 0.1, rng)...), 1)
	}
	for range 3 {
		r.Points = append(r.Points, normal(L, 1, rng))
	}
	if m.P > 0 {
		for range model.Readouts {
			r.Low, r.High = append(r.Low, slices.Repeat([]float64{-3}, m.P)), append(r.High, slices.Repeat([]float64{2}, m.P))
		}
	}
	return r
}

// equation is a difference equation.
func equation(m *model.Model, degree int, step float64, dry bool, rng *rand.Rand) priordynamics.Model {
	lift := channel.NewLift(m.Channels[:m.K])
	if dry {
		lift.AddFriction(1, 0.3)
	}
	lift.Mean, lift.Std = normal(lift.Dim(), 0.2, rng), factors(lift.Dim(), rng)
	r := priordynamics.Model{Step: step, Degree: degree, Lift: lift, UMean: normal(m.P, 0.3, rng), UStd: factors(m.P, rng)}
	for range lift.Dim() + m.P {
		r.Bound = append(r.Bound, 2+rng.Float64())
	}
	r.Weights = normal(r.Terms()*m.K, 0.03, rng)
	if degree > 1 {
		r.Ellipsoid = ellipsoid(len(r.Bound))
	}
	return r
}

// stack is constant velocity, or difference equations and a direct map.
func stack(m *model.Model, s Shape, rng *rand.Rand) []model.Component {
	if s.Prior == 0 && s.Velocity {
		return []model.Component{{Kind: model.Velocity}}
	}
	if s.Prior == 0 {
		return nil
	}
	first, second := equation(m, s.Prior, 0.05, s.Dry, rng), equation(m, 1, 0.037, s.Dry, rng)
	if s.Body {
		first.Body, second.Body = body(), body()
	}
	if s.Chain {
		first.Chain = chain(s.P, rng)
	}
	if s.Motion {
		first.Motion, first.Weights = drive(m), make([]float64, len(first.Weights))
	}
	out := []model.Component{
		{Kind: model.Equation, Members: []priordynamics.Model{first}},
		{Kind: model.Equation, Members: []priordynamics.Model{second}},
	}
	if s.Nets > 0 {
		withNets := model.Component{Kind: model.Equation}
		for range s.Nets {
			e := equation(m, 1, 0.057, s.Dry, rng)
			e.Body, e.Chain = first.Body, first.Chain
			e.Net = net([]int{e.Lift.Dim() + s.P, 5, s.K}, rng)
			e.NetScale = normal(s.K, 0.03, rng)
			withNets.Members = append(withNets.Members, e)
		}
		out = append(out, withNets)
	}
	if s.Direct {
		out = append(out, model.Component{Kind: model.Direct, Direct: directMap(m, s, rng), Near: 0.1, Far: 100})
	}
	for i := range out[1:] {
		out[1+i].Weights = weights(m, s, float64(len(out)-1), rng)
	}
	if s.Residual {
		out = append(out, model.Component{Kind: model.Direct, Direct: directMap(m, s, rng), Residual: true, Weights: weights(m, s, 1, rng), Near: 0.2, Far: 50})
	}
	return out
}

// weights returns those of a component, of so many that share what there is.
func weights(m *model.Model, s Shape, components float64, rng *rand.Rand) (out [][]float64) {
	conditions := model.Readouts
	if s.History > 0 {
		conditions = model.Conditions
	}
	for range conditions {
		w := shares(s.K*len(m.NoiseKnots), rng)
		for j := range w {
			w[j] /= components
		}
		out = append(out, w)
	}
	return out
}

// edges returns a history of rows that widen.
func edges(rows int) (s history.Spec) {
	for j := range rows {
		s.Edges = append(s.Edges, 0.02*float64((j+1)*(j+2)/2))
	}
	return s
}

// body takes the angles, rates, positions and velocities of twelve states for those
// of a rigid body.
func body() priordynamics.Body {
	return priordynamics.Body{
		Attitude: []int{0, 4, 8}, Rates: []int{1, 5, 9}, Position: []int{2, 6, 10}, Velocity: []int{3, 7, 11},
		Sign: []float64{1, 1, -1, 1, -1, 1, 1, -1, 1, 1, 1, -1}, Omega: 1, InBody: true,
	}
}

// chain takes the angles of four states for those of two links, and the two others for
// their rates.
func chain(inputs int, rng *rand.Rand) priordynamics.Chain {
	return priordynamics.Chain{
		Angles: []int{0, 2}, Rates: []int{1, 3}, Unit: []float64{1, 1}, Relative: true, Mass: []float64{0.5, 0.6}, Rotor: []float64{0.1},
		Sine: []float64{5, 3}, Cosine: []float64{0.3, -0.2}, Viscous: []float64{0.2, 0.1}, Dry: []float64{0.3, 0.2}, Gain: normal(2*inputs, 2, rng),
	}
}

// drive takes four states for those of a robot with wheels.
func drive(m *model.Model) motion.Equation {
	e := motion.Equation{Kind: "differential drive", Squared: true}
	for i, name := range []string{"heading", "surge", "yaw_rate"} {
		e.Roles = append(e.Roles, motion.Role{Name: name, State: i + 1, Scale: 1})
	}
	if err := e.Declare(m.K, m.Channels[m.K:]); err != nil {
		panic(err)
	}
	for i := range e.Parameters {
		p, v := &e.Parameters[i], 0.3+0.1*float64(i)
		p.Value, p.Low, p.High = v, v-0.1, v+0.1
	}
	return e
}

func baseline(m *model.Model, rng *rand.Rand) linear.Model {
	Z := linear.NewLifting(m.Channels[:m.K]).Z
	b := linear.Model{Step: 0.01, A: make([]float64, Z*Z), B: normal(Z*m.P, 0.1, rng), C: normal(Z, 0.01, rng)}
	for i := range Z {
		b.A[i*Z+i] = 0.9
	}
	return b
}
