package direct

import (
	"github.com/tphakala/simd/f64"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Map evaluates a model from one start state after the other. It takes all its memory in
// New and is not safe for concurrent use.
type Map struct {
	m      *Model
	level  *Level // of the last Run
	u      channel.Signal
	du     channel.Signal // direction of InputJVP
	x0, v0 []float64      // K
	slope  []float64      // L, ∂z/∂x0

	column, rate, tangent []float64 // C of the largest level: value, ∂/∂t, JVP
	u0, before, after     []float64 // P
	dx                    []float64 // K, direction of JVP

	horizon           float64   // s
	whitened, adjoint []float64 // C'

	below    [2]*Map             // of the levels that bound one with Apart, the one with less history first; nil = no level has it
	levels   map[*Level][]*Level // of each level with Apart, those of below
	bound    [4][]float64        // K: displacements of below, their derivatives by time
	agree    []agreement         // K, at the time of the last At
	measures bool                // see Measure
}

// newAlone is New of a map whose levels stand alone.
func newAlone(m *Model, k int, horizon float64) *Map {
	most, factor := 0, 0
	for i := range m.Levels {
		l := &m.Levels[i]
		most = max(most, m.Columns(l))
		factor = max(factor, len(l.Mean))
	}
	d := &Map{m: m, horizon: horizon, whitened: make([]float64, factor), adjoint: make([]float64, factor), slope: make([]float64, m.Lift.Dim())}
	for _, b := range []*[]float64{&d.column, &d.rate, &d.tangent} {
		*b = make([]float64, most)
	}
	for _, b := range []*[]float64{&d.x0, &d.v0, &d.dx} {
		*b = make([]float64, k)
	}
	for _, b := range []*[]float64{&d.u0, &d.before, &d.after} {
		*b = make([]float64, len(m.UMean))
	}
	return d
}

// Derivative returns the place of the channel that is each state's derivative, or −1.
func (d *Map) Derivative() []int { return d.m.Derivative }

// run is Run with a level.
func (d *Map) run(level *Level, x0 []float64, u channel.Signal, history []float64) {
	m, K, P := d.m, len(d.x0), len(d.m.UMean)
	d.level, d.u = level, u
	copy(d.x0, x0)
	for k, v := range m.Derivative {
		d.v0[k] = 0
		if v >= 0 {
			d.v0[k] = x0[v]
		}
	}
	c := d.column
	c[0] = 1
	L := m.Lift.Dim()
	m.Lift.Apply(c[1:1+L], x0)
	m.Lift.Derivative(d.slope, x0)
	if P > 0 {
		u.At(d.u0, 0)
		d.standardise(c[1+L:1+L+P], d.u0)
	}
	row := c[1+m.linear(d.level):]
	for range d.level.Rows {
		for k, x := range history[:K] {
			row[k] = x - x0[k]
		}
		d.standardise(row[K:K+P], history[K:K+P])
		row, history = row[K+P:], history[K+P:]
	}
}

func (d *Map) standardise(dst, u []float64) {
	for p, v := range u {
		dst[p] = (v - d.m.UMean[p]) / d.m.UStd[p]
	}
}

// alone is At of the level by itself.
func (d *Map) alone(dst, ddst []float64, t float64) {
	l, C := d.level, d.m.Columns(d.level)
	d.plan(t, ddst != nil)
	d.products(d.column)
	if ddst != nil {
		d.productTangents(d.rate)
	}
	i, share, perSecond := l.between(t)
	for k := range dst {
		low := l.row(i, k, len(dst), C)
		g, dg := dot(low, d.column), 0.0
		if ddst != nil {
			dg = dot(low, d.rate)
		}
		if perSecond > 0 {
			high := l.row(i+1, k, len(dst), C)
			step := dot(high, d.column) - g
			g += share * step
			if ddst != nil {
				dg += share*(dot(high, d.rate)-dg) + perSecond*step
			}
		}
		dst[k] = t * (d.v0[k] + g)
		if ddst != nil {
			ddst[k] = d.v0[k] + g + t*dg
		}
	}
}

// jvpAt is JVPAt of the level by itself.
func (d *Map) jvpAt(dst []float64, t float64) {
	m, l, K, P := d.m, d.level, len(dst), len(d.m.UMean)
	C := m.Columns(l)
	d.plan(t, false)
	tangent := d.tangent[:C]
	clear(tangent)
	for i, of := range m.Lift.Of {
		tangent[1+i] = d.slope[i] * d.dx[of]
	}
	row := tangent[1+m.linear(l):]
	for range l.Rows {
		for k, v := range d.dx {
			row[k] = -v
		}
		row = row[K+P:]
	}
	d.along(dst, tangent, t)
	for k, v := range m.Derivative {
		if v >= 0 {
			dst[k] += t * d.dx[v]
		}
	}
}

// along writes the derivative of the displacement at t along the tangent of the columns to
// dst (K), without that of v0.
func (d *Map) along(dst, tangent []float64, t float64) {
	l, K := d.level, len(dst)
	d.productTangents(tangent)
	i, share, perSecond := l.between(t)
	for k := range dst {
		g := dot(l.row(i, k, K, len(tangent)), tangent)
		if perSecond > 0 {
			g += share * (dot(l.row(i+1, k, K, len(tangent)), tangent) - g)
		}
		dst[k] = t * g
	}
}

// inputJVPAt is InputJVPAt of the level by itself.
func (d *Map) inputJVPAt(dst []float64, t float64) {
	m, l, P := d.m, d.level, len(d.m.UMean)
	d.plan(t, false)
	tangent := d.tangent[:m.Columns(l)]
	clear(tangent)
	at := 1 + m.Lift.Dim()
	d.du.At(tangent[at:at+P], 0)
	if l.Readout == 0 {
		for b := range m.Blocks {
			at += P
			if t > 0 {
				d.du.Mean(tangent[at:at+P], t*float64(b)/float64(m.Blocks), t*float64(b+1)/float64(m.Blocks))
			} else {
				d.du.At(tangent[at:at+P], 0)
			}
		}
	}
	for i := range at + P - 1 - m.Lift.Dim() {
		tangent[1+m.Lift.Dim()+i] /= m.UStd[i%P]
	}
	d.along(dst, tangent, t)
}

// plan fills the columns of the plan at t, and with rate their derivatives by t, those of
// all other columns without products being 0.
func (d *Map) plan(t float64, rate bool) {
	m, l, P := d.m, d.level, len(d.m.UMean)
	n := 1 + m.linear(l)
	if rate {
		clear(d.rate[:m.Columns(l)])
	}
	if l.Readout != 0 || P == 0 {
		return
	}
	at := n - m.Blocks*P
	for b := range m.Blocks {
		from, to := float64(b)/float64(m.Blocks), float64(b+1)/float64(m.Blocks)
		mean := d.column[at : at+P]
		if t <= 0 {
			copy(mean, d.u0)
		} else {
			d.u.Mean(mean, from*t, to*t)
		}
		if rate && t > 0 {
			d.u.At(d.before, from*t)
			d.u.At(d.after, to*t)
			for p, v := range mean {
				d.rate[at+p] = ((to*d.after[p]-from*d.before[p])/(to-from) - v) / (t * m.UStd[p])
			}
		}
		d.standardise(mean, mean)
		at += P
	}
}

// products fills the columns of degree 2.
func (d *Map) products(c []float64) {
	if d.level.Degree < 2 {
		return
	}
	linear, at := d.productBase()
	for i, a := range linear {
		for _, b := range linear[i:] {
			c[at] = a * b
			at++
		}
	}
}

// productTangents fills the tangents of the columns of degree 2 from those of degree 1.
func (d *Map) productTangents(tangent []float64) {
	if d.level.Degree < 2 {
		return
	}
	linear, at := d.productBase()
	dl := tangent[1 : 1+len(linear)]
	for i, a := range linear {
		for j := i; j < len(linear); j++ {
			tangent[at] = dl[i]*linear[j] + a*dl[j]
			at++
		}
	}
}

// productBase returns the columns that products are made of, and where the products begin.
func (d *Map) productBase() (linear []float64, at int) {
	n := d.m.linear(d.level)
	return d.column[1 : 1+n], 1 + n + d.level.Rows*(len(d.x0)+len(d.m.UMean))
}

// row returns the weights of state k of K at time i.
func (l *Level) row(i, k, K, C int) []float64 { return l.Weights[(i*K+k)*C : (i*K+k+1)*C] }

func dot(w, c []float64) float64 { return f64.DotProduct(w, c[:len(w)]) }

// Model returns what is evaluated. It must not be changed.
func (d *Map) Model() *Model { return d.m }

// ColumnsAt writes the columns at t of the last Run to dst (C).
func (d *Map) ColumnsAt(dst []float64, t float64) {
	d.plan(t, false)
	d.products(d.column)
	copy(dst, d.column[:d.m.Columns(d.level)])
}

// PastWeights returns what the states of row r of the history count in g of state k at t: K
// numbers.
func (m *Model) PastWeights(l *Level, k, r int, t float64) []float64 {
	K, P, C := len(m.Derivative), len(m.UMean), m.Columns(l)
	first := 1 + m.linear(l) + r*(K+P)
	i, share, _ := l.between(t)
	out := make([]float64, K)
	for j := range out {
		out[j] = l.row(i, k, K, C)[first+j]
		if share > 0 {
			out[j] += share * (l.row(i+1, k, K, C)[first+j] - out[j])
		}
	}
	return out
}

// Between returns the place in Times before t and the share of the next one in the weights at
// t.
func (l *Level) Between(t float64) (i int, share float64) {
	i, share, _ = l.between(t)
	return i, share
}
