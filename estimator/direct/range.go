package direct

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Multiples of the largest input, or change of an input, of the training data up to which the map counts whole, and from
// which on it does not count.
const (
	inside  = 2.0
	outside = 4.0
)

// RangeFactor is the factor at a time t by which what the map adds counts where the input leaves what the training data
// have: 1 up to twice the largest input or change, 0 from four times on, linear between, by the largest of
//
//	|ū'|/Range      |ū' − ū'₋|/Change
//
// over the inputs and over the means ū' of the map's columns, standardised: the input at the start and its means over the
// parts of [0, t], ū'₋ being the column before in time; the changes also over the means of the rows of history. A map that was fitted
// to inputs that change slowly is not determined for steps. The factor depends on nothing after t.
type RangeFactor struct {
	Value float64
	Rate  float64 // its derivative by t, per second
	Input int
	By    [2]Slope // its derivatives by means of Input; of zeros where Value is 0 or 1, or by one mean alone
}

// Slope is the derivative by the mean of an input over [From, To], s; the same = by the input at that time.
type Slope struct{ Value, From, To float64 }

// Partly reports whether the factor changes with the input.
func (f *RangeFactor) Partly() bool { return f.By[0].Value != 0 }

// RangeFactor returns that at t of the last Run; with rate, Rate too.
func (d *Map) RangeFactor(t float64, rate bool) RangeFactor {
	if len(d.m.Range) == 0 {
		return RangeFactor{Value: 1}
	}
	d.plan(t, rate)
	first := 1 + d.m.Lift.Dim()
	f, columns := d.m.rangeFactor(d.column[first:1+d.m.linear(d.level)], d.past(), t)
	if rate {
		for i, by := range f.By {
			if by.Value != 0 {
				f.Rate += by.Value * d.m.UStd[f.Input] * d.rate[first+columns[i]]
			}
		}
	}
	return f
}

// past returns the rows of history of the last Run that its level reads, standardised, newest first.
func (d *Map) past() []float64 {
	at := 1 + d.m.linear(d.level)
	return d.column[at : at+d.level.Rows*(len(d.x0)+len(d.u0))]
}

// excess is the largest ratio of an input or a change to what the training data have.
type excess struct {
	ratio float64 // at least inside
	value float64 // of the input or change, standardised
	limit float64
	of    [2]int // columns of the input whose difference it is; −1 = none
}

// raise takes a value that is the difference of columns of the input, where its ratio is larger.
func (e *excess) raise(value, limit float64, column, before int) {
	if r := math.Abs(value); limit > 0 && r > e.ratio*limit {
		*e = excess{r / limit, value, limit, [2]int{column, before}}
	}
}

// rangeFactor returns that of the columns of the input: at the start, and the means over the parts of
// [0, t], and of rows of history (K+P each). of are the columns that it depends on; −1 = none.
func (m *Model) rangeFactor(columns, past []float64, t float64) (f RangeFactor, of [2]int) {
	P := len(m.Range)
	most := excess{ratio: inside}
	for i, v := range columns {
		most.raise(v, m.Range[i%P], i, -1)
		if i >= P && len(m.Change) > 0 {
			most.raise(v-columns[i-P], m.Change[i%P], i, i-P)
		}
	}
	m.raisePast(&most, columns[:P], past)
	switch of = most.of; {
	case most.ratio <= inside:
		return RangeFactor{Value: 1}, of
	case !(most.ratio < outside):
		return RangeFactor{}, of
	}
	f.Value = (outside - most.ratio) / (outside - inside)
	if of[0] < 0 { // of history alone
		return f, of
	}
	f.Input = of[0] % P
	slope := -math.Copysign(1, most.value) / ((outside - inside) * most.limit * m.UStd[f.Input])
	f.By[0] = m.slope(slope, of[0], t)
	if of[1] >= 0 {
		f.By[1] = m.slope(-slope, of[1], t)
	}
	return f, of
}

// raisePast takes the changes from row to row of history, and from the newest to the start.
func (m *Model) raisePast(most *excess, start, past []float64) {
	P, K := len(start), len(m.Derivative)
	for r := 1; r < len(m.Change)/P && len(past) > 0; r++ {
		for p, after := range start {
			column := p // of the start
			if r > 1 {
				column = -1
			}
			most.raise(after-past[K+p], m.Change[r*P+p], column, -1)
		}
		start, past = past[K:K+P], past[K+P:]
	}
}

// slope returns that by a column.
func (m *Model) slope(value float64, column int, t float64) Slope {
	s := Slope{Value: value}
	if part := column/len(m.Range) - 1; part >= 0 {
		s.From, s.To = t*float64(part)/float64(m.Blocks), t*float64(part+1)/float64(m.Blocks)
	}
	return s
}

// Along returns the derivative along a direction of the input. mean (P) is overwritten.
func (f *RangeFactor) Along(du channel.Signal, mean []float64) (sum float64) {
	for i := range f.By {
		switch by := &f.By[i]; {
		case by.Value == 0:
			continue
		case by.From == by.To:
			du.At(mean, by.From)
		default:
			du.Mean(mean, by.From, by.To)
		}
		sum += f.By[i].Value * mean[f.Input]
	}
	return sum
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
		dst[i], _ = m.rangeFactor(c[:n], b.d.past(), t)
	}
}
