package datacheck

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// rest reports a log in which the robot hardly moves, and segments that begin or end with
// a long rest.
func (r *recording) rest() {
	blocks := make([][]span, len(r.segs))
	rests := make([][]bool, len(r.segs)) // all channels that have good values move little, and one has
	moving := make([][]bool, len(r.segs))
	for i, s := range r.segs {
		blocks[i] = s.blocks(math.Max(restBlock, (manySamples-0.5)*s.dt))
		rests[i], moving[i] = make([]bool, len(blocks[i])), make([]bool, len(blocks[i]))
	}
	for _, k := range r.places(channel.State) {
		sv := sketch(values(r.series(k).tracks()))
		if len(sv) == 0 {
			continue
		}
		moved := make([][]float64, len(blocks))
		for i := range blocks {
			for _, b := range blocks[i] {
				moved[i] = append(moved[i], r.moves(k, b))
			}
		}
		most := math.Min(restMove*(quantile(sv, 0.995)-quantile(sv, 0.005)), restShareOfMove*usualMove(slices.Concat(moved...)))
		for i := range moved {
			for j, m := range moved[i] {
				moving[i][j] = moving[i][j] || m > most
				rests[i][j] = rests[i][j] || !math.IsNaN(m)
			}
		}
	}
	still, total := 0, 0
	for i, s := range r.segs {
		for j := range rests[i] {
			if rests[i][j] = rests[i][j] && !moving[i][j]; rests[i][j] {
				still++
			}
		}
		total += len(blocks[i])
		r.restAtEnds(s, blocks[i], rests[i])
	}
	if total >= 10 && float64(still) > restShare*float64(total) {
		r.addLog(Unexcited, Note, -1, 0,
			"The robot hardly moves in %.0f %% of the log: a model trained on it mostly describes rest. Add recordings of the motion to predict.",
			100*float64(still)/float64(total))
	}
}

// usualMove returns how far a channel moves in a block in which it moves, of what it moves in each (NaN = no good values): a position moves far in a
// log, and little in a block, of a vehicle that does not rest. Where it mostly rests, that is what the few other blocks have.
func usualMove(moved []float64) float64 {
	all := slices.DeleteFunc(moved, math.IsNaN)
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
