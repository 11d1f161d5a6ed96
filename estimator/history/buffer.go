package history

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

const (
	// gapFactor: an interval of so many times the narrowest row between two samples is a
	// gap.
	gapFactor = 5
	// resolution is how many samples the time of the narrowest row may keep. Of samples
	// that are closer together the newest counts; the mean of the input stays exact.
	resolution = 8
)

// Reset is why a buffer forgot its samples.
type Reset uint8

// The causes.
const (
	Continued Reset = iota // it did not
	Gap                    // a sample came after an interval of more than 5 of the narrowest rows
	Backward               // a sample is older than the last one: a clock was set, or the sender has started again
	Resets                 // the number of values
)

// Buffer keeps the last samples of a stream and resamples them to the rows that precede a
// moment. Its samples are without a gap. After NewBuffer it allocates nothing. A nil
// Buffer keeps nothing and has no rows.
type Buffer struct {
	edges     []int64   // rows, ns
	period    []float64 // K, 0 = not periodic
	K, P      int
	narrowest int64 // ns, the narrowest row
	maxGap    int64 // ns, longest interval between samples
	apart     int64 // ns, least time between two samples that are kept

	// Samples are stored in a ring: sample i of n is at (first+i) mod capacity.
	first, n int
	t        []int64   // ns
	x        []float64 // ×K
	u        []float64 // ×P, mean input until the next sample

	older, newer []float64 // K, the samples around a row
}

// NewBuffer allocates the memory for the history of K states and P inputs; nil where the
// spec has no rows. It panics if the spec contradicts itself.
func NewBuffer(states []channel.Channel, inputs int, spec Spec) *Buffer {
	if err := spec.Check(); err != nil {
		panic("history: " + err.Error())
	}
	if spec.Rows() == 0 {
		return nil
	}
	narrowest := spec.narrowest()
	apart := ns(narrowest / resolution)
	K, most := len(states), int(ns(spec.Reach())/apart)+5
	b := &Buffer{
		edges: make([]int64, spec.Rows()), period: make([]float64, K), K: K, P: inputs,
		narrowest: ns(narrowest), maxGap: ns(gapFactor * narrowest), apart: apart,
		t: make([]int64, most), x: make([]float64, most*K), u: make([]float64, most*inputs),
		older: make([]float64, K), newer: make([]float64, K),
	}
	for j, e := range spec.Edges {
		b.edges[j] = ns(e)
	}
	for k, c := range states {
		b.period[k] = c.Period
	}
	return b
}

// AddSamples adds samples at times t, s, ascending: states x (len(t)×K) and inputs u
// (len(t)×P).
func (b *Buffer) AddSamples(t, x, u []float64) {
	if b == nil {
		return
	}
	for i, at := range t {
		b.Add(int64(math.Round(at*1e9)), x[i*b.K:(i+1)*b.K], u[i*b.P:(i+1)*b.P])
	}
}

// Rows returns the most rows that Fill writes.
func (b *Buffer) Rows() int {
	if b == nil {
		return 0
	}
	return len(b.edges)
}

// Narrowest returns the width of the narrowest row, ns.
func (b *Buffer) Narrowest() int64 { return b.narrowest }

// Newest returns the time of the newest sample, ns; ok is false without one.
func (b *Buffer) Newest() (t int64, ok bool) {
	if b == nil || b.n == 0 {
		return 0, false
	}
	return b.time(b.n - 1), true
}

// Reset forgets all samples.
func (b *Buffer) Reset() {
	if b != nil {
		b.first, b.n = 0, 0
	}
}

// at returns the place of sample i in the ring.
func (b *Buffer) at(i int) int {
	if i += b.first; i >= len(b.t) {
		i -= len(b.t)
	}
	return i
}

// time returns the time of sample i, ns.
func (b *Buffer) time(i int) int64 { return b.t[b.at(i)] }

// state returns the state of sample i, a view.
func (b *Buffer) state(i int) []float64 {
	j := b.at(i)
	return b.x[j*b.K : (j+1)*b.K]
}

// input returns the mean input from sample i to the next one, a view; the input of the
// newest one is held.
func (b *Buffer) input(i int) []float64 {
	j := b.at(i)
	return b.u[j*b.P : (j+1)*b.P]
}

