package datacheck

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

const (
	shortestFreeze = 4   // equal values in a row
	habit          = 0.1 // of the samples: a channel that often stands still is not broken
	surprise       = 15  // −ln of the chance at which a run of equal values is too long
)

// repeats is a run [i, j) of equal values in a track.
type repeats struct{ i, j int }

// frozen finds values that stand still while they should move.
func (c *checker) frozen(k int) {
	tracks := c.tracks(k)
	if c.channels[k].Role == channel.Input && c.commanded(tracks) {
		return
	}
	var all []repeats
	same, pairs := 0, 0
	per := make([][]repeats, len(tracks))
	for m, tr := range tracks {
		per[m] = runsOfEqual(tr.x)
		all = append(all, per[m]...)
		pairs += len(tr.x) - 1
		for _, r := range per[m] {
			if r.j-r.i < shortestFreeze+1 {
				same += r.j - r.i - 1
			}
		}
		for _, r := range per[m] {
			if r.j-r.i >= shortestFreeze+1 {
				pairs -= r.j - r.i - 1
			}
		}
	}
	if len(all) == 0 {
		return
	}
	f := &freezes{checker: c, k: k, noisy: float64(same) < 0.01*float64(pairs)}
	sd := sorted(values(tracks))
	f.quantum, f.low, f.high = resolution(sd), sd[0], sd[len(sd)-1]
	type freeze struct {
		tr  track
		r   repeats
		why string
	}
	var found []freeze
	held, total := 0, 0
	for m, tr := range tracks {
		total += len(tr.x)
		for _, r := range per[m] {
			if r.j-r.i < shortestFreeze {
				continue
			}
			if why := f.why(tr, r); why != "" {
				found = append(found, freeze{tr, r, why})
				held += r.j - r.i
			}
		}
	}
	if len(found) > 8 && float64(held) > habit*float64(total) {
		c.addLog(Rate, Note, k, held,
			"%s stands still in %d places, %.0f %% of its samples: it is measured more slowly or more coarsely than the log is sampled. Log NaN where nothing new was measured.",
			c.channels[k].Name, len(found), 100*float64(held)/float64(total))
		c.slow[k] = true
		return
	}
	for _, z := range found {
		f.report(z.tr, z.r, z.why)
	}
}

// commanded reports whether an input is one that is set now and then and held:
// standing still is its nature.
func (c *checker) commanded(tracks []track) bool {
	same, n := 0, 0
	for _, tr := range tracks {
		for i := 1; i < len(tr.x); i++ {
			if tr.x[i] == tr.x[i-1] {
				same++
			}
			n++
		}
	}
	return 5*same > n
}

func runsOfEqual(x []float64) []repeats {
	var out []repeats
	for i := 0; i < len(x); {
		j := i + 1
		for j < len(x) && x[j] == x[i] {
			j++
		}
		if j-i >= 2 {
			out = append(out, repeats{i, j})
		}
		i = j
	}
	return out
}

// freezes judges the runs of one channel.
type freezes struct {
	*checker
	k         int
	noisy     bool    // the channel never repeats a value but in long runs
	quantum   float64 // the step of a coarse sensor
	low, high float64 // its extremes
}

// why says why a run is a freeze, or "" if it need not be one.
func (f *freezes) why(tr track, r repeats) string {
	m := r.j - r.i
	w := min(max(2*m, 20), 400)
	before, after := tr.x[max(0, r.i-w):r.i], tr.x[r.j:min(len(tr.x), r.j+w)]
	left, right := pace(before), pace(after)
	if f.atLimit(tr.x[r.i]) || f.atTop(tr.x, r) || (left < 0 && right < 0) {
		return ""
	}
	// Both sides have to be lively, and one of them has to be there.
	odds := -float64(m-1) * math.Log(math.Max(math.Max(left, right), 1e-4))
	if odds < surprise {
		return ""
	}
	edge := left < 0 || right < 0
	if f.noisy && m >= 2*shortestFreeze {
		return "though the noise of this sensor never repeats a value"
	}
	if odds > 2*surprise && trembles(before, true) && trembles(after, false) {
		return "though the noise of this sensor never rests as long"
	}
	if moved, known := f.integral(tr, r); known {
		if !moved {
			return ""
		}
		return "while its derivative says that it moves"
	}
	switch {
	case edge && f.quantum > 0:
		return ""
	case f.elsewhere(tr, r):
		return "while other channels move on"
	case !edge && f.catchesUp(tr, r):
		return "and then jumps to where it would have been"
	}
	return ""
}

// trembles reports whether the samples next to a run go up and down, as noise
// does, rather than one way. Too few to tell count as trembling.
func trembles(x []float64, atEnd bool) bool {
	if len(x) < 10 {
		return true
	}
	if atEnd {
		x = x[max(0, len(x)-25):]
	} else {
		x = x[:min(len(x), 25)]
	}
	turns, last := 0, 0.0
	for i := 1; i < len(x); i++ {
		d := x[i] - x[i-1]
		if d*last < 0 {
			turns++
		}
		if d != 0 {
			last = d
		}
	}
	return 5*turns >= len(x)
}

