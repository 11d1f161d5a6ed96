package datacheck

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

const (
	burstGap     = 0.1  // s, kinks closer than this belong together
	burstSamples = 6    // and so do kinks closer than this many samples
	longestBurst = 1.5  // s, a pair of opposite steps farther apart is motion
	kinkFloor    = 0.15 // of what the channel does in half a second
)

// outliers finds spikes and bursts. A kink is a sample that lies off the line
// between its neighbours by many times what is usual. Kinks that are close
// together form a group; what is between the good samples on its two sides is an
// outlier. A group with nothing between is a step, and only a step that is taken
// back soon encloses outliers.
func (c *checker) outliers(k int) {
	tracks := c.tracks(k)
	tracks = c.turns(k, tracks)
	kk, ok := c.kinks(k, tracks)
	if !ok {
		return
	}
	for m, tr := range tracks {
		g := grouper{tr: tr, limit: kk.limit[m], period: c.channels[k].Period}
		for _, r := range g.bursts(kk.at(m)) {
			if g.deep(r[0], r[1], c.channels[k].Role == channel.Input) {
				c.burst(k, tr, r[0], r[1])
			}
		}
	}
	c.lone(k, tracks, kk)
}

// kinked holds the roughness of all tracks of one channel and its limit.
type kinked struct {
	rough [][]float64 // by track, by sample: distance from the line between the neighbours
	limit [][]float64
	dt    float64
}

// at lists the kinks of track m.
func (kk *kinked) at(m int) []int {
	var out []int
	for i, r := range kk.rough[m] {
		if r > kk.limit[m][i] {
			out = append(out, i)
		}
	}
	return out
}

func (c *checker) kinks(k int, tracks []track) (*kinked, bool) {
	kk := &kinked{}
	var dts, all []float64
	for _, tr := range tracks {
		for i := 1; i < len(tr.t); i++ {
			dts = append(dts, tr.t[i]-tr.t[i-1])
		}
	}
	kk.dt = median(dts)
	for _, tr := range tracks {
		r := make([]float64, len(tr.x))
		for i := 1; i < len(tr.x)-1; i++ {
			// A line over a longer stretch is missed by more: quadratically.
			wide := math.Max(1, (tr.t[i+1]-tr.t[i-1])/(2*kk.dt))
			w := (tr.t[i] - tr.t[i-1]) / (tr.t[i+1] - tr.t[i-1])
			r[i] = math.Abs(tr.x[i]-tr.x[i-1]-w*(tr.x[i+1]-tr.x[i-1])) / (wide * wide)
			all = append(all, r[i])
		}
		kk.rough = append(kk.rough, r)
	}
	if len(all) < 50 {
		return nil, false
	}
	sd := sketch(all)
	q90, q97 := quantile(sd, 0.9), quantile(sd, 0.97)
	// The heavier the tail of what is usual, the farther out garbage begins.
	block := max(64, int(0.6/kk.dt))
	usual := math.Min(q97, kk.ordinaryBlock(block))
	factor := 16.0
	if q90 > 0 {
		factor = math.Min(16, math.Max(6, 4*usual/q90))
	}
	sv := sketch(values(tracks))
	span := c.span(k, sv)
	reach := math.Max(c.far, c.reach(k, tracks, sv))
	global := math.Max(factor*usual, math.Max(kinkFloor*reach, 4*resolution(sv)))
	if c.channels[k].Role == channel.Input {
		// Commands jump as they please: only what leaves their range counts.
		global = math.Max(1.5*global, 1.5*span)
	}
	if global == 0 {
		return nil, false
	}
	most := span
	if c.channels[k].Period > 0 {
		most = 0.4 * span // garbage in an angle is folded into one turn
	}
	for m := range tracks {
		kk.limit = append(kk.limit, regional(kk.rough[m], block, global, math.Max(global, most)))
	}
	return kk, true
}

// ordinaryBlock returns the roughest sample of an ordinary block (0.75 quantile
// over all blocks): bursts of garbage are in few.
func (kk *kinked) ordinaryBlock(block int) float64 {
	var most []float64
	for _, r := range kk.rough {
		for from := 0; from < len(r); from += block {
			to := min(len(r), from+block)
			if to-from >= block/2 {
				most = append(most, slices.Max(r[from:to]))
			}
		}
	}
	if len(most) < 4 {
		return math.Inf(1)
	}
	return quantile(sketch(most), 0.75)
}

// regional raises the limit where the channel is rough for long (vibration), by
// the median roughness of five blocks around, up to most.
func regional(rough []float64, block int, global, most float64) []float64 {
	n := len(rough)
	out := make([]float64, n)
	for from := 0; from < n; from += block {
		lo, hi := max(0, from-2*block), min(n, from+3*block)
		limit := math.Min(most, math.Max(global, 10*median(rough[lo:hi])))
		for i := from; i < min(n, from+block); i++ {
			out[i] = limit
		}
	}
	return out
}

// grouper turns the kinks of one track into bursts.
type grouper struct {
	tr     track
	limit  []float64
	period float64 // of an angle, else 0
}

// step is a jump between samples at−1 and at that stays.
type step struct {
	at   int
	size float64
}

// bursts returns the ranges [i, j) of samples that are outliers.
func (g *grouper) bursts(kinks []int) [][2]int {
	var out [][2]int
	var steps []step
	for a := 0; a < len(kinks); {
		b := a
		for b+1 < len(kinks) && g.together(kinks[b], kinks[b+1]) {
			b++
		}
		i, j := g.trim(kinks[a], kinks[b])
		if i < j {
			out = append(out, [2]int{i, j})
		} else if i > 0 && i < len(g.tr.x) {
			steps = append(steps, step{i, g.tr.x[i] - g.tr.x[i-1]})
		}
		a = b + 1
	}
	return merge(append(out, g.taken(steps)...))
}