// Add adds the state x (K) measured at t, ns, and the input u (P) that is held from then
// on. A sample of the same time as the last one, and one with a number that is not finite,
// is ignored. After a gap, and where time goes back, the buffer begins again with this
// sample, and Add returns why.
func (b *Buffer) Add(t int64, x, u []float64) Reset {
	if b == nil {
		return Continued
	}
	if len(x) != b.K || len(u) != b.P {
		panic(wrongLength)
	}
	if !finite(x) || !finite(u) {
		return Continued
	}
	cause := Continued
	if last, any := b.Newest(); any {
		switch {
		case t == last:
			return Continued
		case t < last:
			cause = Backward
		case t-last > b.maxGap || t-last < 0: // overflow
			cause = Gap
		default:
			b.extend(t, last)
		}
	}
	if cause != Continued {
		b.Reset()
	}
	b.n++
	b.t[b.at(b.n-1)] = t
	copy(b.state(b.n-1), x)
	copy(b.input(b.n-1), u)
	return cause
}

// extend makes room for a sample at t after the last one: it drops the last one where that
// is too close to the one before, and the oldest one where the ring is full.
func (b *Buffer) extend(t, last int64) {
	if b.n > 1 && last-b.time(b.n-2) < b.apart {
		began := b.time(b.n - 2)
		mean, held := b.input(b.n-2), b.input(b.n-1)
		before, after := float64(last-began)/float64(t-began), float64(t-last)/float64(t-began)
		for p, u := range held {
			mean[p] = before*mean[p] + after*u
		}
		b.n--
	}
	if b.n == len(b.t) {
		b.first, b.n = b.at(1), b.n-1
	}
}

// CopyFrom replaces the samples by those of another buffer with as many states and inputs.
func (b *Buffer) CopyFrom(o *Buffer) {
	b.Reset()
	if b == nil || o == nil {
		return
	}
	if len(b.t) == len(o.t) && b.apart == o.apart {
		b.first, b.n = o.first, o.n
		copy(b.t, o.t)
		copy(b.x, o.x)
		copy(b.u, o.u)
		return
	}
	for i := range o.n {
		b.Add(o.time(i), o.state(i), o.input(i))
	}
}

// Hold replaces the input that is held from the newest sample on.
func (b *Buffer) Hold(u []float64) {
	if b != nil && b.n > 0 {
		copy(b.input(b.n-1), u)
	}
}

// Fill writes the rows that precede x0 (K) at t0, ns, to dst (rows × (K+P), see Spec), and
// returns how many there are: fewer than the spec has where the samples do not reach back
// so far, none where they end a gap before t0. Samples at t0 and later do not count; between
// the last one before t0 and t0 the state is interpolated to x0.
func (b *Buffer) Fill(dst []float64, t0 int64, x0 []float64) (rows int) {
	if b == nil {
		return 0
	}
	width := b.K + b.P
	if len(dst) < len(b.edges)*width || len(x0) != b.K {
		panic(wrongLength)
	}
	copy(b.newer, x0)
	until, end := t0, t0 // of newer, and of the part that is not summed yet
	i := b.n - 1
	for i >= 0 && b.time(i) >= t0 {
		i--
	}
	if i >= 0 && uint64(t0-b.time(i)) > uint64(b.maxGap) { // it may overflow
		return 0
	}
	b.unwrap(i)
	for j, edge := range b.edges {
		row, begin := dst[j*width:(j+1)*width], t0-edge
		clear(row)
		long := float64(end - begin)
		for ; i >= 0 && b.time(i) > begin; b.unwrap(i) {
			b.sum(row, i, b.time(i), end, until, long)
			end, until = b.time(i), b.time(i)
			copy(b.newer, b.older)
			i--
		}
		if i < 0 {
			return j
		}
		b.sum(row, i, begin, end, until, long)
		end = begin
	}
	return len(b.edges)
}

// unwrap writes the state of sample i to older, periodic channels continuous with newer.
func (b *Buffer) unwrap(i int) {
	if i < 0 {
		return
	}
	copy(b.older, b.state(i))
	for k, period := range b.period {
		if period > 0 {
			b.older[k] += period * math.Round((b.newer[k]-b.older[k])/period)
		}
	}
}

// sum adds to a row, which is long ns, its part [from, to] between sample i,
// which is older, and newer, at until: the state at its middle and the input, each times
// its share of the row.
func (b *Buffer) sum(row []float64, i int, from, to, until int64, long float64) {
	share, t := float64(to-from)/long, b.time(i)
	w := (0.5*float64(from-t) + 0.5*float64(to-t)) / float64(until-t)
	for k, v := range b.older {
		row[k] += share * (v + w*(b.newer[k]-v))
	}
	for p, v := range b.input(i) {
		row[b.K+p] += share * v
	}
}

// ns returns a positive time in s in ns, at least 1.
func ns(s float64) int64 { return max(int64(math.Round(s*1e9)), 1) }

func finite(v []float64) bool {
	return !slices.ContainsFunc(v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}

const wrongLength = "history: a length does not fit the states and inputs"
