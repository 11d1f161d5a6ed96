package datacheck

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

const (
	leap       = 6.0   // times the usual large step of its channel: what no state does by itself
	largeStep  = 0.995 // quantile of the steps that is called large
	mostSwaps  = 4     // of two channels in one segment; what trades places more often means it
	fewestRows = 50    // steps that tell what is usual
)

// swapped looks for two states of one unit that trade places: at one sample both leap,
// each to where the other was, and go on from there. Hardly anything that moves does that
// by itself, but a program does that was restarted with its columns in another order. The
// lesser part of such a segment is left out. Where an input leaps as well it is only
// told: wheels that turn a robot left and then right do that too.
func (c *checker) swapped() {
	states := c.states()
	usual := map[int]float64{}
	for k, ch := range c.channels {
		if ch.Role == channel.Aux {
			continue
		}
		var steps []float64
		for _, tr := range c.tracks(k) {
			for j := 1; j < len(tr.x); j++ {
				steps = append(steps, math.Abs(tr.x[j]-tr.x[j-1]))
			}
		}
		if len(steps) >= fewestRows {
			usual[k] = quantile(sketch(steps), largeStep)
		}
	}
	for _, s := range c.segs {
		at := map[[2]int][]int{} // by pair, the samples at which it trades places
		for _, p := range s.pieces() {
			keep := s.keep[p[0]:p[1]]
			for n := 1; n < len(keep); n++ {
				i, j := keep[n-1], keep[n]
				var leaps []int
				for _, k := range states {
					if q := usual[k]; q > 0 && s.good(k, i) && s.good(k, j) && c.apart(k, s.col[k][i], s.col[k][j]) > leap*q {
						leaps = append(leaps, k)
					}
				}
				for x, a := range leaps {
					for _, b := range leaps[x+1:] {
						if c.trade(s, a, b, i, j, usual) {
							at[[2]int{a, b}] = append(at[[2]int{a, b}], j)
						}
					}
				}
			}
		}
		for x, a := range states {
			for _, b := range states[x+1:] {
				if turns := at[[2]int{a, b}]; len(turns) > 0 && len(turns) <= mostSwaps {
					c.saySwapped(s, a, b, turns, usual)
				}
			}
		}
	}
}

// apart returns how far two values of channel k are from each other, the shorter way
// round.
func (c *checker) apart(k int, x, y float64) float64 {
	return math.Abs(wrapped(y-x, c.channels[k].Period))
}

// trade reports whether channels a and b, which both leap from sample i to j, each go on
// where the other was. Angles that nobody has declared to be some, of wheels that turn
// against each other, do that too where both come over their ends.
func (c *checker) trade(s *segment, a, b, i, j int, usual map[int]float64) bool {
	p, q := c.channels[a], c.channels[b]
	if p.Unit != q.Unit || p.Period != q.Period || p.Role != channel.State || c.overTheTop(a, s, i, j) || c.overTheTop(b, s, i, j) {
		return false
	}
	if turn := fullTurn[p.Unit]; math.Abs(math.Abs(s.col[a][j]-s.col[a][i])-turn) < 0.15*turn {
		return false
	}
	return c.apart(a, s.col[a][i], s.col[b][j]) <= 2*usual[a] && c.apart(b, s.col[b][i], s.col[a][j]) <= 2*usual[b]
}

// told reports whether an input leaps near a turn: what the states do then may be what
// they were told to. An input that hardly ever changes has a usual step of 0.
func (c *checker) told(s *segment, turn int, usual map[int]float64) bool {
	const before, after = 10, 2 // samples: what is told comes first, but for the stamps
	for _, k := range places(c.channels, channel.Input) {
		for n := max(1, turn-before); n < min(s.n(), turn+after); n++ {
			if q, ok := usual[k]; ok && c.apart(k, s.col[k][n-1], s.col[k][n]) > leap*q {
				return true
			}
		}
	}
	return false
}

// saySwapped reports the lesser of the two parts of a segment that the turns, samples
// at which a and b trade places, part it into.
func (c *checker) saySwapped(s *segment, a, b int, turns []int, usual map[int]float64) {
	var parts [2][][2]int
	var size [2]int
	from := 0
	for n, to := range append(turns[:len(turns):len(turns)], s.n()) {
		parts[n%2] = append(parts[n%2], [2]int{from, to})
		size[n%2] += to - from
		from = to
	}
	lesser := 1
	if size[0] < size[1] {
		lesser = 0
	}
	x, y := c.channels[a].Name, c.channels[b].Name
	told := slices.ContainsFunc(turns, func(turn int) bool { return c.told(s, turn, usual) })
	for _, p := range parts[lesser] {
		if told {
			c.add(Swapped, Note, a, s, p[0], p[1],
				"%s and %s trade places: %s each goes on where the other was in the rest of the segment. An input leaps there too, so the robot may have been told to do that, as to turn the other way, and the span is kept; if two columns have changed their order, part the log there and import each part with its own map.",
				x, y, span(s.t[p[0]], s.t[p[1]-1]))
			continue
		}
		c.add(Swapped, Exclude, a, s, p[0], p[1],
			"%s and %s trade places: %s each goes on where the other was in the rest of the segment, as if two columns had changed their order. The span is left out; part the log there and import each part with its own map to use it.",
			x, y, span(s.t[p[0]], s.t[p[1]-1]))
		s.mark(a, p[0], p[1], BadSpan)
		s.mark(b, p[0], p[1], BadSpan)
	}
}
