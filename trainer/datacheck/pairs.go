package datacheck

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

const pairLag = 0.1 // s over which a channel and its derivative are compared

// agreement is how far a channel moves over pairLag and what its measured
// derivative says about it.
type agreement struct {
	seg          *segment
	first, last  int
	moved, holds float64 // change, integral of the derivative
}

// pairs compares every state with its measured derivative: the unit in parts of the
// log and in the whole, single places within each lot.
func (c *checker) pairs(lots [][]*segment) {
	for _, k := range c.states() {
		name := c.channels[k].Derivative
		if name == "" {
			continue
		}
		d := channel.Index(c.channels, name)
		rows := c.agreements(k, d, pairLag)
		if len(rows) < 50 {
			continue
		}
		// Over a longer time the noise of the sensors matters less.
		long := c.agreements(k, d, 5*pairLag)
		if len(long) < 50 {
			long = rows
		}
		if c.units(k, d, long) {
			long = c.agreements(k, d, 5*pairLag)
		}
		if c.factor(k, d, long) {
			continue
		}
		for _, lot := range lots {
			c.within(lot, func() {
				if rows := c.agreements(k, d, pairLag); len(rows) >= 50 {
					c.disagreements(k, d, rows)
				}
			})
		}
	}
}

// agreements lists the stretches of about lag seconds over which state k and its
// derivative d are both there.
func (c *checker) agreements(k, d int, lag float64) []agreement {
	var out []agreement
	for _, s := range c.segs {
		for _, p := range s.pieces() {
			out = c.agree(out, s, k, d, s.keep[p[0]:p[1]], math.Max(2*s.dt, math.Min(lag, 200*s.dt)))
		}
	}
	return out
}

func (c *checker) agree(out []agreement, s *segment, k, d int, keep []int, lag float64) []agreement {
	x, v, n := s.col[k], s.col[d], len(keep)
	// Running sums, so that a stretch costs two subtractions. Garbage stays out of
	// them; no stretch that holds some is used.
	moved, holds, bad := make([]float64, n), make([]float64, n), make([]int, n+1)
	for m, b := range keep {
		bad[m+1] = bad[m]
		if !s.good(k, b) || !s.good(d, b) {
			bad[m+1]++
		}
		if m == 0 {
			continue
		}
		moved[m], holds[m] = moved[m-1], holds[m-1]
		if a := keep[m-1]; bad[m+1] == bad[m-1] {
			moved[m] += wrapped(x[b]-x[a], c.channels[k].Period)
			holds[m] += 0.5 * (v[a] + v[b]) * (s.t[b] - s.t[a])
		}
	}
	j := 0
	for i := range keep {
		for j < n && s.t[keep[j]] < s.t[keep[i]]+lag-0.1*s.dt {
			j++
		}
		if j == n {
			break
		}
		if bad[j+1] == bad[i] {
			out = append(out, agreement{s, keep[i], keep[j], moved[j] - moved[i], holds[j] - holds[i]})
		}
	}
	return out
}

// disagreements looks for places where a state and its derivative part.
func (c *checker) disagreements(k, d int, rows []agreement) {
	off := make([]float64, len(rows))
	moved, holds := make([]float64, len(rows)), make([]float64, len(rows))
	for r, a := range rows {
		off[r], moved[r], holds[r] = math.Abs(a.moved-a.holds), math.Abs(a.moved), math.Abs(a.holds)
	}
	so, sm, sh := sketch(off), sketch(moved), sketch(holds)
	q90, q97 := quantile(so, 0.9), quantile(so, 0.97)
	if q90 == 0 {
		return
	}
	// The heavier the tail of what is usual, the farther out garbage begins.
	tail := math.Min(q97/q90, 2.2)
	limit := math.Max(math.Max(12, 8*tail*tail)*q90, 0.2*quantile(sm, 0.9))
	for a := 0; a < len(rows); a++ {
		if off[a] <= limit {
			continue
		}
		b, worst := a, a
		for b+1 < len(rows) && rows[b+1].seg == rows[a].seg && rows[b+1].first <= rows[b].last {
			next := b + 1
			for next < len(rows) && rows[next].seg == rows[a].seg && rows[next].first <= rows[b].last && off[next] <= limit {
				next++
			}
			if next == len(rows) || rows[next].seg != rows[a].seg || off[next] <= limit {
				break
			}
			b = next
			if off[b] > off[worst] {
				worst = b
			}
		}
		c.parted(k, d, c.blame(k, d, rows[a:b+1], quantile(sm, 0.98), quantile(sh, 0.98)), rows[a], rows[b], rows[worst])
		a = b
	}
}

