package datacheck

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// series is one channel of a recording.
type series struct {
	*recording
	channel.Channel
	k int // its place in the header

	// How far it moves in half a second, in the middle recording group: a kink that is
	// small against it does no harm even where the robot rests.
	motion float64
}

func (r *recording) series(k int) series { return series{recording: r, Channel: r.channels[k], k: k} }

// track is a stretch of a series without a break: its good values, at the rate at which
// they come, unwrapped if the channel is periodic.
type track struct {
	seg  *segment
	at   []int     // samples of the segment
	t, x []float64 // s, value
}

// tracks returns the tracks of at least two values.
func (s series) tracks() []track {
	var out []track
	for _, seg := range s.segs {
		for _, piece := range seg.pieces() {
			var at []int
			for _, i := range piece {
				if seg.good(s.k, i) {
					at = append(at, i)
				}
			}
			out = append(out, s.split(seg, at)...)
		}
	}
	return out
}

// split returns the tracks that samples of one piece form.
func (s series) split(seg *segment, at []int) []track {
	dt := make([]float64, max(0, len(at)-1))
	for j := range dt {
		dt[j] = seg.t[at[j+1]] - seg.t[at[j]]
	}
	limit := longestHole * median(dt)
	var out []track
	for i, j := range runs(len(at), func(_, i int) bool { return dt[i-1] <= limit }) {
		if j-i < 2 {
			continue
		}
		tr := track{seg: seg, at: at[i:j], t: make([]float64, j-i), x: make([]float64, j-i)}
		for n, a := range tr.at {
			tr.t[n], tr.x[n] = seg.t[a], seg.col[s.k][a]
		}
		if s.Period > 0 {
			unwrap(tr.x, s.Period)
		}
		out = append(out, tr)
	}
	return out
}

// span returns samples [i, j) of a track as a span of its segment.
func (tr *track) span(i, j int) span { return span{tr.seg, tr.at[i], tr.at[j-1] + 1} }

// off returns how far sample i is from the line through samples a and b.
func (tr *track) off(i, a, b int) float64 {
	w := (tr.t[i] - tr.t[a]) / (tr.t[b] - tr.t[a])
	return math.Abs(tr.x[i] - tr.x[a] - w*(tr.x[b]-tr.x[a]))
}

// atStart reports whether no good value comes shortly before track m in its segment.
func atStart(tracks []track, m int) bool {
	if m == 0 || tracks[m-1].seg != tracks[m].seg {
		return true
	}
	before := tracks[m-1].t
	return math.Abs(tracks[m].t[0]-before[len(before)-1]) > farFromEnd
}

// atEnd reports whether no good value follows shortly after track m.
func atEnd(tracks []track, m int) bool {
	return m+1 == len(tracks) || atStart(tracks, m+1)
}

func values(tracks []track) []float64 {
	var out []float64
	for _, tr := range tracks {
		out = append(out, tr.x...)
	}
	return out
}

// intervals returns the times between the values of all tracks, s.
func intervals(tracks []track) []float64 {
	var out []float64
	for _, tr := range tracks {
		for i := 1; i < len(tr.t); i++ {
			out = append(out, tr.t[i]-tr.t[i-1])
		}
	}
	return out
}

// moves returns |x(t+lag) − x(t)| over all tracks, lag in s, by nearest sample.
func moves(tracks []track, lag float64) []float64 {
	var out []float64
	for _, tr := range tracks {
		j := 0
		for i := range tr.x {
			for j < len(tr.t) && tr.t[j] < tr.t[i]+lag {
				j++
			}
			if j == len(tr.t) {
				break
			}
			out = append(out, math.Abs(tr.x[j]-tr.x[i]))
		}
	}
	return out
}

// scales are what a channel usually does.
type scales struct {
	sorted     []float64 // its values
	used       float64   // of its range, at most half a turn of an angle
	reach      float64   // how far it moves in half a second, within what it uses
	resolution float64   // the step of a coarse sensor, else 0
}

func (s series) scales(tracks []track) scales {
	v := scales{sorted: sketch(values(tracks))}
	v.used = width(v.sorted)
	if s.Period > 0 {
		v.used = min(angularWidth(v.sorted, s.Period), s.Period/2)
	}
	v.reach = min(v.used, quantile(sketch(moves(tracks, 0.5)), 0.95))
	v.resolution = resolution(v.sorted)
	return v
}