func (g *grouper) together(i, j int) bool {
	return j-i <= burstSamples || g.tr.t[j]-g.tr.t[i] <= burstGap
}

// trim narrows the samples around the kinks [a, b] to those that fit neither the
// good samples ahead of them nor those after them.
func (g *grouper) trim(a, b int) (i, j int) {
	n := len(g.tr.x)
	i, j = a-1, b+2
	if a <= 2 {
		i = 0 // nothing good ahead: all from the start on
	} else {
		for i < min(n, b+2) && g.fits(i, i-1, -1) {
			i++
		}
	}
	if b >= n-3 {
		j = n
	} else {
		for j > max(0, a-1) && g.fits(j-1, j, +1) {
			j--
		}
	}
	return max(i, 0), min(j, n)
}

// fits reports whether sample i goes on from the good sample g0 and those beyond
// it on the side dir.
func (g *grouper) fits(i, g0, dir int) bool {
	x, t := g.tr.x, g.tr.t
	if g0 < 0 || g0 >= len(x) {
		return true
	}
	var slopes []float64
	for s := 1; s <= 4; s++ {
		p, q := g0+dir*(s-1), g0+dir*s
		if q < 0 || q >= len(x) {
			break
		}
		slopes = append(slopes, (x[p]-x[q])/(t[p]-t[q]))
	}
	return math.Abs(x[i]-x[g0]-median(slopes)*(t[i]-t[g0])) < 0.6*g.limit[i]
}

// deep reports whether samples [i, j) leave the line between the good samples
// around them by more than the limit: a corner of steep motion does not. An input
// has to come back as well; otherwise it was commanded.
func (g *grouper) deep(i, j int, input bool) bool {
	x, t := g.tr.x, g.tr.t
	if i == 0 || j == len(x) {
		return !input
	}
	far, net := 0.0, wrapped(x[j]-x[i-1], g.period)
	for m := i; m < j; m++ {
		w := (t[m] - t[i-1]) / (t[j] - t[i-1])
		far = math.Max(far, math.Abs(x[m]-x[i-1]-w*net)/g.limit[m])
	}
	if input && math.Abs(net) > 0.3*far*g.limit[i] {
		return false
	}
	return far > 1
}

// taken returns what lies between two steps where the second one takes the first
// one back within a short time.
func (g *grouper) taken(steps []step) [][2]int {
	var out [][2]int
	for s := 0; s+1 < len(steps); s++ {
		a, b := steps[s], steps[s+1]
		if a.size*b.size > 0 || g.tr.t[b.at]-g.tr.t[a.at] > longestBurst {
			continue
		}
		if math.Abs(a.size+b.size) < 0.5*math.Max(math.Abs(a.size), math.Abs(b.size)) {
			out = append(out, [2]int{a.at, b.at})
			s++
		}
	}
	return out
}

// burst reports samples [i, j) of a track.
func (c *checker) burst(k int, tr track, i, j int) {
	s, ch := tr.seg, c.channels[k]
	first, last := tr.at[i], tr.at[j-1]+1
	if c.overTheTop(k, s, first, last) {
		return
	}
	worst := i
	lo, hi := tr.x[max(0, i-1)], tr.x[min(len(tr.x)-1, j)]
	for m := i; m < j; m++ {
		if math.Abs(2*tr.x[m]-lo-hi) > math.Abs(2*tr.x[worst]-lo-hi) {
			worst = m
		}
	}
	what := "has a spike"
	if j-i > 1 {
		what = "jumps about"
	}
	c.add(Outlier, c.garbage(k), k, s, first, last,
		"%s %s for %s, %s: up to %s where its neighbours say about %s. These samples are left out. A knock, a take-off or a landing looks like this too; if there is none, look at the sensor, its cable and the units.",
		ch.Name, what, plural(j-i, "sample"), span(s.t[first], s.t[last-1]), c.value(k, tr.x[worst]), c.value(k, 0.5*(lo+hi)))
	why := BadSpan
	if last-first <= few {
		why = BadValue
	}
	s.mark(k, first, last, why)
}

// fullTurn is a turn in the units of angles.
var fullTurn = map[string]float64{"rad": 2 * math.Pi, "deg": 360, "°": 360}

// turns looks for an angle that was not declared as one: jumps by a full turn
// that stay. Such tracks are returned unwrapped.
func (c *checker) turns(k int, tracks []track) []track {
	ch := c.channels[k]
	turn := fullTurn[ch.Unit]
	if ch.Period > 0 || turn == 0 {
		return tracks
	}
	for m, tr := range tracks {
		var at []int
		for i := 1; i < len(tr.x); i++ {
			if math.Abs(math.Abs(tr.x[i]-tr.x[i-1])-turn) < 0.15*turn && c.alone(tr, i, 0.25*turn) {
				at = append(at, i)
			}
		}
		if len(at) == 0 {
			continue
		}
		first := tr.at[at[0]]
		c.add(Outlier, Note, k, tr.seg, first, first+1,
			"%s jumps by a full turn %s, first at %s: it is an angle. Say so in the map (period = %s), and it is unwrapped.",
			ch.Name, plural(len(at), "time"), sec(tr.seg.t[first]), num(turn))
		c.problems[len(c.problems)-1].Count = len(at)
		tracks[m].x = slices.Clone(tr.x)
		unwrap(tracks[m].x, turn)
	}
	return tracks
}

// alone reports whether the step to sample i has no other large one next to it.
func (c *checker) alone(tr track, i int, large float64) bool {
	for j := max(1, i-3); j < min(len(tr.x), i+4); j++ {
		if j != i && math.Abs(tr.x[j]-tr.x[j-1]) > large {
			return false
		}
	}
	return true
}
