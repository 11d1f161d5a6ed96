package datacheck

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// outliers finds spikes and bursts. A kink is a sample that is off the line between its
// neighbours by many times what is usual. Kinks that are close together form a group;
// what is between the good samples on its two sides is an outlier. A group with nothing
// between is a step, and only a step that is taken back soon encloses outliers.
func (s series) outliers() (found []place) {
	tracks := s.tracks()
	usual := s.scales(tracks)
	usual.reach = math.Max(usual.reach, s.motion)
	all, ok := s.kinked(tracks, usual)
	if !ok {
		return nil
	}
	for _, g := range all {
		for _, r := range g.bursts() {
			if g.deep(r[0], r[1]) {
				found = append(found, place{g.track, r[0], r[1]})
			}
		}
	}
	return append(found, s.spikes(all, usual, found)...)
}

// kinked is a track with its kinks.
type kinked struct {
	track
	channel.Channel
	rough []float64 // distance of each sample from the line between its neighbours
	limit []float64 // by sample: a rougher one is a kink
}

func (s series) kinked(tracks []track, usual scales) (all []kinked, ok bool) {
	dt := median(intervals(tracks))
	var rough []float64
	for _, tr := range tracks {
		g := kinked{track: tr, Channel: s.Channel, rough: make([]float64, len(tr.x))}
		for i := 1; i < len(tr.x)-1; i++ {
			// A line over a longer stretch is missed by more: quadratically.
			wide := math.Max(1, (tr.t[i+1]-tr.t[i-1])/(2*dt))
			g.rough[i] = tr.off(i, i-1, i+1) / (wide * wide)
			rough = append(rough, g.rough[i])
		}
		all = append(all, g)
	}
	if len(rough) < 50 {
		return nil, false
	}
	sd := sketch(rough)
	q90, q97 := quantile(sd, 0.9), quantile(sd, 0.97)
	// The heavier the tail of what is usual, the higher the limit.
	block := max(64, int(0.6/dt))
	tail := math.Min(q97, ordinaryBlock(all, block))
	factor := 16.0
	if q90 > 0 {
		factor = math.Min(16, math.Max(6, 4*tail/q90))
	}
	most := usual.used
	global := math.Max(factor*tail, math.Max(kinkFloor*usual.reach, 4*usual.resolution))
	if s.Role == channel.Input {
		// Commands jump as they please: only what leaves their range counts.
		global = math.Max(1.5*global, 1.5*most)
	}
	if s.Period > 0 {
		most *= 0.4 // wrong values of an angle are folded into one turn
	}
	for i := range all {
		all[i].limit = regional(all[i].rough, block, global, math.Max(global, most))
	}
	return all, global > 0
}

// ordinaryBlock returns the roughest sample of an ordinary block (0.75 quantile over all
// blocks): bursts are in few.
func ordinaryBlock(all []kinked, block int) float64 {
	var most []float64
	for _, g := range all {
		for r := range slices.Chunk(g.rough, block) {
			if len(r) >= block/2 {
				most = append(most, slices.Max(r))
			}
		}
	}
	if len(most) < 4 {
		return math.Inf(1)
	}
	return quantile(sketch(most), 0.75)
}

// regional raises the limit where the channel is rough for long (vibration), by the
// median roughness of five blocks around, up to most.
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

// step is a jump between samples at−1 and at that stays.
type step struct {
	at   int
	size float64
}

// bursts returns the ranges [i, j) of samples that are outliers.
func (g *kinked) bursts() [][2]int {
	var kinks []int
	for i, r := range g.rough {
		if r > g.limit[i] {
			kinks = append(kinks, i)
		}
	}
	near := func(_, n int) bool {
		i, j := kinks[n-1], kinks[n]
		return j-i <= burstSamples || g.t[j]-g.t[i] <= burstGap
	}
	var out [][2]int
	var steps []step
	for a, b := range runs(len(kinks), near) {
		i, j := g.trim(kinks[a], kinks[b-1])
		if i < j {
			out = append(out, [2]int{i, j})
		} else if i > 0 && i < len(g.x) {
			steps = append(steps, step{i, g.x[i] - g.x[i-1]})
		}
	}
	return merge(append(out, g.takenBack(steps)...))
}

