package datacheck

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

const (
	shortestTail   = 4    // samples whose neighbours lie on one curve with them
	longestBridge  = 0.25 // s, a straight stretch that windows may still cross
	unlikely       = 16   // −ln of the chance of a smooth run
	filledFraction = 0.02 // of the samples, from which on filling in is worth a note
)

// A curve is a way to be smoother than measured: off(x, t, i) is how far sample
// i is from the curve through its neighbours, in units of the channel.
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

// smooth finds stretches of a channel that are too smooth to have been measured:
// at the ends, where somebody went on without samples, and inside, where
// somebody filled in lost ones.
func (c *checker) smooth(k int) {
	for n, cv := range []curve{line, cubic, exponential} {
		tracks := c.tracks(k)
		off, usual := cv.offsets(tracks)
		coarse := usual < 50*math.Max(2*rounding(meanSize(tracks)), resolution(sketch(values(tracks))))
		var unique map[float64]bool
		if coarse {
			if unique, usual = singles(tracks); unique == nil {
				continue
			}
		}
		if usual == 0 {
			continue
		}
		runs, typical, share := cv.runs(tracks, off, usual)
		if n == 0 {
			if !coarse {
				c.filled(k, tracks, runs)
			}
		}
		for m, tr := range tracks {
			for _, r := range runs[m] {
				l := r[1] - r[0]
				if l < shortestTail || l < 2*typical || -float64(l)*math.Log(share) < unlikely {
					continue
				}
				if coarse && !novel(tr.x[r[0]:r[1]], unique) {
					continue
				}
				head := r[0] == cv.reach && atStart(tracks, m)
				tail := r[1] == len(tr.x)-cv.reach && atEnd(tracks, m)
				switch {
				case head && tail:
				case tail:
					c.extrapolated(k, tr, r[0]+cv.reach, len(tr.x), cv, "end")
				case head:
					c.extrapolated(k, tr, 0, r[1]-cv.reach, cv, "beginning")
				case n == 0 && l >= 4*typical && tr.t[r[1]]-tr.t[r[0]-1] > longestBridge && l >= 2*shortestTail:
					c.bridged(k, tr, r[0], r[1])
				}
			}
		}
	}
}

// singles returns the values that a coarse channel takes only once, and a scale
// to measure it by; nil if it is not one that repeats its values. On the grid of
// a coarse sensor straight stretches are nothing special, but who fills in
// samples leaves the grid.
func singles(tracks []track) (unique map[float64]bool, scale float64) {
	sv := sorted(values(tracks))
	unique = map[float64]bool{}
	for i, v := range sv {
		if (i == 0 || sv[i-1] != v) && (i+1 == len(sv) || sv[i+1] != v) {
			unique[v] = true
		}
	}
	q := resolution(sv)
	if q == 0 || 3*len(unique) > len(sv) {
		return nil, 0
	}
	return unique, q / 2
}

// novel reports whether most of x are values that occur nowhere else.
func novel(x []float64, unique map[float64]bool) bool {
	n := 0
	for _, v := range x {
		if unique[v] {
			n++
		}
	}
	return 10*n >= 7*len(x)
}

func meanSize(tracks []track) float64 {
	sum, n := 0.0, 0
	for _, tr := range tracks {
		for _, v := range tr.x {
			sum += math.Min(math.Abs(v), 1e12)
			n++
		}
	}
	return sum / float64(max(n, 1))
}

// offsets returns off for every track, and the usual one.
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

