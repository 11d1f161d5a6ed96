package estimator

import (
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// component is one prior dynamics: a displacement from x0, state units.
type component interface {
	start(x0 []float64, u channel.Command, r model.Readout, history []float64)
	// at writes the displacement t seconds after the last start to dst and, unless nil, its
	// derivative by time to ddst (K each).
	at(dst, ddst []float64, t float64)
	// memberVariance writes the variance between members, or levels of a map, at the time of the last at to dst
	// (K, state units squared).
	memberVariance(dst []float64)
	// jvp sets the direction dx (K) of x0 that jvpAt differentiates along.
	jvp(dx []float64)
	jvpAt(dst []float64, t float64)
	// inputJVP sets the direction of the input that inputJVPAt differentiates along.
	inputJVP(du channel.Command)
	inputJVPAt(dst []float64, t float64)
}

func newComponent(c *model.Component, states []channel.Channel, horizon float64) component {
	switch c.Kind {
	case model.Equation:
		return newEquation(c.Members, len(states), horizon)
	case model.Velocity:
		return newVelocity(states)
	}
	d := direct.New(&c.Direct, len(states), horizon)
	if c.Residual {
		d = d.Measure()
	}
	return directMap{d}
}

// equation is the mean of the roll-outs of difference equations.
type equation struct {
	members        []*priordynamics.Rollout
	own, down, sum []float64 // K: of one member, its derivative; sum of squared deviations
	share          float64   // one over the number of members

	actuators *Actuators // nil = inputs act at once
}

func newEquation(members []priordynamics.Model, K int, horizon float64) *equation {
	e := &equation{own: make([]float64, K), down: make([]float64, K), sum: make([]float64, K), share: 1 / float64(len(members))}
	for i := range members {
		e.members = append(e.members, priordynamics.New(&members[i], K, horizon))
	}
	return e
}

func (e *equation) start(x0 []float64, u channel.Command, _ model.Readout, _ []float64) {
	acting := e.actuators.Acting(u)
	for _, r := range e.members {
		r.Run(x0, acting)
	}
}

func (e *equation) at(dst, ddst []float64, t float64) {
	clear(e.sum)
	e.members[0].At(dst, ddst, t)
	for i, r := range e.members[1:] { // running mean and squared deviations (Welford 1962)
		r.At(e.own, derivative(e.down, ddst), t)
		n := float64(i + 2)
		for k, v := range e.own {
			d := v - dst[k]
			dst[k] += d / n
			e.sum[k] += d * (v - dst[k])
		}
		for k := range ddst {
			ddst[k] += (e.down[k] - ddst[k]) / n
		}
	}
}

func (e *equation) memberVariance(dst []float64) {
	for k, s := range e.sum {
		dst[k] = s * e.share
	}
}

func (e *equation) jvp(dx []float64) {
	for _, r := range e.members {
		r.JVP(dx)
	}
}

func (e *equation) jvpAt(dst []float64, t float64) { e.mean(dst, t, (*priordynamics.Rollout).JVPAt) }

// exactJVPAt is jvpAt of any component, without the parabola of an equation's nodes.
func exactJVPAt(c component, dst []float64, t float64) {
	if e, ok := c.(*equation); ok {
		e.mean(dst, t, (*priordynamics.Rollout).ExactJVPAt)
		return
	}
	c.jvpAt(dst, t)
}

// mean writes the mean over members of what at writes to dst.
func (e *equation) mean(dst []float64, t float64, at func(r *priordynamics.Rollout, dst []float64, t float64)) {
	at(e.members[0], dst, t)
	for i, r := range e.members[1:] {
		at(r, e.own, t)
		for k, v := range e.own {
			dst[k] += (v - dst[k]) / float64(i+2)
		}
	}
}

func (e *equation) inputJVP(du channel.Command) {
	acting := e.actuators.Changing(du)
	for _, r := range e.members {
		r.InputJVP(acting)
	}
}

func (e *equation) inputJVPAt(dst []float64, t float64) {
	clear(dst)
	for _, r := range e.members {
		r.InputJVPAt(e.own, t)
		for k, v := range e.own {
			dst[k] += v * e.share
		}
	}
}

// velocity is constant velocity.
type velocity struct {
	of     []int     // K, place of the derivative's channel, or −1
	v0, dv []float64 // K: velocity at the start, its tangent
}

func newVelocity(states []channel.Channel) *velocity {
	c := &velocity{v0: make([]float64, len(states)), dv: make([]float64, len(states))}
	for _, s := range states {
		of := -1
		if s.Derivative != "" {
			of = channel.Index(states, s.Derivative)
		}
		c.of = append(c.of, of)
	}
	return c
}

// pick writes the derivatives of all channels in x, 0 where none is measured, to dst.
func (c *velocity) pick(dst, x []float64) {
	for k, of := range c.of {
		dst[k] = 0
		if of >= 0 {
			dst[k] = x[of]
		}
	}
}

func (c *velocity) start(x0 []float64, _ channel.Command, _ model.Readout, _ []float64) {
	c.pick(c.v0, x0)
}

func (c *velocity) at(dst, ddst []float64, t float64) {
	for k, v := range c.v0 {
		dst[k] = v * t
	}
	copy(ddst, c.v0)
}

func (c *velocity) memberVariance(dst []float64) { clear(dst) }

func (c *velocity) jvp(dx []float64) { c.pick(c.dv, dx) }

func (c *velocity) jvpAt(dst []float64, t float64) {
	for k, v := range c.dv {
		dst[k] = v * t
	}
}

func (c *velocity) inputJVP(channel.Command) {}

func (c *velocity) inputJVPAt(dst []float64, _ float64) { clear(dst) }

// directMap is a direct linear map.
type directMap struct{ *direct.Map }

func (d directMap) start(x0 []float64, u channel.Command, r model.Readout, history []float64) {
	d.Run(x0, u, int(r), history)
}

func (d directMap) at(dst, ddst []float64, t float64) { d.At(dst, ddst, t) }

func (d directMap) memberVariance(dst []float64) { d.Disagreement(dst) }

func (d directMap) jvp(dx []float64) { d.JVP(dx) }

func (d directMap) jvpAt(dst []float64, t float64) { d.JVPAt(dst, t) }

func (d directMap) inputJVP(du channel.Command) { d.InputJVP(du) }

func (d directMap) inputJVPAt(dst []float64, t float64) { d.InputJVPAt(dst, t) }

// derivative returns to, or nil where no derivative is asked for.
func derivative(to, asked []float64) []float64 {
	if asked == nil {
		return nil
	}
	return to
}
