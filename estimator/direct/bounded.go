package direct

import "github.com/dgm-robotics/dgm/estimator/channel"

// New takes the memory for k states and a horizon, s.
func New(m *Model, k int, horizon float64) *Map {
	d := newAlone(m, k, horizon)
	d.newBelow(k)
	return d
}

// Run sets the start state x0 (K), the input u over the horizon (nil without inputs), which
// must stay valid until the next Run, the readout of u, and the history: rows of K states
// and P inputs, newest first, of which the level with the most rows that fit is read.
func (d *Map) Run(x0 []float64, u channel.Signal, readout int, history []float64) {
	d.run(d.m.Level(readout, len(history)/(len(d.x0)+len(d.m.UMean))), x0, u, history)
	d.runBelow(x0, u, history)
}

// At writes the displacement at t of the last Run to dst (K) and, unless nil, its time
// derivative per second to ddst (K).
func (d *Map) At(dst, ddst []float64, t float64) {
	d.alone(dst, ddst, t)
	d.agreeAt(dst, ddst, t)
}

// JVP sets the direction dx (K) of x0 that JVPAt differentiates along. The history does
// not move with x0.
func (d *Map) JVP(dx []float64) {
	copy(d.dx, dx)
	for _, below := range d.bounding() {
		copy(below.dx, dx)
	}
}

// JVPAt writes the derivative of the displacement at t along the direction of the last JVP
// to dst (K). The derivative of the start itself, dx, is not in it.
func (d *Map) JVPAt(dst []float64, t float64) { d.agreed(dst, t, (*Map).jvpAt) }

// InputJVP sets the direction of the input that InputJVPAt differentiates along.
func (d *Map) InputJVP(du channel.Signal) {
	d.du = du
	for _, below := range d.bounding() {
		below.du = du
	}
}

// InputJVPAt writes the derivative of the displacement at t along the direction of the last
// InputJVP to dst (K).
func (d *Map) InputJVPAt(dst []float64, t float64) { d.agreed(dst, t, (*Map).inputJVPAt) }

// newBelow takes the memory for the levels that bound one, where there is one with Apart.
func (d *Map) newBelow(k int) {
	if !d.m.Bounded() {
		return
	}
	for i := range d.below {
		d.below[i] = newAlone(d.m, k, d.horizon)
	}
	for i := range d.bound {
		d.bound[i] = make([]float64, k)
	}
	d.agree, d.levels = make([]agreement, k), map[*Level][]*Level{}
	for i := range d.m.Levels {
		if l := &d.m.Levels[i]; len(l.Apart) > 0 {
			d.levels[l] = d.m.Below(l)
		}
	}
}

// Measure returns the map as one whose displacements are not bounded: levels with Apart measure the Disagreement alone.
func (d *Map) Measure() *Map {
	d.measures = true
	return d
}

// measuring returns the maps that bound the level of the last Run, or would; nil where it stands alone.
func (d *Map) measuring() []*Map {
	if d.level == nil || len(d.level.Apart) == 0 {
		return nil
	}
	return d.below[:]
}

// bounding returns the maps that bound the level of the last Run; nil where it is not bounded.
func (d *Map) bounding() []*Map {
	if d.measures {
		return nil
	}
	return d.measuring()
}

// runBelow runs the maps that bound the level.
func (d *Map) runBelow(x0 []float64, u channel.Signal, history []float64) {
	for i, below := range d.measuring() {
		below.run(d.levels[d.level][i], x0, u, history)
	}
}

// agreeAt bounds displacements at t (K) and, unless nil, their derivatives by time (K) by those of the levels below.
func (d *Map) agreeAt(dst, ddst []float64, t float64) {
	maps := d.measuring()
	if maps == nil {
		return
	}
	for i, below := range maps {
		var rate []float64
		if ddst != nil && !d.measures {
			rate = d.bound[2+i]
		}
		below.alone(d.bound[i], rate, t)
	}
	for k := range dst {
		s, rate := d.level.apart(k, len(dst), t)
		a := agree(dst[k], d.bound[0][k], d.bound[1][k], s)
		if d.agree[k] = a; d.measures {
			continue
		}
		if ddst != nil {
			ddst[k] = a.own*ddst[k] + (1-a.own)*d.bound[2+a.nearest][k] + a.byApart*rate
		}
		dst[k] = a.value
	}
}

// agreed writes a derivative of the displacement at t along the last direction to dst (K): at writes that of a level by itself.
func (d *Map) agreed(dst []float64, t float64, at func(d *Map, dst []float64, t float64)) {
	if d.bounding() == nil {
		at(d, dst, t)
		return
	}
	d.alone(dst, nil, t)
	d.agreeAt(dst, nil, t)
	at(d, dst, t)
	for i, below := range d.below {
		at(below, d.bound[i], t)
	}
	for k := range dst {
		if a := &d.agree[k]; a.own != 1 {
			dst[k] = a.own*dst[k] + (1-a.own)*d.bound[a.nearest][k]
		}
	}
}

// Disagreement writes d (c − m) of agreement.go, of displacements that were bounded, or would have been, at the time of the last At to dst (K), units
// of the states squared.
func (d *Map) Disagreement(dst []float64) {
	clear(dst)
	if d.measuring() == nil {
		return
	}
	for k := range dst {
		dst[k] = d.agree[k].moved()
	}
}

// AddSquares adds the squares of how far the displacements of the last At, at t, lie beyond those of the levels below, over t, to beyond (K), and of how
// far they lie from the middle between these to middle (K). The level of the last Run must have Apart.
func (d *Map) AddSquares(beyond, middle []float64, t float64) {
	for k := range beyond {
		a := &d.agree[k]
		c := a.value
		if a.beyond != 0 {
			c = a.bound + a.beyond
		}
		out, from := a.beyond/t, (c-(d.bound[0][k]+d.bound[1][k])/2)/t
		beyond[k] += out * out
		middle[k] += from * from
	}
}
