package model

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/actuator"
)

// Latency is how long after a command an input acts, see package latency: a dead time d, then a first-order lag τ with which
// the actuator follows, τ v̇(t) = u(t−d) − v(t). The intervals are of 95 %. s.
type Latency struct {
	Known bool // else the flights leave it open or contradict it, and the rest is 0 or no interval to use

	Dead, DeadLow, DeadHigh float64
	Lag, LagLow, LagHigh    float64
}

// String returns the latency for people, in ms.
func (l Latency) String() string {
	if !l.Known {
		return "not known: the flights leave it open, or its effect is not that of a dead time and a lag"
	}
	return fmt.Sprintf("dead time %.3g ms (%.3g-%.3g), lag %.3g ms (%.3g-%.3g)", 1000*l.Dead, 1000*l.DeadLow, 1000*l.DeadHigh, 1000*l.Lag, 1000*l.LagLow, 1000*l.LagHigh)
}

// Delays returns the dead times and lags of all inputs (P each), s; −1 where they are not known.
func (m *Model) Delays() (dead, lag []float64) {
	for i := range m.P {
		d, l := -1., -1.
		if i < len(m.Latency) && m.Latency[i].Known {
			d, l = m.Latency[i].Dead, m.Latency[i].Lag
		}
		dead, lag = append(dead, d), append(lag, l)
	}
	return dead, lag
}

// Response returns how the equations read input j; ok is false where they read it as it is sent.
func (m *Model) Response(j int) (r actuator.Response, ok bool) {
	if j < len(m.Actuators) {
		r = m.Actuators[j]
	}
	return r, r != actuator.Response{}
}

func (m *Model) checkActuators(c *checker) {
	if len(m.Actuators) == 0 {
		return
	}
	c.that(len(m.Actuators) == m.P, "actuators", "has %d entries for %d inputs", len(m.Actuators), m.P)
	for i, r := range m.Actuators {
		if err := r.Check(); err != nil {
			c.that(false, fmt.Sprintf("actuators[%d]", i), "%v", err)
		}
	}
}

func (m *Model) checkLatency(c *checker) {
	if len(m.Latency) == 0 {
		return
	}
	c.that(len(m.Latency) == m.P, "latency", "has %d entries for %d inputs", len(m.Latency), m.P)
	for i, l := range m.Latency {
		field := fmt.Sprintf("latency[%d]", i)
		values := []float64{l.Dead, l.DeadLow, l.DeadHigh, l.Lag, l.LagLow, l.LagHigh}
		c.finite(field, values)
		c.each(field, values, func(v float64) bool { return v >= 0 }, "%v is negative")
		c.that(l.DeadLow <= l.Dead && l.Dead <= l.DeadHigh && l.LagLow <= l.Lag && l.Lag <= l.LagHigh, field, "a value is outside its interval")
	}
}
