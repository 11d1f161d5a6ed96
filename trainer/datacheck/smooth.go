package datacheck

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// A curve is a way to be smoother than measured: off(t, x, i) is how far sample i is from
// the curve through its neighbours, in units of the channel.
type curve struct {
	name  string
	reach int // neighbours needed on either side
	off   func(t, x []float64, i int) float64
}

var (
	line = curve{"straight line", 1, func(t, x []float64, i int) float64 {
		// Straight over the stamps, or over the samples: it is made either way.
		w := (t[i] - t[i-1]) / (t[i+1] - t[i-1])
		return math.Min(math.Abs(x[i]-x[i-1]-w*(x[i+1]-x[i-1])), math.Abs(x[i]-0.5*(x[i-1]+x[i+1])))
	}}
	cubic = curve{"cubic", 2, func(_, x []float64, i int) float64 {
		return math.Abs(x[i-2]-4*x[i-1]+6*x[i]-4*x[i+1]+x[i+2]) / 6
	}}
	exponential = curve{"exponential", 2, func(_, x []float64, i int) float64 {
		a, b, c := x[i-1]-x[i-2], x[i]-x[i-1], x[i+1]-x[i]
		if s := math.Abs(a) + math.Abs(b) + math.Abs(c); s > 0 {
			return math.Abs(a*c-b*b) / s
		}
		return 0
	}}
)

// smooth finds stretches of a channel that are too smooth to have been measured: ends
// that were extrapolated, and gaps inside that were filled in. It returns how much of each
// segment is straight. Inputs are commands, which programs make of straight lines and other curves.
func (s series) smooth() []filling {
	if s.Role == channel.Input {
		return nil
	}
	lines, coarse := s.smoothOn(line, true)
	s.smoothOn(cubic, false)
	s.smoothOn(exponential, false)
	if coarse || s.Role == channel.Aux {
		return nil
	}
	return s.fillings(lines)
}

// smoothRun is samples [i, j) of track m that are on a curve.
type smoothRun struct {
	tracks  []track
	m, i, j int
}

// smoothOn reports the stretches on one curve, those inside a track only where they are
// straight. It returns all runs on it, and whether the channel is coarse.
func (s series) smoothOn(cv curve, inside bool) (found []smoothRun, coarse bool) {
	tracks := s.tracks()
	off, usual := cv.offsets(tracks)
	all := values(tracks)
	coarse = usual < 50*math.Max(2*rounding(meanSize(all)), resolution(sketch(all)))
	var unique map[float64]bool
	if step := grid(tracks); usual < 50*step {
		coarse, unique, usual = true, offGrid(sorted(all), step), step/2
	} else if coarse {
		unique, usual = uniqueValues(sorted(all), off)
	}
	if usual == 0 {
		return nil, coarse
	}
	found, typical, share := cv.runs(tracks, off, usual)
	usually := map[stretch]float64{}
	found = slices.DeleteFunc(found, func(r smoothRun) bool {
		tr := tracks[r.m]
		at, atEdge := tr.span(r.i, r.j), r.i == cv.reach || r.j == len(tr.x)-cv.reach // what is extrapolated there goes on as its rate, too
		return at.n() >= shortestSmooth && (!atEdge && s.followsRate(at, usually) || s.steers(at))
	})
	for _, r := range found {
		tr, l := tracks[r.m], r.j-r.i
		if l < shortestSmooth || l < 2*typical || -float64(l)*math.Log(share) < smoothLogOdds ||
			coarse && !mostlyUnique(tr.x[r.i:r.j], unique) {
			continue
		}
		head := r.i == cv.reach && atStart(tracks, r.m)
		tail := r.j == len(tr.x)-cv.reach && atEnd(tracks, r.m)
		switch {
		case head && tail:
		case tail:
			s.extrapolated(tr, r.i+cv.reach, len(tr.x), cv, "end")
		case head:
			s.extrapolated(tr, 0, r.j-cv.reach, cv, "beginning")
		case inside && l >= 4*typical && tr.t[r.j]-tr.t[r.i-1] > longestFilled && l >= 2*shortestSmooth:
			s.filledGap(tr.span(r.i, r.j))
		}
	}
	return found, coarse
}

