package direct

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Multiples of the largest input of the training data up to which the map counts whole, and from
// which on it does not count.
const (
	inside  = 2.0
	outside = 4.0
)

// RangeFactor is the factor at a time t by which what the map adds counts where the input leaves the range
// of the training data: 1 up to twice the largest input, 0 from four times on, linear between, by the
// largest of |ū'|/Range over the inputs and over the means ū' of the map's columns, standardised: the input at
// the start and its means over the parts of [0, t]. It depends on nothing after t.
type RangeFactor struct {
	Value float64
	Rate  float64 // its derivative by t, per second

	Slope    float64 // its derivative by the mean of Input over [From, To]; 0 where Value is 0 or 1
	Input    int
	From, To float64 // s; the same = the input at that time
}

// RangeFactor returns that at t of the last Run; with rate, Rate too.
func (d *Map) RangeFactor(t float64, rate bool) RangeFactor {
	if len(d.m.Range) == 0 {
		return RangeFactor{Value: 1}
	}
	d.plan(t, rate)
	first := 1 + d.m.Lift.Dim()
	f, column := d.m.rangeFactor(d.column[first:1+d.m.linear(d.level)], t)
	if rate && f.Slope != 0 {
		f.Rate = f.Slope * d.m.UStd[f.Input] * d.rate[first+column]
	}
	return f
}

// rangeFactor returns that of the columns of the input: at the start, and the means over the parts of
// [0, t]. column is the one that it depends on.
func (m *Model) rangeFactor(columns []float64, t float64) (f RangeFactor, column int) {
	P := len(m.Range)
	most := inside
	for i, v := range columns {
		if r, largest := math.Abs(v), m.Range[i%P]; largest > 0 && r > most*largest {
			most, column = r/largest, i
		}
	}
	switch {
	case most <= inside:
		return RangeFactor{Value: 1}, 0
	case !(most < outside):
		return RangeFactor{}, 0
	}
	f = RangeFactor{Value: (outside - most) / (outside - inside), Input: column % P}
	f.Slope = -math.Copysign(1, columns[column]) / ((outside - inside) * m.Range[f.Input] * m.UStd[f.Input])
	if part := column/P - 1; part >= 0 {
		f.From, f.To = t*float64(part)/float64(m.Blocks), t*float64(part+1)/float64(m.Blocks)
	}
	return f, column
}

// Along returns the derivative along a direction of the input. mean (P) is overwritten.
func (f *RangeFactor) Along(du channel.Signal, mean []float64) float64 {
	switch {
	case f.Slope == 0:
		return 0
	case f.From == f.To:
		du.At(mean, f.From)
	default:
		du.Mean(mean, f.From, f.To)
	}
	return f.Slope * mean[f.Input]
}

// RangeFactors writes those at all times to dst, after Evaluate; with run, after Run alone.
func (b *Batched) RangeFactors(dst []RangeFactor, run bool) {
	m, l := b.d.m, b.level()
	if run {
		b.planColumns(l)
	}
	L, P := m.Lift.Dim(), len(m.Range)
	c := b.d.tangent[:(1+m.Blocks)*P]
	copy(c, b.d.column[1+L:1+L+P])
	for i, t := range b.times {
		n := P
		if l.plan > 0 {
			n += copy(c[P:], l.columns[i*l.V+1:i*l.V+1+l.plan])
		}
		dst[i], _ = m.rangeFactor(c[:n], t)
	}
}