// factor reports a unit that does not fit: the integral of the derivative is the
// movement up to a factor. It says whether there is one.
func (c *checker) factor(k, d int, rows []agreement) bool {
	var mm, mh, hh float64
	for _, r := range rows {
		mm += r.moved * r.moved
		mh += r.moved * r.holds
		hh += r.holds * r.holds
	}
	if mm == 0 || hh == 0 {
		return false
	}
	x, v := c.channels[k].Name, c.channels[d].Name
	corr, f := mh/math.Sqrt(mm*hh), mh/hh
	switch {
	case math.Abs(corr) < 0.3:
		c.addLog(Unit, Note, d, len(rows),
			"%s is named as the derivative of %s but does not move with it (correlation %.2f). Name the right channel in the map, or none: derivative = \"\".", v, x, corr)
		return true
	case math.Abs(corr) < 0.8 || (f > 0.75 && f < 1.33):
		return false
	}
	why := unitOf(f)
	if why == "" {
		why = "check the units of both and of the stamps"
	}
	c.addLog(Unit, Note, d, len(rows),
		"%s changes by %s times what its derivative %s says: %s. Set scale or time.unit in the map; as it is, the prediction starts with a wrong velocity.", x, num(f), v, why)
	return true
}

// blame says which of the two channels does what it never does in these rows.
func (c *checker) blame(k, d int, rows []agreement, usualMoved, usualHolds float64) int {
	var moved, holds float64
	for _, r := range rows {
		moved, holds = math.Max(moved, math.Abs(r.moved)), math.Max(holds, math.Abs(r.holds))
	}
	s, first, last := rows[0].seg, rows[0].first, rows[len(rows)-1].last
	roughX, roughV := s.roughness(k, first, last), s.roughness(d, first, last)
	switch {
	case roughX > 3 && roughX > roughV:
		return k
	case roughV > 3:
		return d
	case moved > usualMoved && moved*usualHolds > holds*usualMoved:
		return k
	case holds > usualHolds:
		return d
	case moved < 0.3*holds:
		return k
	}
	return d
}

// roughness says how many times rougher channel k is in samples [i, j] than in
// its whole segment.
func (s *segment) roughness(k, i, j int) float64 {
	x := s.col[k]
	bends := func(i, j int) []float64 {
		var v []float64
		for m := max(i, 1); m <= min(j, len(x)-2); m++ {
			if b := math.Abs(x[m] - 0.5*(x[m-1]+x[m+1])); finite(b) {
				v = append(v, b)
			}
		}
		return sketch(v)
	}
	all := bends(0, len(x)-1)
	// A coarse sensor is not bent at all at most samples.
	usual := math.Max(quantile(all, 0.5), 0.3*quantile(all, 0.9))
	if usual == 0 {
		return 1
	}
	return quantile(bends(i, j), 0.5) / usual
}

func (c *checker) parted(k, d, blamed int, from, to, worst agreement) {
	s := from.seg
	// A row is pairLag long: half of it on either side is the reach of its middle.
	first, last := from.first, to.last
	for first < from.last && s.t[first] < 0.5*(s.t[from.first]+s.t[from.last]) {
		first++
	}
	for last > first && s.t[last] > 0.5*(s.t[to.first]+s.t[to.last]) {
		last--
	}
	c.add(Outlier, c.garbage(blamed), blamed, s, first, last+1,
		"%s changes by %s within %s at %s where its derivative %s says %s: one of them is wrong there. These samples are left out.",
		c.channels[k].Name, c.value(k, worst.moved), interval(s.t[worst.last]-s.t[worst.first]), sec(s.t[worst.first]), c.channels[d].Name, c.value(k, worst.holds))
	s.mark(k, first, last+1, BadSpan)
	s.mark(d, first, last+1, BadSpan)
}