// stretch is so many samples of a segment, and a pair.
type stretch struct {
	seg *segment
	n   int
	pair
}

// followsRate reports whether a position goes on as its measured rate does in a span: what turns at a constant rate follows a line. How far
// the two are usually apart is noted by twice as many samples each.
func (s series) followsRate(at span, usually map[stretch]float64) bool {
	return slices.ContainsFunc(s.pairs(s.k), func(p pair) bool {
		apart := func(i, j int) float64 { return s.apart(at.seg, p, i, j) }
		of := stretch{at.seg, 1 << bits.Len(uint(at.n()-1)), p}
		if _, known := usually[of]; !known && p.position == s.k {
			usually[of] = at.seg.usual(of.n, apart)
		}
		return p.position == s.k && apart(at.first, at.last) <= rateApart*usually[of]
	})
}

// uniqueValues returns the values that a coarse channel takes only once, and a scale to
// measure it by; 0 if it does not repeat its values. On the grid of a coarse sensor
// straight stretches are usual, but filled-in samples are off the grid. Where all that a
// channel is off the curve is its rounding, values on the grid show nothing.
func uniqueValues(sv []float64, off [][]float64) (unique map[float64]bool, scale float64) {
	unique = map[float64]bool{}
	step, once := resolution(sv), 0
	rounded := quantile(sketch(slices.Concat(off...)), 0.9) <= step
	origin := quantile(sv, 0.5)
	for i, j := range equalRuns(sv) {
		if j-i > 1 {
			continue
		}
		once++
		steps := (sv[i] - origin) / step
		if !rounded || math.Abs(steps-math.Round(steps)) > onGrid {
			unique[sv[i]] = true
		}
	}
	if 3*once > len(sv) {
		return nil, 0
	}
	return unique, step / 2
}

// grid returns the step of a sensor whose values are whole numbers of steps, as those of an encoder, however rarely it repeats one; 0 of
// others. What moves smoothly changes its pace by few steps from sample to sample.
func grid(tracks []track) float64 {
	var bends, gaps []float64
	least := rounding(meanSize(sketch(values(tracks))))
	for _, tr := range tracks {
		for i := 1; i+1 < len(tr.x); i++ {
			bends = append(bends, math.Abs(tr.x[i-1]-2*tr.x[i]+tr.x[i+1]))
		}
	}
	bends = sketch(bends)
	for i := 1; i < len(bends); i++ {
		if d := bends[i] - bends[i-1]; d > 4*least {
			gaps = append(gaps, d)
		}
	}
	step, on := median(gaps), 0
	for _, b := range bends {
		if steps := b / step; math.Abs(steps-math.Round(steps)) <= onGrid {
			on++
		}
	}
	if len(gaps) == 0 || 4*len(gaps) > len(bends) || float64(on) < gridShare*float64(len(bends)) {
		return 0
	}
	return step
}

// offGrid returns the values that are off the grid of a sensor with steps: the grid that most of them are on.
func offGrid(sv []float64, step float64) (off map[float64]bool) {
	for _, p := range []float64{0.1, 0.3, 0.5, 0.7, 0.9} {
		origin, these := quantile(sv, p), map[float64]bool{}
		for _, v := range sv {
			if steps := (v - origin) / step; math.Abs(steps-math.Round(steps)) > onGrid {
				these[v] = true
			}
		}
		if off == nil || len(these) < len(off) {
			off = these
		}
	}
	return off
}

// mostlyUnique reports whether most of x are values that occur nowhere else, or are off the sensor's grid.
func mostlyUnique(x []float64, unique map[float64]bool) bool {
	n := 0
	for _, v := range x {
		if unique[v] {
			n++
		}
	}
	return 10*n >= 7*len(x)
}

