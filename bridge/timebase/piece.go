package timebase

import (
	"math"
	"slices"
)

// piece relates the stamps of one clock to the times at which the recorder got the
// messages. A message is recorded after it was stamped, by a delay that is never
// negative, so the smallest differences over stretches of the log count; offset and
// shortest delay cannot be separated from one side.
type piece struct {
	from     int     // number of its first message in the file
	by       *stream // the topic whose times began anew with it; nil = none
	jumped   bool    // it begins where the differences jump
	jump     int64   // ns, by which they fall there
	n        int
	least    int64   // ns, the smallest difference of recorded time and stamp
	first    int64   // ns, the first one
	mean     float64 // ns, of the differences beyond the first
	stretch  int64   // ns of recorded time for a knot
	begin    int64   // ns, when the first was recorded
	at       int64   // number of the stretch of the last knot
	knots    []knot  // of each stretch the message with the smallest difference
	relation relation
	offset   int64
	rate     float64 // seconds of the clock in one of the recorder
	error    float64 // ns, by which the relation misses the knots
}

// knot is a stamp and the time at which it was recorded.
type knot struct{ stamp, logged int64 }

// relation is how stamps become times of the recorder.
type relation uint8

const (
	shifted relation = iota // by an offset
	scaled                  // by an offset and a rate
	bent                    // along the knots: the rate varies
	unknown                 // not at all
)

const (
	firstStretch = 1e9    // ns
	mostKnots    = 1 << 9 //
	jitter       = 50e6   // ns, by which shortest delays may differ without another rate
	same         = 1e9    // ns, how far a clock may seem to be behind and still be the recorder's, with a delay
	certain      = 5e6    // ns, by which a message is recorded before its stamp only if a clock is off
	exact        = 20e6   // ns, how well a constant rate must fit
	rateSpan     = 10e9   // ns, over which a rate shows; one by which clocks part by more than a delay shows sooner
)

func (p *piece) add(stamp, logged int64) {
	d := logged - stamp
	if p.n == 0 {
		p.least, p.first, p.stretch, p.begin = d, d, firstStretch, logged
	}
	p.n++
	p.least = min(p.least, d)
	p.mean += (float64(d-p.first) - p.mean) / float64(p.n)
	at := (logged - p.begin) / p.stretch
	if k := len(p.knots) - 1; k >= 0 && at <= p.at {
		if last := &p.knots[k]; d < last.logged-last.stamp {
			*last = knot{stamp, logged}
		}
		return
	}
	p.knots, p.at = append(p.knots, knot{stamp, logged}), at
	if len(p.knots) > mostKnots {
		p.halve()
	}
}

// absorb adds the messages of a piece that began where no clock was set.
func (p *piece) absorb(o *piece) {
	if o.n == 0 {
		return
	}
	n, mean := p.n+o.n, (float64(p.n)*(p.mean+float64(p.first))+float64(o.n)*(o.mean+float64(o.first)))/float64(p.n+o.n)
	for _, k := range o.knots {
		p.add(k.stamp, k.logged)
	}
	p.n, p.mean = n, mean-float64(p.first)
}

// halve joins the knots of pairs of stretches.
func (p *piece) halve() {
	p.stretch *= 2
	p.at /= 2
	out, at := p.knots[:0], int64(-1)
	for _, k := range p.knots {
		next := (k.logged - p.begin) / p.stretch
		if len(out) == 0 || next > at {
			out, at = append(out, k), next
		} else if last := &out[len(out)-1]; k.logged-k.stamp < last.logged-last.stamp {
			*last = k
		}
	}
	p.knots = out
}

