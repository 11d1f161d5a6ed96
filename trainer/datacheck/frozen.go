package datacheck

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// frozen finds values that do not change while they should. A channel that is often
// frozen is slow or coarse: that is noted once and returned.
func (s series) frozen() (slow bool) {
	tracks := s.tracks()
	same, total := 0, 0
	for _, tr := range tracks {
		same += repeats(tr.x)
		total += len(tr.x)
	}
	if same == 0 || s.Role == channel.Input && 5*same > total-len(tracks) { // commanded now and then, and held
		return false
	}
	sd := sorted(values(tracks))
	f := freezes{series: s, noisy: noisy(tracks), quantum: max(resolution(sd), grid(tracks)), low: sd[0], high: sd[len(sd)-1], steps: map[int]float64{}}
	type freeze struct {
		at  span
		n   int
		why string
	}
	var found []freeze
	held, excused := 0, 0 // samples of what is found, and runs of what a sensor of whole steps may have measured
	often := 0            // samples of both
	for _, tr := range tracks {
		for i, j := range equalRuns(tr.x) {
			f.excused = false
			why := f.why(tr, i, j)
			if why != "" {
				found = append(found, freeze{tr.span(i, j), j - i, why})
				held += j - i
			} else if f.excused {
				excused++
			}
			if why != "" || f.excused {
				often += j - i
			}
		}
	}
	if len(found) > 0 && len(found)+excused > 8 && float64(often) > oftenFrozen*float64(total) {
		p := s.addLog(Rate, Note, s.k, often,
			"%s does not change in %d places, %.0f %% of its samples: it is measured more slowly or more coarsely than the log is sampled. Log NaN where no new value was measured.",
			s.Name, len(found)+excused, 100*float64(often)/float64(total))
		p.Misread = s.Role != channel.Aux
		return true
	}
	sev, remedy := s.severity(s.k), "These samples are left out; check the sensor, its bus, and what fills in lost packets."
	if s.Role == channel.Input {
		sev, remedy = Note, "This is right if it was commanded; if it was measured, the sensor was frozen: cut the span out."
	}
	for _, z := range found {
		p := s.add(Frozen, sev, s.k, z.at, "%s is frozen at %s for %s, %s, %s. %s",
			s.Name, s.value(s.k, z.at.seg.col[s.k][z.at.first]), plural(z.n, "sample"), z.at, z.why, remedy)
		if sev != Note {
			p.Misread = float64(held) > muchFrozen*float64(total)
			z.at.mark(s.k, BadSpan)
		}
	}
	return false
}

// noisy reports whether a channel repeats a value only in long runs.
func noisy(tracks []track) bool {
	same, pairs := 0, 0
	for _, tr := range tracks {
		pairs += len(tr.x) - 1
		for i, j := range equalRuns(tr.x) {
			if j-i <= shortestFreeze {
				same += j - i - 1
			} else {
				pairs -= j - i - 1
			}
		}
	}
	return float64(same) < 0.01*float64(pairs)
}

// freezes judges the runs of equal values of one series.
type freezes struct {
	series
	noisy     bool            // it repeats a value only in long runs
	quantum   float64         // the step of a coarse sensor
	low, high float64         // its extremes
	excused   bool            // the last run could be what a sensor of whole steps measures, at rest or without noise
	steps     map[int]float64 // by channel, of the sensor, as far as asked for
}

