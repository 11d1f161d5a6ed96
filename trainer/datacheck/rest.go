package datacheck

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// rest reports a log in which the robot hardly moves, and segments that begin or end with
// a long rest.
func (r *recording) rest() {
	most := map[int]float64{} // how far a channel moves in a block in which it rests
	for _, k := range r.places(channel.State) {
		sv := sketch(values(r.series(k).tracks()))
		if len(sv) > 0 {
			most[k] = math.Min(restMove*(quantile(sv, 0.995)-quantile(sv, 0.005)), restShareOfMove*r.usualMove(k))
		}
	}
	still, total := 0, 0
	for _, s := range r.segs {
		blocks := s.blocks(restBlock)
		rests := make([]bool, len(blocks))
		for i, b := range blocks {
			if rests[i] = r.rests(b, most); rests[i] {
				still++
			}
		}
		total += len(blocks)
		r.restAtEnds(s, blocks, rests)
	}
	if total >= 10 && float64(still) > restShare*float64(total) {
		r.addLog(Unexcited, Note, -1, 0,
			"The robot hardly moves in %.0f %% of the log: a model of it is mostly one of rest. Add recordings of the motion that is to be predicted.",
			100*float64(still)/float64(total))
	}
}

// usualMove returns how far channel k moves in a block in which it moves: a position moves far in a log, and little in a block, of a vehicle that
// does not rest. Where it mostly rests, that is what the few other blocks have.
func (r *recording) usualMove(k int) float64 {
	var all []float64
	for _, s := range r.segs {
		for _, b := range s.blocks(restBlock) {
			if moved := r.moves(k, b); !math.IsNaN(moved) {
				all = append(all, moved)
			}
		}
	}
	slices.Sort(all)
	if len(all) == 0 {
		return 0
	}
	apart, _ := slices.BinarySearch(all, 4*all[len(all)/2])
	if moving := len(all) - apart; moving >= max(2, len(all)/500) {
		return all[(apart+len(all))/2]
	}
	return quantile(all, 0.98)
}

// rests reports whether all of the channels move at most so far in a block. A block without good values does not rest.
func (r *recording) rests(b span, most map[int]float64) bool {
	any := false
	for k, w := range most {
		moved := r.moves(k, b)
		if moved > w {
			return false
		}
		any = any || !math.IsNaN(moved)
	}
	return any
}

// moves returns how far channel k moves in a block, across the turns of an angle, NaN without good values. It is without the noisiest tenth, so that a
// sensor's noise is not motion.
func (r *recording) moves(k int, b span) float64 {
	var x []float64
	for i := b.first; i < b.last; i++ {
		if b.seg.good(k, i) {
			x = append(x, b.seg.col[k][i])
		}
	}
	if len(x) == 0 {
		return math.NaN()
	}
	if p := r.channels[k].Period; p > 0 {
		unwrap(x, p)
	}
	sx := sketch(x)
	return math.Max(0, quantile(sx, 0.95)-quantile(sx, 0.05))
}

func (r *recording) restAtEnds(s *segment, blocks []span, rests []bool) {
	i := slices.Index(rests, false)
	if i < 0 {
		return
	}
	j := len(rests)
	for rests[j-1] {
		j--
	}
	const text = "The robot rests %s. Little can be learned from rest, and on the ground other forces act: cut it off (%s)."
	if before := (span{s, 0, blocks[i].first}); i > 0 && before.to()-s.t[0] >= longestRest {
		r.add(Unexcited, Note, -1, before, text, "until "+sec(before.to()), "time.from")
	}
	if j < len(blocks) && s.t[s.n()-1]-blocks[j].from() >= longestRest {
		r.add(Unexcited, Note, -1, span{s, blocks[j].first, s.n()}, text, "from "+sec(blocks[j].from())+" on", "time.to")
	}
}