// runs returns the runs of samples that lie on the curve, the usual length of
// one (0.8 quantile, 0 where there are too few to say), and the share of all
// samples that do without belonging to a long run.
func (cv curve) runs(tracks []track, off [][]float64, usual float64) (runs [][][2]int, typical int, share float64) {
	var lengths []float64
	on, n := 0, 0
	for m, tr := range tracks {
		var list [][2]int
		for i := cv.reach; i < len(tr.x)-cv.reach; i++ {
			n++
			if !lies(tr.x, off[m], i, usual) {
				continue
			}
			j := i + 1
			for j < len(tr.x)-cv.reach && lies(tr.x, off[m], j, usual) {
				j++
			}
			list = append(list, [2]int{i, j})
			lengths = append(lengths, float64(j-i))
			if j-i < shortestTail {
				on += j - i
			}
			n += j - i - 1
			i = j
		}
		runs = append(runs, list)
	}
	if len(lengths) >= 10 {
		typical = int(quantile(sketch(lengths), 0.8))
	}
	return runs, typical, (float64(on) + 1) / (float64(n) + 2)
}

// lies reports whether sample i lies on a curve, other than by standing still.
func lies(x, off []float64, i int, usual float64) bool {
	step := math.Max(math.Abs(x[i]-x[i-1]), math.Abs(x[i+1]-x[i]))
	return step > 0 && off[i] <= math.Min(usual/50, math.Max(usual/1000, math.Max(2*rounding(math.Abs(x[i])), 1e-4*step)))
}

// extrapolated reports samples [i, j) of a track that were made up at one of its
// ends.
func (c *checker) extrapolated(k int, tr track, i, j int, cv curve, end string) {
	if j-i < 2 {
		return
	}
	s := tr.seg
	first, last := tr.at[i], tr.at[j-1]+1
	c.add(Outlier, c.garbage(k), k, s, first, last,
		"%s lies on an exact %s at the %s of the segment, %s: nobody measured this, it was extrapolated after the samples stopped. Cut it off (time.from, time.to).",
		c.channels[k].Name, cv.name, end, span(s.t[first], s.t[last-1]))
	s.mark(k, first, last, BadSpan)
}

// bridged reports a long straight stretch inside: the samples [i, j) of a track
// lie on the line between those around them.
func (c *checker) bridged(k int, tr track, i, j int) {
	s := tr.seg
	first, last := tr.at[i], tr.at[j-1]+1
	c.add(Gap, c.garbage(k), k, s, first, last,
		"%s was not measured from %s on for %s: a straight line fills the gap. Leave such samples empty (NaN) rather than fill them in.",
		c.channels[k].Name, sec(s.t[first]), interval(s.t[last-1]-s.t[first]))
	s.mark(k, first, last, BadSpan)
}

// filled notes how much of a channel lies on straight lines between other
// samples.
func (c *checker) filled(k int, tracks []track, runs [][][2]int) {
	if c.channels[k].Role == channel.Aux {
		return
	}
	for _, s := range c.segs {
		on, longest := 0, 0
		for m, tr := range tracks {
			if tr.seg != s {
				continue
			}
			for _, r := range runs[m] {
				if l := r[1] - r[0]; l >= 2 {
					on += l
					longest = max(longest, l)
				}
			}
		}
		if on >= 20 && float64(on) >= filledFraction*float64(s.n()) {
			s.filled = append(s.filled, filling{k, on, longest})
		}
	}
}

// filling is how much of a channel was filled in.
type filling struct{ k, samples, longest int }

// fillings reports, once per segment, what filled found: packets are lost for
// many channels at once.
func (c *checker) fillings() {
	for _, s := range c.segs {
		if len(s.filled) == 0 {
			continue
		}
		names, most := "", filling{}
		for i, f := range s.filled {
			if i > 0 {
				names += ", "
			}
			names += c.channels[f.k].Name
			if f.samples > most.samples {
				most = f
			}
		}
		k := -1
		if len(s.filled) == 1 {
			k = most.k
		}
		c.add(Rate, Note, k, s, 0, s.n(),
			"Up to %.0f %% of the samples of %s lie exactly on straight lines between others, up to %d in a row: lost packets that were filled in. They say less than they seem to; log NaN instead where you can.",
			100*float64(most.samples)/float64(s.n()), names, most.longest)
		c.problems[len(c.problems)-1].Count = most.samples
	}
}