// why returns why the run [i, j) of a track is frozen, empty if it need not be.
func (f *freezes) why(tr track, i, j int) string {
	m := j - i
	if m < shortestFreeze {
		return ""
	}
	w := min(max(2*m, 20), 400)
	before, after := tr.x[max(0, i-w):i], tr.x[j:min(len(tr.x), j+w)]
	left, right := chanceOfRepeat(before), chanceOfRepeat(after)
	if f.atLimit(tr.x[i]) || f.flatTop(tr.x, i, j) || (left < 0 && right < 0) {
		return ""
	}
	// The channel changes often on both sides, or on the only one.
	odds := -float64(m-1) * math.Log(math.Max(math.Max(left, right), 1e-4))
	if odds < frozenLogOdds {
		return ""
	}
	at := tr.span(i, j)
	if f.confirmed(tr, i, j) || f.commanded(at) {
		return ""
	}
	edge := left < 0 || right < 0
	moved, known := f.derivativeMoves(at)
	noise := alternates(before[max(0, len(before)-noiseReach):]) && alternates(after[:min(len(after), noiseReach)])
	// What froze while a robot moved jumps then, unless that is commanded step by step, and rests between.
	stuck := f.Role != channel.State || noise || f.jumps(tr, f.k, i, j) || !f.inputsStay(at)
	rests := f.rests(tr, i, j) && !f.otherRate(at)
	if (moved || stuck) && f.silent(m, rests, noise) {
		return "although the noise of this sensor never repeats a value"
	}
	if !rests && odds > 2*frozenLogOdds && noise {
		return "although the noise of this sensor never pauses for so long"
	}
	if known {
		if !moved {
			return ""
		}
		return "while its derivative is not zero"
	}
	switch {
	case rests || edge && f.quantum > 0:
		return ""
	case stuck && f.othersMove(at):
		return "while other channels change"
	case !edge && f.catchesUp(tr, i, j):
		return "and then jumps"
	}
	return ""
}

// silent reports whether the noise of a sensor is missing in m samples, which is excused where it moves by whole steps or rests.
func (f *freezes) silent(m int, rests, noise bool) bool {
	if !f.noisy || m < 2*shortestFreeze {
		return false
	}
	f.excused = rests || f.quantum > 0 && !noise
	return !f.excused
}

// atLimit reports whether an input is at an end of its range, as it is when it is
// commanded off or to the full.
func (f *freezes) atLimit(v float64) bool {
	return f.Role == channel.Input && (v == f.low || v == f.high || v == 0)
}

// flatTop reports whether the run is a flat top of the channel: that is clipped, not
// frozen.
func (f *freezes) flatTop(x []float64, i, j int) bool {
	return x[i] == f.high && arrives(x, i, j, 1, f.quantum) || x[i] == f.low && arrives(x, i, j, -1, f.quantum)
}

// chanceOfRepeat estimates the chance that a value equals the one before it; −1 from too
// few.
func chanceOfRepeat(x []float64) float64 {
	if len(x) < 10 {
		return -1
	}
	return (float64(repeats(x)) + 0.5) / float64(len(x))
}

// catchesUp reports whether the value jumps at the end of the run by more than it does
// from sample to sample around it.
func (f *freezes) catchesUp(tr track, first, end int) bool {
	var near []float64
	for i := max(1, first-motionReach); i < min(len(tr.x), end+motionReach); i++ {
		if i <= first || i > end {
			near = append(near, math.Abs(tr.x[i]-tr.x[i-1]))
		}
	}
	jump := math.Abs(tr.x[end] - tr.x[end-1])
	return jump > 3*quantile(sketch(near), 0.9)+2*f.quantum
}

// derivativeMoves reports whether the integral of the channel's measured derivative moves
// during a span, and whether it is known.
func (f *freezes) derivativeMoves(at span) (moves, known bool) {
	d := channel.Index(f.channels, f.Derivative)
	if d < 0 {
		return false, false
	}
	moved := f.apart(at.seg, pair{f.k, d}, at.first, at.last)
	return moved > 5*f.quantum && moved > 0.2*at.seg.usualExtent(f.k, at.n()), finite(moved)
}

// othersMove reports whether most of the other states move during a span as much as they
// usually do in so long a time, and this one would have to as well.
func (f *freezes) othersMove(at span) bool {
	s := at.seg
	if s.usualExtent(f.k, at.n()) <= 4*f.quantum {
		return false
	}
	moving, others := 0, 0
	for _, k := range f.places(channel.State) {
		usual := s.usualExtent(k, at.n())
		if k == f.k || usual == 0 {
			continue
		}
		others++
		if extent(s.col[k][at.first:at.last]) > 0.4*usual {
			moving++
		}
	}
	return others > 0 && 2*moving >= others
}
