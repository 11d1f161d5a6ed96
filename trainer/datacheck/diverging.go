package datacheck

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// diverging finds a channel that leaves its whole range at the end (or, played backwards,
// at the beginning) of a track, and faster than it ever moves: an estimator that diverged
// after its sensor had stopped.
func (s series) diverging() (found []place) {
	if s.Role == channel.Input {
		return nil
	}
	tracks := s.tracks()
	dt := intervals(tracks)
	if len(dt) < 100 {
		return nil
	}
	lag := math.Max(0.05, 5*median(dt))
	mv := sketch(moves(tracks, lag))
	d := divergence{usual: math.Min(quantile(mv, 0.98), 3*quantile(mv, 0.9)), lag: lag, period: s.Period}
	v := values(tracks)
	if s.Period > 0 {
		d.centre = circularMean(v, s.Period)
		for i, x := range v {
			v[i] = wrapped(x-d.centre, s.Period)
		}
	}
	sv := sketch(v)
	w := width(sv)
	d.low, d.high = quantile(sv, 0.1)-w, quantile(sv, 0.9)+w
	if d.usual == 0 {
		return nil
	}
	for m, tr := range tracks {
		n := len(tr.x)
		if i := d.tail(tr.t, tr.x); i < n && atEnd(tracks, m) {
			found = append(found, place{tr, i, n})
		}
		if i := d.tail(backwards(tr.t, -1), backwards(tr.x, 1)); i < n && atStart(tracks, m) {
			found = append(found, place{tr, 0, n - i})
		}
	}
	return found
}

func backwards(v []float64, sign float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[len(v)-1-i] = sign * x
	}
	return out
}

// divergence is what a channel usually does.
type divergence struct {
	usual     float64 // the fastest that is usual, per lag
	low, high float64 // the range that it stays in; of an angle, from its mean, on the turn around that
	lag       float64 // s
	period    float64 // of an angle, else 0
	centre    float64 // the mean of an angle
}

// outside returns 1 or −1 where a value is above or below the range, else 0. How many
// turns an angle has made leaves no range.
func (d divergence) outside(x float64) float64 {
	switch x = wrapped(x-d.centre, d.period); {
	case x > d.high:
		return 1
	case x < d.low:
		return -1
	}
	return 0
}

// tail returns the first sample of a divergence at the end, len(x) if there is none.
func (d divergence) tail(t, x []float64) int {
	n := len(x)
	if n < 20 {
		return n
	}
	outwards := d.outside(x[n-1])
	if outwards == 0 {
		return n
	}
	j := n - 1
	pace := func(i int) float64 { // over the lag ahead of sample i, which only falls
		for j > 0 && t[i]-t[j] < d.lag {
			j--
		}
		return outwards * (x[i] - x[j])
	}
	fastest, i := 0.0, n-1
	for ; i > 0; i-- {
		m := pace(i)
		if m < d.usual {
			break
		}
		fastest = math.Max(fastest, m)
	}
	if fastest < divergePace*d.usual || float64(n-i) > divergeShare*float64(n) {
		return n
	}
	// What grows into a divergence was not measured either: go back as long as it gets
	// slower, at most by as much again.
	start := i + 1
	slowest := d.usual
	for back := start - (n - start); i > max(0, back); i-- {
		m := pace(i)
		if m > 1.1*slowest || m < 0.02*d.usual {
			break
		}
		slowest = math.Min(slowest, m)
		start = i
	}
	return start
}

// diverges reports one that diverges.
func (s series) diverges(p place) {
	at, end := p.span(p.i, p.j), "end"
	if p.i == 0 {
		end = "beginning"
	}
	if s.turns(at) {
		return
	}
	// As it was recorded: a track counts the turns of an angle.
	far := 0.0
	for _, n := range p.at[p.i:p.j] {
		if x := p.seg.col[s.k][n]; math.Abs(x) > math.Abs(far) {
			far = x
		}
	}
	s.exclude(Outlier, s.k, at, BadSpan,
		"%s diverges to %s at the %s of the segment, %s, faster than it moves anywhere else. Cut this off (time.from, time.to); check whether its sensor had stopped.",
		s.Name, s.value(s.k, far), end, at)
}

// turns reports whether an angle and its measured rate agree about a span in which one of
// them seems to diverge: both are measured, and the robot turned so fast.
func (s series) turns(at span) bool {
	return slices.ContainsFunc(s.pairs(s.k), func(p pair) bool {
		moved := 0.0
		for i := at.first + 1; i < at.last; i++ {
			moved += math.Abs(s.change(at.seg, p.position, i-1, i))
		}
		return s.channels[p.position].Period > 0 && s.apart(at.seg, p, at.first, at.last) < turnApart*moved
	})
}
