package datacheck

import (
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// recording is a log by columns, or those of its segments that are looked at together.
type recording struct {
	channels   []channel.Channel
	kinematics channel.Kinematics
	horizon    float64 // s, 0 = not known
	segs       []*segment
	found      *findings
}

// segment is one segment of the log.
type segment struct {
	name  string
	index int
	ns    []int64     // n stamps
	t     []float64   // n, s after the first sample
	col   [][]float64 // by channel, in the order of the header, then by sample
	mask  Mask        // the same
	keep  []int       // the samples whose stamps are in order
	dt    float64     // s, median interval
}

// newRecording splits the row-major blocks of a log into columns. With opt.taking they are taken from it until giveBack, so that a log of hours
// is not twice in memory.
func newRecording(log *flightlog.Log, opt Options) *recording {
	r := &recording{channels: log.Channels, kinematics: log.Kinematics, horizon: opt.Horizon, found: &findings{}}
	for i := range log.Segments {
		seg := &log.Segments[i]
		s := &segment{name: seg.Name, index: i, ns: seg.T, t: make([]float64, len(seg.T))}
		for j, ns := range seg.T {
			s.t[j] = float64(ns-seg.T[0]) / 1e9
		}
		s.col, s.mask = make([][]float64, len(r.channels)), make(Mask, len(r.channels))
		for role, block := range blocksOf(seg) {
			places := r.places(role)
			for j, k := range places {
				s.col[k], s.mask[k] = takeColumn((*block)[j:], len(places), s.n())
			}
			if opt.taking {
				*block = nil
			}
		}
		r.segs = append(r.segs, s)
	}
	for _, s := range r.segs {
		s.dt = medianInterval(s)
	}
	return r
}

// giveBack makes the blocks of the log again, and ends the recording.
func (r *recording) giveBack(log *flightlog.Log) {
	for i, s := range r.segs {
		for role, block := range blocksOf(&log.Segments[i]) {
			places := r.places(role)
			if *block = make([]float64, len(places)*s.n()); len(places) == 0 {
				*block = nil
			}
			for j, k := range places {
				for n, v := range s.col[k] {
					(*block)[n*len(places)+j] = v
				}
				s.col[k] = nil
			}
		}
	}
}

// blocksOf returns the blocks of a segment.
func blocksOf(seg *flightlog.Segment) map[channel.Role]*[]float64 {
	return map[channel.Role]*[]float64{channel.State: &seg.X, channel.Input: &seg.U, channel.Aux: &seg.Aux}
}

// takeColumn copies every stride-th value of a row-major block.
func takeColumn(block []float64, stride, n int) ([]float64, []Reason) {
	x, mask := make([]float64, n), make([]Reason, n)
	for i := range x {
		x[i] = block[i*stride]
		if !finite(x[i]) {
			mask[i] = Missing
		}
	}
	return x, mask
}

// of returns the recording of some of the segments.
func (r *recording) of(segs ...*segment) *recording {
	part := *r
	part.segs = segs
	return &part
}

// places returns the channels of a role, by their places in the header.
func (r *recording) places(role channel.Role) []int {
	var out []int
	for k, ch := range r.channels {
		if ch.Role == role {
			out = append(out, k)
		}
	}
	return out
}

// used returns the places of states, then inputs.
func (r *recording) used() []int { return append(r.places(channel.State), r.places(channel.Input)...) }

// masks returns the masks of the segments, states first, then inputs, then the others.
func (r *recording) masks() []Mask {
	order := append(r.used(), r.places(channel.Aux)...)
	out := make([]Mask, len(r.segs))
	for i, s := range r.segs {
		for _, k := range order {
			out[i] = append(out[i], s.mask[k])
		}
	}
	return out
}

func (s *segment) n() int { return len(s.t) }

// good reports whether channel k has a value at sample i that is not known to be wrong.
// The stamp may be wrong.
func (s *segment) good(k, i int) bool { return s.mask[k][i]&(Missing|BadValue|BadSpan) == 0 }

// change returns by how much channel k changes from sample i to j, the shorter way round.
func (r *recording) change(s *segment, k, i, j int) float64 {
	return wrapped(s.col[k][j]-s.col[k][i], r.channels[k].Period)
}

// pieces returns the samples with stamps in order, parted where time is broken.
func (s *segment) pieces() [][]int {
	var out [][]int
	for i, j := range runs(len(s.keep), func(_, i int) bool { return s.mask[0][s.keep[i]]&TimeBreak == 0 }) {
		out = append(out, s.keep[i:j])
	}
	return out
}

// blocks parts the samples into ranges of a duration, s. One ends where time goes back.
func (s *segment) blocks(duration float64) []span {
	var out []span
	for i, j := range runs(s.n(), func(first, i int) bool { return s.t[i]-s.t[first] < duration && s.t[i] > s.t[first] }) {
		out = append(out, span{s, i, j})
	}
	return out
}

// usualExtent returns the median extent of channel k over m samples in a row.
func (s *segment) usualExtent(k, m int) float64 {
	return s.usual(m, func(i, j int) float64 { return extent(s.col[k][i:j]) })
}

// usual returns the median of f over stretches of m samples.
func (s *segment) usual(m int, f func(i, j int) float64) float64 {
	hop := max(m, s.n()/200)
	var v []float64
	for i := 0; i+m <= s.n(); i += hop {
		v = append(v, f(i, i+m))
	}
	return median(v)
}

// medianInterval returns the usual interval between the samples of segments, s; 0 without.
func medianInterval(segs ...*segment) float64 {
	var dt []float64
	for _, s := range segs {
		for i := 1; i < s.n(); i++ {
			if d := s.ns[i] - s.ns[i-1]; d > 0 {
				dt = append(dt, float64(d)/1e9)
			}
		}
	}
	return median(dt)
}

// span is samples [first, last) of a segment.
type span struct {
	seg         *segment
	first, last int
}

// whole is all samples of a segment.
func (s *segment) whole() span { return span{s, 0, s.n()} }

func (sp span) n() int { return sp.last - sp.first }

func (sp span) from() float64 { return sp.seg.t[sp.first] }

func (sp span) to() float64 { return sp.seg.t[sp.last-1] }

func (sp span) String() string { return printSpan(sp.from(), sp.to()) }

// mark sets the samples of channel k aside; those of all channels where k < 0.
func (sp span) mark(k int, why Reason) {
	for c, col := range sp.seg.mask {
		if k < 0 || c == k {
			for i := sp.first; i < sp.last; i++ {
				col[i] |= why
			}
		}
	}
}

// total counts the samples of several spans.
func total(spans []span) (n int) {
	for _, sp := range spans {
		n += sp.n()
	}
	return n
}
