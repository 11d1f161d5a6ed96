package datacheck

import "math"

const (
	restBlock    = 0.5  // s
	restMove     = 0.02 // of the channel's range within a block counts as rest
	restShare    = 0.7  // of the log, from which on rest is worth a note
	longestStill = 2.0  // s of rest at either end of a segment that may stay
)

// rest reports a log in which the robot hardly moves, and segments that begin or
// end with a long rest.
func (c *checker) rest() {
	span := map[int]float64{}
	for _, k := range c.states() {
		sv := sketch(values(c.tracks(k)))
		if len(sv) > 0 {
			span[k] = quantile(sv, 0.995) - quantile(sv, 0.005)
		}
	}
	still, total := 0, 0
	for _, s := range c.segs {
		blocks := c.stillness(s, span)
		for _, b := range blocks {
			total++
			if b.still {
				still++
			}
		}
		c.restAtEnds(s, blocks)
	}
	if total >= 10 && float64(still) > restShare*float64(total) {
		c.addLog(Unexcited, Note, -1, 0,
			"The robot hardly moves in %.0f %% of the log: mostly standing still is learned. Add recordings in which it does what it shall be predicted for.",
			100*float64(still)/float64(total))
	}
}

// block is a stretch of samples [first, last) and whether all states rest in it.
type block struct {
	first, last int
	still       bool
}

func (c *checker) stillness(s *segment, span map[int]float64) []block {
	var out []block
	for first := 0; first < s.n(); {
		last := first + 1
		for last < s.n() && s.t[last]-s.t[first] < restBlock && s.t[last] > s.t[first] {
			last++
		}
		b := block{first, last, s.anyGood(span, first, last)}
		for k, w := range span {
			if c.extentOf(s, k, first, last) > restMove*w {
				b.still = false
			}
		}
		out = append(out, b)
		first = last
	}
	return out
}

// anyGood reports whether any of the channels has a sample that nothing is known
// against: what is all garbage does not rest.
func (s *segment) anyGood(channels map[int]float64, first, last int) bool {
	for k := range channels {
		for i := first; i < last; i++ {
			if s.good(k, i) {
				return true
			}
		}
	}
	return false
}

// extentOf is the extent of channel k over samples that nothing is known
// against, across the turns of an angle.
func (c *checker) extentOf(s *segment, k, first, last int) float64 {
	var x []float64
	for i := first; i < last; i++ {
		if s.good(k, i) {
			x = append(x, s.col[k][i])
		}
	}
	if p := c.channels[k].Period; p > 0 {
		unwrap(x, p)
	}
	// Without the noisiest tenth, so that a sensor's noise is not motion.
	sx := sketch(x)
	return math.Max(0, quantile(sx, 0.95)-quantile(sx, 0.05))
}

func (c *checker) restAtEnds(s *segment, blocks []block) {
	i := 0
	for i < len(blocks) && blocks[i].still {
		i++
	}
	if i == len(blocks) {
		return
	}
	j := len(blocks)
	for j > i && blocks[j-1].still {
		j--
	}
	if i > 0 && s.t[blocks[i-1].last-1]-s.t[0] >= longestStill {
		c.add(Unexcited, Note, -1, s, 0, blocks[i-1].last,
			"The robot rests until %s. Rest teaches little, and on the ground other forces act: cut it off (time.from).", sec(s.t[blocks[i-1].last-1]))
	}
	if j < len(blocks) && s.t[s.n()-1]-s.t[blocks[j].first] >= longestStill {
		c.add(Unexcited, Note, -1, s, blocks[j].first, s.n(),
			"The robot rests from %s on. Rest teaches little, and on the ground other forces act: cut it off (time.to).", sec(s.t[blocks[j].first]))
	}
}
