package model

import (
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// Filter are the parameters of the filter that estimates what nothing measures, see package filter.
type Filter struct {
	R      []float64 // K, variance of each state's sensor, unit²; 0 where none measures it
	Chains []FilterChain
	Start  []float64 // K + chains: variances of states, then accelerations, before anything is known of them; with an equation K
	Gap    float64   // s without a sample, after which it begins anew
	Usual  []float64 // (optional) K×K, mean covariance of the estimates that the model was trained on

	// Whether the model predicts the states given the whole flight: the noise of its horizon is that of the states, without their
	// sensors.
	Smoothed bool

	Changing []int // (optional) states whose sensor never measures one value twice in a row: a repeated one is none

	Equation priordynamics.Model // (optional) process in place of accelerations that wander; degree 0 = none
}

// FilterChain is a position whose rate the filter estimates.
type FilterChain struct {
	Position, Rate int     // states
	Q              float64 // intensity of the noise that drives the acceleration, unit²/s⁵; with an equation the rate, unit²/s³
	Settled        float64 // variance of the rate up to which its estimate counts; 0 = any
	Offset         float64 // (optional) by how much the rate's sensor shows more than the slope of the position, on average
}

// Measured returns the states that are measured, then the inputs: the channels of logs and state messages.
func (m *Model) Measured() []channel.Channel { return channel.Measured(m.Channels) }

// SensorNoise returns the variances of the sensors, K each: inside is the most that the noise of the horizon has of it, and beside what
// a measurement has besides.
func (m *Model) SensorNoise() (inside, beside []float64) {
	inside, beside = make([]float64, m.K), make([]float64, m.K)
	for k := range inside {
		if inside[k] = math.Inf(1); m.Displacement { // else the noise is that of the sensor alone
			inside[k] = m.Sensor[k]
		}
	}
	if f := m.Filter; f != nil && f.Smoothed {
		for _, c := range f.Chains {
			for _, k := range [...]int{c.Position, c.Rate} {
				inside[k], beside[k] = 0, m.Sensor[k]
			}
		}
	}
	return inside, beside
}

func (m *Model) checkFilter(c *checker) {
	estimated := m.K + m.P - len(m.Measured())
	if m.Filter == nil {
		return // predictions do not need it, only the state that they start from
	}
	f := m.Filter
	c.that(estimated < m.K, "filter", "%d of %d states are estimated", estimated, m.K)
	c.length("filter.r", f.R, m.K)
	c.each("filter.r", f.R, func(v float64) bool { return v >= 0 }, "variance %v is negative")
	c.that(len(f.Chains) <= m.K, "filter.chains", "%d, more than the states", len(f.Chains))
	n := m.K + len(f.Chains)
	if f.Equation.Degree > 0 {
		n = m.K
		m.checkEquation(c, "filter.equation", &f.Equation)
	}
	c.length("filter.start", f.Start, n)
	c.allPositive("filter.start", f.Start)
	c.positive("filter.gap", f.Gap)
	if len(f.Usual) > 0 {
		c.length("filter.usual", f.Usual, m.K*m.K)
		c.finite("filter.usual", f.Usual)
	}
	for _, k := range f.Changing {
		c.that(k >= 0 && k < m.K, "filter.changing", "state %d is outside 0…%d", k, m.K-1)
	}
	follows := make([]bool, m.K)
	for i, ch := range f.Chains {
		field := fmt.Sprintf("filter.chains[%d]", i)
		in := func(k int) bool { return k >= 0 && k < m.K }
		c.that(in(ch.Position) && in(ch.Rate), field, "states %d and %d are outside 0…%d", ch.Position, ch.Rate, m.K-1)
		c.positive(field+".q", ch.Q)
		c.that(ch.Settled >= 0, field+".settled", "variance %v is negative", ch.Settled)
		if c.err != nil {
			return
		}
		c.that(!m.Channels[ch.Position].Estimated && ch.Position != ch.Rate && !follows[ch.Rate] && !follows[ch.Position], field, "a measured position must have a rate of its own")
		c.that(m.Channels[ch.Rate].Estimated == (f.R[ch.Rate] == 0), field, "a rate has a sensor with noise, or is estimated")
		follows[ch.Position], follows[ch.Rate] = true, true
		if m.Channels[ch.Rate].Estimated {
			estimated--
		}
	}
	c.that(estimated == 0, "filter.chains", "%d states are estimated, and no position has them as its rate", estimated)
}

func filterFields(f *Filter, c *coder) {
	c.floats("r", &f.R)
	list(c, "chains", &f.Chains, func(ch *FilterChain, c *coder) {
		c.int("position", &ch.Position)
		c.int("rate", &ch.Rate)
		c.float("q", &ch.Q)
		c.float("settled", &ch.Settled)
		if c.optional("offset", ch.Offset != 0) {
			c.float("offset", &ch.Offset)
		}
	})
	c.floats("start", &f.Start)
	c.float("gap", &f.Gap)
	if c.optional("usual", len(f.Usual) > 0) {
		c.floats("usual", &f.Usual)
	}
	if c.optional("smoothed", f.Smoothed) {
		c.flag("smoothed", &f.Smoothed)
	}
	if c.optional("changing", len(f.Changing) > 0) {
		c.ints("changing", &f.Changing, maxChannels-1)
	}
	if c.optional("equation", f.Equation.Degree > 0) {
		c.object("equation", func(c *coder) { equationFields(&f.Equation, c) })
	}
}