// offsets returns off for every track, and the usual one; 0 of too few.
func (cv curve) offsets(tracks []track) (off [][]float64, usual float64) {
	var all []float64
	for _, tr := range tracks {
		o := make([]float64, len(tr.x))
		for i := cv.reach; i < len(tr.x)-cv.reach; i++ {
			o[i] = cv.off(tr.t, tr.x, i)
			all = append(all, o[i])
		}
		off = append(off, o)
	}
	if len(all) < 50 {
		return off, 0
	}
	return off, median(all)
}

// runs returns the runs of samples that are on the curve, the usual length of one (0.8
// quantile, 0 from too few), and the share of all samples that are on it without
// belonging to a long run. The sample after a run is not counted.
func (cv curve) runs(tracks []track, off [][]float64, usual float64) (all []smoothRun, typical int, share float64) {
	var lengths []float64
	on, n := 0, 0
	for m, tr := range tracks {
		end := len(tr.x) - cv.reach
		n += max(0, end-cv.reach)
		for i, j := range where(cv.reach, end, func(i int) bool { return onCurve(tr.x, off[m], i, usual) }) {
			all = append(all, smoothRun{tracks, m, i, j})
			lengths = append(lengths, float64(j-i))
			if j-i < shortestSmooth {
				on += j - i
			}
			if j < end {
				n--
			}
		}
	}
	if len(lengths) >= 10 {
		typical = int(quantile(sketch(lengths), 0.8))
	}
	return all, typical, (float64(on) + 1) / (float64(n) + 2)
}

// onCurve reports whether sample i is on a curve, other than by not changing.
func onCurve(x, off []float64, i int, usual float64) bool {
	step := math.Max(math.Abs(x[i]-x[i-1]), math.Abs(x[i+1]-x[i]))
	return step > 0 && off[i] <= math.Min(usual/50, math.Max(usual/1000, math.Max(2*rounding(math.Abs(x[i])), 1e-4*step)))
}

// extrapolated reports samples [i, j) of a track, at one of its ends.
func (s series) extrapolated(tr track, i, j int, cv curve, end string) {
	if j-i < 2 {
		return
	}
	at := tr.span(i, j)
	s.exclude(Outlier, s.k, at, BadSpan,
		"%s follows an exact %s at the %s of the segment, %s: it was extrapolated after the samples stopped, not measured. Cut this off (time.from, time.to).",
		s.Name, cv.name, end, at)
}

// filledGap reports a long straight stretch inside.
func (s series) filledGap(at span) {
	s.exclude(Gap, s.k, at, BadSpan,
		"%s was not measured from %s on for %s: a straight line fills the gap. Log NaN for such samples.",
		s.Name, sec(at.from()), duration(at.to()-at.from()))
}

// filling is how much of a channel in one segment was filled in.
type filling struct {
	seg              *segment
	k                int
	samples, longest int
}

// fillings counts the samples of each segment on straight lines between others.
func (s series) fillings(lines []smoothRun) []filling {
	var out []filling
	for _, seg := range s.segs {
		f := filling{seg: seg, k: s.k}
		for _, r := range lines {
			if l := r.j - r.i; r.tracks[r.m].seg == seg && l >= 2 {
				f.samples += l
				f.longest = max(f.longest, l)
			}
		}
		if f.samples >= 20 && float64(f.samples) >= filledShare*float64(seg.n()) {
			out = append(out, f)
		}
	}
	return out
}

// filled reports, once per segment, how much was filled in: packets are lost for many
// channels at once.
func (r *recording) filled(all []filling) {
	for _, s := range r.segs {
		var names []string
		most, k := filling{}, -1
		for _, f := range all {
			if f.seg != s {
				continue
			}
			names, k = append(names, r.channels[f.k].Name), f.k
			if f.samples > most.samples {
				most = f
			}
		}
		if len(names) == 0 {
			continue
		}
		if len(names) > 1 {
			k = -1
		}
		p := r.add(Rate, Note, k, s.whole(),
			"Up to %.0f %% of the samples of %s are exactly on straight lines between others, up to %d in a row: lost packets that were filled in. They contain less information than measurements; log NaN instead where possible.",
			100*float64(most.samples)/float64(s.n()), strings.Join(names, ", "), most.longest)
		p.Count, p.Misread = most.samples, true
	}
}
