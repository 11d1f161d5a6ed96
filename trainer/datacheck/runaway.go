package datacheck

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

const (
	runawayPace  = 5   // times the fastest that is usual
	runawayShare = 0.2 // of a track at most
)

// runaways finds a channel that leaves all that it did before, at the end (or,
// played backwards, at the beginning) of a track, and faster than it ever was:
// an estimator that diverged after its sensor had died.
func (c *checker) runaways(k int) {
	if c.channels[k].Role == channel.Input {
		return
	}
	tracks := c.tracks(k)
	var dts []float64
	for _, tr := range tracks {
		for i := 1; i < len(tr.t); i++ {
			dts = append(dts, tr.t[i]-tr.t[i-1])
		}
	}
	if len(dts) < 100 {
		return
	}
	lag := math.Max(0.05, 5*median(dts))
	mv := sketch(moves(tracks, lag))
	sv := sketch(values(tracks))
	w := width(sv)
	r := runaway{
		usual: math.Min(quantile(mv, 0.98), 3*quantile(mv, 0.9)),
		low:   quantile(sv, 0.1) - w, high: quantile(sv, 0.9) + w, lag: lag,
	}
	if r.usual == 0 {
		return
	}
	for m, tr := range tracks {
		if i := r.tail(tr.t, tr.x); i < len(tr.x) && atEnd(tracks, m) {
			c.ranAway(k, tr, i, len(tr.x), "end")
		}
		t, x := reversed(tr.t, -1), reversed(tr.x, 1)
		if i := r.tail(t, x); i < len(x) && atStart(tracks, m) {
			c.ranAway(k, tr, 0, len(x)-i, "beginning")
		}
	}
}

// runaway says what a channel usually does.
type runaway struct {
	usual     float64 // the fastest that is usual, per lag
	low, high float64 // the range that it keeps to
	lag       float64 // s
}

// tail returns the first sample of the runaway at the end, len(x) if there is none.
func (r runaway) tail(t, x []float64) int {
	n := len(x)
	if n < 20 || (x[n-1] >= r.low && x[n-1] <= r.high) {
		return n
	}
	up := x[n-1] > r.high
	fastest, i, j := 0.0, n-1, n-1
	for ; i > 0; i-- {
		for j > 0 && t[i]-t[j] < r.lag {
			j--
		}
		m := x[i] - x[j]
		if !up {
			m = -m
		}
		if m < r.usual {
			break
		}
		fastest = math.Max(fastest, m)
	}
	if fastest < runawayPace*r.usual || float64(n-i) > runawayShare*float64(n) {
		return n
	}
	// What grows into a runaway was no measurement either: go back as long as it
	// gets slower, at most by as much again.
	start := i + 1
	pace := r.usual
	for back := start - (n - start); i > max(0, back); i-- {
		for j > 0 && t[i]-t[j] < r.lag {
			j--
		}
		m := x[i] - x[j]
		if !up {
			m = -m
		}
		if m > 1.1*pace || m < 0.02*r.usual {
			break
		}
		pace = math.Min(pace, m)
		start = i
	}
	return start
}

func (c *checker) ranAway(k int, tr track, i, j int, end string) {
	s := tr.seg
	first, last := tr.at[i], tr.at[j-1]+1
	c.add(Outlier, c.garbage(k), k, s, first, last,
		"%s runs away to %s at the %s of the segment, %s, faster than it ever moves. Cut it off (time.from, time.to); look whether its sensor had stopped.",
		c.channels[k].Name, c.value(k, farthest(tr.x[i:j])), end, span(s.t[first], s.t[last-1]))
	s.mark(k, first, last, BadSpan)
}

func farthest(x []float64) float64 {
	far := 0.0
	for _, v := range x {
		if math.Abs(v) > math.Abs(far) {
			far = v
		}
	}
	return far
}

func reversed(v []float64, sign float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[len(v)-1-i] = sign * x
	}
	return out
}