// fit decides which relation holds.
func (p *piece) fit() {
	k := p.knots
	if len(k) > 5 {
		k = k[:len(k)-1] // the last stretch may hold a few messages only
	}
	level := false
	p.error, level = p.level(k)
	brief := k[len(k)-1].logged-k[0].logged < rateSpan
	if level || len(k) < 5 || brief && p.error < same {
		return
	}
	slope := p.line() // recorded time over stamps
	worst := 0.0
	lowest := math.Inf(1)
	for _, n := range k {
		r := float64(n.logged-k[0].logged) - slope*float64(n.stamp-k[0].stamp)
		lowest, worst = math.Min(lowest, r), math.Max(worst, r)
	}
	if slope > 0 && worst-lowest < math.Max(exact, p.error/10) {
		p.relation, p.rate, p.error = scaled, 1/slope, worst-lowest
		p.offset = k[0].logged + int64(lowest) - k[0].stamp
		return
	}
	if brief {
		return
	}
	// Only what rises in both clocks relates them.
	rising := p.knots[:1]
	for _, n := range p.knots[1:] {
		if last := rising[len(rising)-1]; n.stamp > last.stamp && n.logged > last.logged {
			rising = append(rising, n)
		}
	}
	if 2*len(rising) < len(k) {
		p.relation = unknown
		return
	}
	p.knots, p.relation, p.rate = rising, bent, 1/slope
	p.error = uncertain(rising)
}

// level reports whether the shortest differences are the same at the start and at the end of knots,
// and in half of them: others are those of messages that were under way for longer. It returns
// how far they are apart, ns.
func (p *piece) level(k []knot) (apart float64, level bool) {
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for _, n := range k {
		low, high = min(low, n.logged-n.stamp), max(high, n.logged-n.stamp)
	}
	var at []int
	most := low
	for i, n := range k {
		if d := n.logged - n.stamp; float64(d-low) <= jitter {
			at, most = append(at, i), max(most, d)
		}
	}
	if 2*len(at) < len(k) || at[0] > len(k)/4 || at[len(at)-1] < len(k)-1-len(k)/4 {
		return float64(high - low), false
	}
	return float64(most - low), true
}

// uncertain returns by how much times between knots may be off, ns: by what the differences
// change there beyond what they do on both sides.
func uncertain(k []knot) (most float64) {
	change := func(i int) (by, over float64) {
		a, b := k[i], k[i+1]
		return float64((b.logged - b.stamp) - (a.logged - a.stamp)), float64(b.logged - a.logged)
	}
	for i := 1; i+2 < len(k); i++ {
		before, t0 := change(i - 1)
		by, t := change(i)
		behind, t1 := change(i + 1)
		most = math.Max(most, math.Abs(by-t*(before+behind)/(t0+t1)))
	}
	return most
}

// line returns the median slope between knots that are half of them apart.
func (p *piece) line() float64 {
	var all []float64
	for i, half := 0, len(p.knots)/2; i+half < len(p.knots); i++ {
		a, b := p.knots[i], p.knots[i+half]
		if b.stamp > a.stamp {
			all = append(all, float64(b.logged-a.logged)/float64(b.stamp-a.stamp))
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// logged returns the recorder's time for a stamp.
func (p *piece) logged(stamp int64) int64 {
	switch p.relation {
	case scaled:
		k := p.knots[0]
		return k.stamp + p.offset + int64(float64(stamp-k.stamp)/p.rate)
	case bent:
		return along(p.knots, stamp, func(k knot) (int64, int64) { return k.stamp, k.logged })
	}
	return stamp + p.offset
}

// stamp returns the stamp for a time of the recorder.
func (p *piece) stamp(logged int64) int64 {
	switch p.relation {
	case scaled:
		k := p.knots[0]
		return k.stamp + int64(float64(logged-k.stamp-p.offset)*p.rate)
	case bent:
		return along(p.knots, logged, func(k knot) (int64, int64) { return k.logged, k.stamp })
	}
	return logged - p.offset
}

// along returns the value at x on the straight lines between knots, of which axes returns
// x and value.
func along(knots []knot, x int64, axes func(knot) (x, y int64)) int64 {
	i, _ := slices.BinarySearchFunc(knots, x, func(k knot, x int64) int {
		if at, _ := axes(k); at <= x {
			return -1
		}
		return 1
	})
	i = min(max(i, 1), len(knots)-1)
	x0, y0 := axes(knots[i-1])
	x1, y1 := axes(knots[i])
	return y0 + int64(float64(x-x0)*float64(y1-y0)/float64(x1-x0))
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}