// trim narrows the samples around the kinks [a, b] to those that fit neither the good
// samples ahead of them nor those after them.
func (g *kinked) trim(a, b int) (i, j int) {
	n := len(g.x)
	i, j = a-1, b+2
	if a <= 2 {
		i = 0 // no good sample ahead: all from the start on
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

// fits reports whether sample i goes on from the good sample g0 and those beyond it on the
// side dir.
func (g *kinked) fits(i, g0, dir int) bool {
	x, t := g.x, g.t
	if g0 < 0 || g0 >= len(x) {
		return true
	}
	var rates []float64
	for s := 1; s <= 4; s++ {
		p, q := g0+dir*(s-1), g0+dir*s
		if q < 0 || q >= len(x) {
			break
		}
		rates = append(rates, (x[p]-x[q])/(t[p]-t[q]))
	}
	return math.Abs(x[i]-x[g0]-median(rates)*(t[i]-t[g0])) < 0.6*g.limit[i]
}

// deep reports whether samples [i, j) leave the line between the good samples around them
// by more than the limit: a corner of steep motion does not. An input has to come back as
// well; otherwise it was commanded.
func (g *kinked) deep(i, j int) bool {
	x, t, input := g.x, g.t, g.Role == channel.Input
	if i == 0 || j == len(x) {
		return !input
	}
	far, net := 0.0, wrapped(x[j]-x[i-1], g.Period)
	for m := i; m < j; m++ {
		w := (t[m] - t[i-1]) / (t[j] - t[i-1])
		far = math.Max(far, math.Abs(x[m]-x[i-1]-w*net)/g.limit[m])
	}
	if input && math.Abs(net) > 0.3*far*g.limit[i] {
		return false
	}
	return far > 1
}

// takenBack returns what is between two steps where the second one takes the first one
// back within a short time.
func (g *kinked) takenBack(steps []step) [][2]int {
	var out [][2]int
	for s := 0; s+1 < len(steps); s++ {
		a, b := steps[s], steps[s+1]
		if a.size*b.size > 0 || g.t[b.at]-g.t[a.at] > longestBurst {
			continue
		}
		if math.Abs(a.size+b.size) < 0.5*math.Max(math.Abs(a.size), math.Abs(b.size)) {
			out = append(out, [2]int{a.at, b.at})
			s++
		}
	}
	return out
}

// merge joins overlapping and touching ranges.
func merge(r [][2]int) [][2]int {
	slices.SortFunc(r, func(a, b [2]int) int { return a[0] - b[0] })
	var out [][2]int
	for _, x := range r {
		if n := len(out); n > 0 && x[0] <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], x[1])
		} else if x[1] > x[0] {
			out = append(out, x)
		}
	}
	return out
}

// burst reports a spike or a burst.
func (s series) burst(p place) {
	tr, i, j := p.track, p.i, p.j
	at := tr.span(i, j)
	atEdge := i == 0 || j == len(tr.x)
	if s.overTheTop(s.k, at.seg, at.first, at.last) || atEdge && s.turns(at) {
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
		what = "has a burst of outliers"
	}
	why := BadSpan
	if at.n() <= fewSamples {
		why = BadValue
	}
	s.exclude(Outlier, s.k, at, why,
		"%s %s for %s, %s: up to %s between neighbours of about %s. These samples are left out. An impact, a take-off or a landing looks the same; if there was none, check the sensor, its cable and the units.",
		s.Name, what, plural(j-i, "sample"), at, s.value(s.k, tr.x[worst]), s.value(s.k, 0.5*(lo+hi)))
}

// spikes finds single samples that are far off their neighbours where those are on one
// line with each other. Spikes that come often are what is usual among all kinks; what is
// between two of them is not. Those in bursts are known, and commands jump as they please.
func (s series) spikes(all []kinked, usual scales, bursts []place) (found []place) {
	if s.Role == channel.Input {
		return nil
	}
	var rough []float64
	for _, g := range all {
		rough = append(rough, g.rough...)
	}
	least := math.Max(spikeKinks*quantile(sketch(rough), spikeQuantile),
		math.Max(spikeFloor*usual.reach, spikeLevels*usual.resolution))
	if least == 0 {
		return nil
	}
	for _, tr := range all {
		for i := spikeReach; i < len(tr.x)-spikeReach; i++ {
			off := tr.off(i, i-1, i+1)
			known := func(b place) bool { return b.seg == tr.seg && b.at[b.i] <= tr.at[i] && tr.at[i] <= b.at[b.j-1] }
			if off <= least || slices.ContainsFunc(bursts, known) {
				continue
			}
			others := math.Max(tr.off(i-1, i-2, i+1), tr.off(i+1, i-1, i+2))
			if off > spikeApart*others {
				found = append(found, place{tr.track, i, i + 1})
			}
		}
	}
	return found
}
