package importer

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// breaks finds what the largest step of a field shows: that from there on its values have another unit, as of another driver or publisher
// behind the first, or another origin. Each topic is looked at by itself.
type breaks struct {
	watched[broken]
	pace []pace // of each track
}

// pace is how the messages of a track come.
type pace struct {
	n          int   // so far
	last, step int64 // ns: the time of the one before, and the usual step
}

// broken is what is known of the steps of a field.
type broken struct {
	n             int
	last          float64
	before, after steps   // ahead of the largest step, and behind it
	peak, ratio   float64 // the largest step, and its end over its beginning
	second        float64 // the largest of the others
	at            int     // the message behind it
	gap           bool    // time passed ahead of that

	fine float64 // the smallest step
	low  float64
	high float64
}

// steps are the number and the sum of steps that are not 0.
type steps struct {
	n   int
	sum float64
}

func (s *steps) add(step float64) {
	if step > 0 {
		s.n, s.sum = s.n+1, s.sum+step
	}
}

const (
	fewestSteps  = 50  // ahead of a change of unit, and behind it
	alikeRatio   = 0.1 // of the ratio of two units: the values go on meanwhile
	alikeSteps   = 3   // times as large at most, as in the unit before, or as small
	largeRatio   = 20  // of two units, from which on one field shows it; of smaller ones two do
	alikeCoarse  = 2.5 // times the smallest step of values of coarse resolution: the largest
	coarseRest   = 10  // messages in the mean, for which these stay
	rangeCoarse  = 5   // of their steps: the range
	fewestCoarse = 10  // steps
	longGap      = 5   // usual steps of time
	paceOver     = 8   // messages, over which the step is averaged
	farJump      = 20  // times the largest other step: a jump of several fields, which nothing that moves makes
)

// ratios are those of units of one quantity that logs have in each other's place: thousandths, hundredths and tenths, degrees and radians,
// km/h and m/s, g and m/s².
var ratios = []float64{1e7, 1e6, 1e3, 100, 180 / math.Pi, 10, 9.80665, 3.6}

// newBreaks returns what looks at the states and inputs of a plan.
func newBreaks(p *plan) *breaks { return &breaks{watch[broken](p), make([]pace, len(p.tracks))} }

// add takes the values of a message of a track.
func (j *breaks) add(track int, t int64, x []float64) {
	p := &j.pace[track]
	p.n++
	step := t - p.last
	gap := step <= 0 || p.step > 0 && step > longGap*p.step
	switch p.last = t; {
	case p.n == 2:
		p.step = max(0, step)
	case p.n > 2 && !gap:
		p.step += (step - p.step) / paceOver
	}
	n := p.n
	j.each(track, x, func(s *broken, v float64) { s.add(v, n, gap) })
}

func (s *broken) add(v float64, message int, gap bool) {
	s.n++
	switch {
	case s.n == 1:
		s.last, s.low, s.high = v, v, v
		return
	case v == s.last:
		return
	}
	step := math.Abs(v - s.last)
	s.low, s.high = min(s.low, v), max(s.high, v)
	if step < s.fine || s.fine == 0 {
		s.fine = step
	}
	if step > s.peak {
		s.before.n, s.before.sum = s.before.n+s.after.n, s.before.sum+s.after.sum
		s.before.add(s.peak)
		s.after, s.second, s.peak, s.ratio, s.at, s.gap = steps{}, s.peak, step, v/s.last, message, gap
	} else {
		s.after.add(step)
		s.second = max(s.second, step)
	}
	s.last = v
}

// factor returns how many times as large the unit is from the largest step on: values and their steps are by the ratio of two units. 0 =
// it is the same.
func (s *broken) factor() float64 {
	if s.before.n < fewestSteps || s.after.n < fewestSteps {
		return 0
	}
	grown := s.after.sum / float64(s.after.n) / (s.before.sum / float64(s.before.n))
	for _, ratio := range ratios {
		for _, f := range []float64{ratio, 1 / ratio} {
			if math.Abs(s.ratio/f-1) < alikeRatio && grown/f < alikeSteps && f/grown < alikeSteps {
				return f
			}
		}
	}
	return 0
}

// jumps reports whether the largest step is no motion.
func (s *broken) jumps() bool {
	return !s.gap && s.before.n >= fewestSteps && s.after.n >= fewestSteps && s.peak > farJump*s.second
}

// coarse reports whether values stay for long, and then change by nearly the same, through a range of many such steps: they have lost what
// they measure to a coarse resolution.
func (s *broken) coarse() bool {
	moves := s.before.n + s.after.n + 1
	return moves >= fewestCoarse && coarseRest*moves < s.n && s.peak < alikeCoarse*s.fine && s.high-s.low > rangeCoarse*s.fine
}

// finding is a change of the unit of some fields of a track, a jump, or a coarse resolution.
type finding struct {
	track, at int
	factor    float64
	jumps     bool
	coarse    float64 // the resolution
}

// into adds what the steps show.
func (j *breaks) into(out *remarks, p *plan) {
	found := map[finding][]string{}
	note := func(c finding, name string) {
		if !slices.Contains(found[c], name) {
			found[c] = append(found[c], name)
		}
	}
	j.all(func(name string, s *broken, track, _ int) {
		if f := s.factor(); f > 0 {
			note(finding{track: track, at: s.at, factor: f}, name)
		} else if i := channel.Index(p.header, name); i < 0 || p.header[i].Role != channel.State {
			return
		} else if s.jumps() {
			note(finding{track: track, at: s.at, jumps: true}, name)
		} else if s.coarse() {
			note(finding{track: track, coarse: s.fine}, name)
		}
	})
	in, message := func(int) string { return "" }, "row"
	if !p.m.IsTable() {
		in, message = func(track int) string { return " of " + p.tracks[track].id.String() }, "message"
	}
	for _, c := range slices.SortedFunc(maps.Keys(found), func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.track, b.track), cmp.Compare(a.at, b.at), cmp.Compare(a.factor, b.factor))
	}) {
		names := strings.Join(found[c], ", ")
		switch {
		case c.coarse > 0:
			out.add("coarse", Warning, "", "%s: values stay for long and change by %.3g at a time%s: motion within that is not learned", names, c.coarse, in(c.track)).Remedy = "record more digits; of large numbers, as coordinates of a map in 32 bits, subtract an origin first"
		case c.jumps && len(found[c]) > 1:
			out.add("jump", Warning, "", "%s: at %s %d%s the values jump, more than %d times as far as in any other step: their origin was set anew, or another sender follows", names, message, c.at, in(c.track), farJump).Remedy = "import the parts by themselves (--from, --to)"
		case c.factor > 0 && (len(found[c]) > 1 || max(c.factor, 1/c.factor) > largeRatio):
			out.add("rescaled", Warning, "", "%s: from %s %d%s on the values are %s, and go on: their unit changes", names, message, c.at, in(c.track), timesAs(c.factor)).Remedy = "import the parts by themselves (--from, --to), and give each its unit"
		}
	}
}

// timesAs says how many times as large values are.
func timesAs(factor float64) string {
	if factor < 1 {
		return fmt.Sprintf("%.4g times as small", 1/factor)
	}
	return fmt.Sprintf("%.4g times as large", factor)
}
