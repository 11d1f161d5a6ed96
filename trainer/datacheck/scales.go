package datacheck

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

const (
	scalePiece  = 5.0 // s, over which the pace of a channel is taken
	scaleLag    = 0.1 // s, its pace is how far it moves in this time
	scaleSides  = 2   // pieces before and after a change, at least
	scaleSpread = 4.0 // ratio of paces within a side that is steady
	scaleNear   = 1.4 // ratio to a known factor that is still that factor
	scaleOthers = 3.0 // by how much other channels may change with it
)

// tempo is how far every channel moves within scaleLag in a piece of a segment: the
// logarithm of the 0.9 quantile, NaN where nothing is known.
type tempo struct {
	seg         *segment
	first, last int // samples [first, last)
	log         []float64
}

// scales looks for a channel that from some time on moves by a factor between two units
// more, or less, than before, while the others go on as they did. Only some robots have
// a measured derivative for every channel, by which pairs would tell.
func (c *checker) scales() {
	paces := c.paces()
	for k, ch := range c.channels {
		if ch.Role == channel.Aux || c.hasUnit(k) {
			continue
		}
		at, ratio := steepest(paces, k)
		if at < 0 {
			continue
		}
		if c.othersChange(paces, k, at) {
			continue
		}
		p := paces[at]
		from := c.begins(paces, k, at)
		c.add(Unit, Note, k, p.seg, from, p.seg.n(),
			"%s moves %s times as much from %s on as before, and the other channels do not: if its unit changed there (radians, degrees, thousandths), part the log and import each part with its own map; if it is how the robot was used, all is well.",
			ch.Name, num(math.Exp(ratio)), sec(p.seg.t[from]))
	}
}

// hasUnit reports whether something was said of a channel's unit already.
func (c *checker) hasUnit(k int) bool {
	return slices.ContainsFunc(c.problems, func(p Problem) bool {
		return p.Kind == Unit && (p.Channel == c.channels[k].Name || p.Channel == c.channels[k].Derivative)
	})
}

func (c *checker) paces() []tempo {
	var out []tempo
	for _, s := range c.segs {
		for first := 0; first < s.n(); {
			last := first + 1
			for last < s.n() && s.t[last]-s.t[first] < scalePiece && s.t[last] > s.t[first] {
				last++
			}
			p := tempo{seg: s, first: first, last: last}
			for k := range c.channels {
				v := math.NaN()
				if m := c.steps(s, k, first, last); len(m) >= 20 {
					v = math.Log(quantile(sketch(m), 0.9))
				}
				if math.IsInf(v, 0) {
					v = math.NaN()
				}
				p.log = append(p.log, v)
			}
			out = append(out, p)
			first = last
		}
	}
	return out
}

// steps lists how far channel k moves in scaleLag within samples [first, last).
func (c *checker) steps(s *segment, k, first, last int) []float64 {
	lag := max(1, int(math.Round(scaleLag/math.Max(s.dt, 1e-9))))
	var out []float64
	for i := first; i+lag < last; i++ {
		a, b := s.col[k][i], s.col[k][i+lag]
		if s.good(k, i) && s.good(k, i+lag) {
			out = append(out, math.Abs(wrapped(b-a, c.channels[k].Period)))
		}
	}
	return out
}

// sides returns the medians of channel k before piece at and from it on; ok is false
// where there are too few pieces, or a side is not steady.
func sides(paces []tempo, k, at int) (before, after float64, ok bool) {
	side := func(p []tempo) (float64, bool) {
		var v []float64
		for _, x := range p {
			if l := x.log[k]; !math.IsNaN(l) {
				v = append(v, l)
			}
		}
		slices.Sort(v)
		return quantile(v, 0.5), len(v) >= scaleSides && quantile(v, 0.9)-quantile(v, 0.1) <= math.Log(scaleSpread)
	}
	before, a := side(paces[:at])
	after, b := side(paces[at:])
	return before, after, a && b
}

// steepest returns the piece from which on channel k moves by another unit, and the
// logarithm of the factor; −1 if there is none.
func steepest(paces []tempo, k int) (at int, ratio float64) {
	at = -1
	for i := range paces {
		before, after, ok := sides(paces, k, i)
		if r := after - before; ok && math.Abs(r) > math.Abs(ratio) && anotherUnit(r) {
			at, ratio = i, r
		}
	}
	return at, ratio
}

// anotherUnit reports whether a factor, as its logarithm, is one between units.
func anotherUnit(ratio float64) bool {
	for _, f := range []float64{180 / math.Pi, 1000} {
		if math.Abs(math.Abs(ratio)-math.Log(f)) < math.Log(scaleNear) {
			return true
		}
	}
	return false
}

// othersChange reports whether most other channels change at a piece too, as they do
// when a robot takes off, or whether there are too few to tell.
func (c *checker) othersChange(paces []tempo, k, at int) bool {
	var change []float64
	for j, ch := range c.channels {
		if j == k || ch.Role == channel.Aux {
			continue
		}
		// Not steady is no change of unit either.
		before, after, _ := sides(paces, j, at)
		change = append(change, math.Abs(after-before))
	}
	return len(change) < 3 || median(change) > math.Log(scaleOthers)
}

// begins returns the sample at which the pace of channel k becomes another: in piece
// at, or the one before.
func (c *checker) begins(paces []tempo, k, at int) int {
	p := paces[at]
	first := p.first
	if at > 0 && paces[at-1].seg == p.seg {
		first = paces[at-1].first
	}
	before, after, _ := sides(paces, k, at)
	lag := max(1, int(math.Round(scaleLag/math.Max(p.seg.dt, 1e-9))))
	best, sum, from := 0.0, 0.0, p.first
	for i := first; i+lag < p.last; i++ {
		d := math.Abs(wrapped(p.seg.col[k][i+lag]-p.seg.col[k][i], c.channels[k].Period))
		if !finite(d) || d == 0 {
			continue
		}
		if high := math.Log(d) > 0.5*(before+after); high == (after > before) {
			sum--
		} else {
			sum++
		}
		if sum > best {
			best, from = sum, i+lag
		}
	}
	return from
}