// atLimit reports whether an input stands at an end of its range, as it does when
// it is commanded off or to the full.
func (f *freezes) atLimit(v float64) bool {
	return f.channels[f.k].Role == channel.Input && (v == f.low || v == f.high || v == 0)
}

// atTop reports whether the run is a flat top of the channel: that is clipped, not
// frozen.
func (f *freezes) atTop(x []float64, r repeats) bool {
	v := x[r.i]
	return v == f.high && arrives(x, r.i, r.j, 1, f.quantum) || v == f.low && arrives(x, r.i, r.j, -1, f.quantum)
}

// pace estimates the chance that a value equals the one before it; −1 if there
// is too little to tell.
func pace(x []float64) float64 {
	if len(x) < 10 {
		return -1
	}
	same := 0
	for i := 1; i < len(x); i++ {
		if x[i] == x[i-1] {
			same++
		}
	}
	return (float64(same) + 0.5) / float64(len(x))
}

// catchesUp reports whether the value jumps at the end of the run by more than
// it does from sample to sample around it.
func (f *freezes) catchesUp(tr track, r repeats) bool {
	var near []float64
	for i := max(1, r.i-20); i < min(len(tr.x), r.j+20); i++ {
		if i <= r.i || i > r.j {
			near = append(near, math.Abs(tr.x[i]-tr.x[i-1]))
		}
	}
	jump := math.Abs(tr.x[r.j] - tr.x[r.j-1])
	return jump > 3*quantile(sketch(near), 0.9)+2*f.quantum
}

// integral reports whether the measured derivative of the channel says that it
// moved during the run, and whether it is there to ask.
func (f *freezes) integral(tr track, r repeats) (moved, known bool) {
	name := f.channels[f.k].Derivative
	if name == "" {
		return false, false
	}
	s := tr.seg
	d := s.col[channel.Index(f.channels, name)]
	a, b := tr.at[r.i], tr.at[r.j-1]
	sum, least, most := 0.0, 0.0, 0.0
	for i := a; i < b; i++ {
		if !finite(d[i]) || !finite(d[i+1]) {
			return false, false
		}
		sum += 0.5 * (d[i] + d[i+1]) * (s.t[i+1] - s.t[i])
		least, most = math.Min(least, sum), math.Max(most, sum)
	}
	return most-least > 5*f.quantum && most-least > 0.2*f.usualRange(s, f.k, b-a+1), true
}

// elsewhere reports whether most of the other states move during the run as much
// as they usually do in so long a time, and this one would have to as well.
func (f *freezes) elsewhere(tr track, r repeats) bool {
	s := tr.seg
	a, b := tr.at[r.i], tr.at[r.j-1]
	if f.usualRange(s, f.k, b-a+1) <= 4*f.quantum {
		return false
	}
	moving, others := 0, 0
	for _, k := range f.states() {
		if k == f.k {
			continue
		}
		usual := f.usualRange(s, k, b-a+1)
		if usual == 0 {
			continue
		}
		others++
		if extent(s.col[k][a:b+1]) > 0.4*usual {
			moving++
		}
	}
	return others > 0 && 2*moving >= others
}

// usualRange returns the median extent of channel k over stretches of m samples
// of the segment.
func (f *freezes) usualRange(s *segment, k, m int) float64 {
	hop := max(m, s.n()/200)
	var v []float64
	for i := 0; i+m <= s.n(); i += hop {
		v = append(v, extent(s.col[k][i:i+m]))
	}
	return median(v)
}

// extent returns the largest minus the smallest finite value.
func extent(x []float64) float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range x {
		if finite(v) {
			lo, hi = math.Min(lo, v), math.Max(hi, v)
		}
	}
	return math.Max(0, hi-lo)
}

func (f *freezes) report(tr track, r repeats, why string) {
	s, ch := tr.seg, f.channels[f.k]
	first, last := tr.at[r.i], tr.at[r.j-1]+1
	sev := f.garbage(f.k)
	mend := "These samples are left out; look at the sensor, its bus, or what fills in lost packets."
	if ch.Role == channel.Input {
		sev = Note
		mend = "That is right if it was commanded so; if it was measured, the sensor stood still: cut the span out."
	}
	f.add(Frozen, sev, f.k, s, first, last, "%s stands at %s for %s, %s, %s. %s",
		ch.Name, f.value(f.k, s.col[f.k][first]), plural(r.j-r.i, "sample"), span(s.t[first], s.t[last-1]), why, mend)
	if sev != Note {
		s.mark(f.k, first, last, BadSpan)
	}
}
