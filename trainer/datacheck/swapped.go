package datacheck

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// swapped finds two states of one unit that trade places: at one sample both jump, each to
// where the other was, and go on from there. Hardly anything that moves does that by
// itself, but a program does that was restarted with its columns in another order. The
// lesser part of such a segment is left out. Where an input jumps as well it is only
// noted: wheels that turn a robot left and then right do that too.
func (r *recording) swapped() {
	w := swaps{recording: r, large: map[int]float64{}}
	for _, k := range r.used() {
		var steps []float64
		for _, tr := range r.series(k).tracks() {
			for j := 1; j < len(tr.x); j++ {
				steps = append(steps, math.Abs(tr.x[j]-tr.x[j-1]))
			}
		}
		if len(steps) >= fewestSteps {
			w.large[k] = quantile(sketch(steps), largeStep)
		}
	}
	states := r.places(channel.State)
	for _, s := range r.segs {
		at := w.places(s)
		for x, a := range states {
			for _, b := range states[x+1:] {
				if swaps := at[[2]int{a, b}]; len(swaps) > 0 && len(swaps) <= mostSwaps {
					w.report(s, a, b, swaps)
				}
			}
		}
	}
}

// swaps looks for channels that trade places.
type swaps struct {
	*recording
	large map[int]float64 // by channel, a large step; none where too little is known
}

// places returns, by pair of states, the samples at which it trades places.
func (w *swaps) places(s *segment) map[[2]int][]int {
	at := map[[2]int][]int{}
	states := w.recording.places(channel.State)
	for _, piece := range s.pieces() {
		for n := 1; n < len(piece); n++ {
			i, j := piece[n-1], piece[n]
			var jumps []int
			for _, k := range states {
				if w.large[k] > 0 && s.good(k, i) && s.good(k, j) && w.jumps(s, k, i, j) {
					jumps = append(jumps, k)
				}
			}
			for x, a := range jumps {
				for _, b := range jumps[x+1:] {
					if w.trade(s, a, b, i, j) {
						at[[2]int{a, b}] = append(at[[2]int{a, b}], j)
					}
				}
			}
		}
	}
	return at
}

// jumps reports whether channel k jumps from sample i to j.
func (w *swaps) jumps(s *segment, k, i, j int) bool {
	return math.Abs(w.change(s, k, i, j)) > swapJump*w.large[k]
}

// trade reports whether channels a and b, which both jump from sample i to j, each go on
// where the other was. Angles that are not declared as such, of wheels that turn against
// each other, do that too where both cross the ends of their range.
func (w *swaps) trade(s *segment, a, b, i, j int) bool {
	p, q := w.channels[a], w.channels[b]
	if !channel.SameUnit(p.Unit, q.Unit) || p.Period != q.Period || w.overTheTop(a, s, i, j) || w.overTheTop(b, s, i, j) {
		return false
	}
	if turn := channel.Turn(p.Unit); math.Abs(math.Abs(s.col[a][j]-s.col[a][i])-turn) < 0.15*turn {
		return false
	}
	near := func(k, other int) bool {
		return math.Abs(wrapped(s.col[other][j]-s.col[k][i], p.Period)) <= nearOther*w.large[k]
	}
	return near(a, b) && near(b, a)
}

// commanded reports whether an input jumps near a sample: what the states do then may be
// commanded. An input that hardly ever changes has a large step of 0.
func (w *swaps) commanded(s *segment, swap int) bool {
	const before, after = 10, 2 // samples: the command comes first, but for the stamps
	for _, k := range w.recording.places(channel.Input) {
		for n := max(1, swap-before); n < min(s.n(), swap+after); n++ {
			if _, ok := w.large[k]; ok && w.jumps(s, k, n-1, n) {
				return true
			}
		}
	}
	return false
}

// report reports the lesser of the two parts of a segment between the samples at which a
// and b trade places.
func (w *swaps) report(s *segment, a, b int, swaps []int) {
	var parts [2][]span
	from := 0
	for n, to := range append(swaps[:len(swaps):len(swaps)], s.n()) {
		parts[n%2] = append(parts[n%2], span{s, from, to})
		from = to
	}
	lesser := slices.MinFunc([][]span{parts[1], parts[0]}, func(a, b []span) int { return total(a) - total(b) })
	if len(swaps) == 1 && total(lesser) < fewSamples {
		return // what begins with a jump, or ends with one
	}
	x, y := w.channels[a].Name, w.channels[b].Name
	commanded := slices.ContainsFunc(swaps, func(i int) bool { return w.commanded(s, i) })
	for _, p := range lesser {
		if commanded {
			w.add(Swapped, Note, a, p,
				"%s and %s are swapped: %s each continues the values of the other in the rest of the segment. An input jumps there too, so this may have been commanded, such as a turn the other way, and the span is kept; if two columns changed their order, split the log there and import each part with its own map.",
				x, y, p)
			continue
		}
		w.exclude(Swapped, a, p, BadSpan,
			"%s and %s are swapped: %s each continues the values of the other in the rest of the segment, as if two columns had changed their order. The span is left out; to use it, split the log there and import each part with its own map.",
			x, y, p)
		p.mark(b, BadSpan)
	}
}
