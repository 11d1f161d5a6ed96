package datacheck

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// record is a log by columns.
type record struct {
	channels []channel.Channel
	law      channel.Kinematics
	segs     []*segment
}

// segment is one segment of the log.
type segment struct {
	name  string
	index int
	ns    []int64     // n stamps
	t     []float64   // n, s after the first sample
	col   [][]float64 // by channel, then by sample
	mask  Mask        // channels in the order of the header

	keep []int   // the samples whose stamps are in order
	cuts []int   // samples before which time is broken
	dt   float64 // s, median interval

	filled []filling // channels with samples that were filled in
}

// newSegment splits the row-major blocks of a segment into columns. Block b
// holds the channels that the b-th list names by their places in the header.
func newSegment(name string, index int, ns []int64, channels int, blocks [][]float64, places [][]int) *segment {
	n := len(ns)
	s := &segment{
		name: name, index: index, ns: ns,
		t: make([]float64, n), col: make([][]float64, channels), mask: make(Mask, channels),
	}
	for i := range ns {
		s.t[i] = float64(ns[i]-ns[0]) / 1e9
	}
	for b, block := range blocks {
		width := len(places[b])
		for j, c := range places[b] {
			s.col[c] = make([]float64, n)
			s.mask[c] = make([]Reason, n)
			for i := range n {
				v := block[i*width+j]
				s.col[c][i] = v
				if !finite(v) {
					s.mask[c][i] = Missing
				}
			}
		}
	}
	return s
}

func (s *segment) n() int { return len(s.t) }

// mark sets samples [from, to) of channel c aside; those of all channels where c < 0.
func (s *segment) mark(c, from, to int, why Reason) {
	for k, col := range s.mask {
		if c < 0 || k == c {
			for i := from; i < to; i++ {
				col[i] |= why
			}
		}
	}
}

// good reports whether channel c has a value at sample i that nothing is known against.
// The stamp may be wrong.
func (s *segment) good(c, i int) bool { return s.mask[c][i]&(Missing|BadValue|BadSpan) == 0 }

// pieces returns the stretches of samples between which time is not broken, as
// ranges of keep.
func (s *segment) pieces() [][2]int {
	var out [][2]int
	from := 0
	for _, c := range s.cuts {
		to := from
		for to < len(s.keep) && s.keep[to] < c {
			to++
		}
		if to > from {
			out = append(out, [2]int{from, to})
		}
		from = to
	}
	if from < len(s.keep) {
		out = append(out, [2]int{from, len(s.keep)})
	}
	return out
}

// track is one channel in one stretch without a break: its finite values that
// nothing is known against, at the pace at which they come.
type track struct {
	seg  *segment
	ch   int
	at   []int     // samples of the segment
	t, x []float64 // s, value
}

// maxHole is how many of its usual intervals a track bridges.
const maxHole = 5.5

// tracks returns the tracks of channel c of at least two values, unwrapped if
// the channel is periodic.
func (r *record) tracks(c int) []track {
	var out []track
	for _, s := range r.segs {
		for _, p := range s.pieces() {
			var at []int
			for _, i := range s.keep[p[0]:p[1]] {
				if s.good(c, i) {
					at = append(at, i)
				}
			}
			out = split(out, s, c, at)
		}
	}
	if period := r.channels[c].Period; period > 0 {
		for _, tr := range out {
			unwrap(tr.x, period)
		}
	}
	return out
}

// split appends the tracks that samples at of one piece form.
func split(out []track, s *segment, c int, at []int) []track {
	if len(at) < 2 {
		return out
	}
	dt := make([]float64, len(at)-1)
	for j := range dt {
		dt[j] = s.t[at[j+1]] - s.t[at[j]]
	}
	limit := maxHole * median(dt)
	from := 0
	for j := 1; j <= len(at); j++ {
		if j < len(at) && dt[j-1] <= limit {
			continue
		}
		if j-from >= 2 {
			tr := track{seg: s, ch: c, at: at[from:j], t: make([]float64, j-from), x: make([]float64, j-from)}
			for k, i := range tr.at {
				tr.t[k], tr.x[k] = s.t[i], s.col[c][i]
			}
			out = append(out, tr)
		}
		from = j
	}
	return out
}

// apart is how long nothing good has to be there for a track to be the first or
// the last one, s.
const apart = 1.0

// atEnd reports whether nothing good follows track m in its segment for a while.
func atEnd(tracks []track, m int) bool {
	if m+1 == len(tracks) || tracks[m+1].seg != tracks[m].seg {
		return true
	}
	return math.Abs(tracks[m+1].t[0]-tracks[m].t[len(tracks[m].t)-1]) > apart
}

// atStart reports whether nothing good comes shortly before track m.
func atStart(tracks []track, m int) bool {
	if m == 0 || tracks[m-1].seg != tracks[m].seg {
		return true
	}
	return math.Abs(tracks[m].t[0]-tracks[m-1].t[len(tracks[m-1].t)-1]) > apart
}

// unwrap makes x continuous modulo period, in place. Numbers that are no angle at
// all stay as they are and are passed over.
func unwrap(x []float64, period float64) {
	turns, last := 0.0, math.NaN()
	for i, v := range x {
		if math.Abs(v) > 1e6*period {
			continue
		}
		if !math.IsNaN(last) {
			turns += math.Round((last - v - turns*period) / period)
		}
		x[i] = v + turns*period
		last = x[i]
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
