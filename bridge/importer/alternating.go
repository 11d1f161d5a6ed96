package importer

import (
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// alternating finds states whose rows are in turns of several signals: of publishers, or robots,
// that nothing in the messages distinguishes. A state is looked at in blocks of rows.
type alternating struct {
	states []turns
}

// turns are the values of a state in the block at hand, and in how many blocks they took turns.
type turns struct {
	block         []float64
	blocks, found int
}

const (
	blockRows   = 400
	fewestRows  = 50  // of a block
	mostSignals = 3   // that are distinguished
	fewestTurns = 6   // rows of a signal in a block
	apart       = 0.2 // of several signals: the most that their own steps are of the steps between them
	unlikeTurns = 0.1 // the share of a signal's rows that need not come in their turn
	fewBlocks   = 0.1 // the share of blocks with turns below which there are none
)

func newAlternating(states int) *alternating { return &alternating{make([]turns, states)} }

func (a *alternating) add(x []float64) {
	for i, v := range x {
		if s := &a.states[i]; !math.IsNaN(v) {
			if s.block = append(s.block, v); len(s.block) == blockRows {
				s.judge()
			}
		}
	}
}

// judge looks at a block, and begins the next one.
func (s *turns) judge() {
	s.blocks++
	for n := 2; n <= mostSignals; n++ {
		if takeTurns(s.block, n) {
			s.found++
			break
		}
	}
	s.block = s.block[:0]
}

// found returns the states that alternate.
func (a *alternating) found() (all []int) {
	for i := range a.states {
		s := &a.states[i]
		if len(s.block) > fewestRows {
			s.judge()
		}
		if s.found > 0 && float64(s.found) >= fewBlocks*float64(s.blocks) {
			all = append(all, i)
		}
	}
	return all
}

// takeTurns reports whether values are of n signals in turns: each continues what it was, which
// is far from the others, and comes again after about the same number of rows, as a publisher
// with a rate does. A signal that switches between levels stays on them, or does so at random.
func takeTurns(x []float64, n int) bool {
	of := follow(x, n)
	last, at := make([]float64, n), make([]int, n)
	after := make([][]int, n) // rows from one value of a signal to the next
	seen := make([]bool, n)
	var own, across float64
	moves, switches := 0, 0
	for i, k := range of {
		if i > 0 && k != of[i-1] {
			across += math.Abs(x[i] - x[i-1])
			switches++
		}
		if seen[k] {
			after[k] = append(after[k], i-at[k])
			if step := math.Abs(x[i] - last[k]); step > 0 {
				own += step
				moves++
			}
		}
		last[k], at[k], seen[k] = x[i], i, true
	}
	// Signals that never move are the levels of one that switches.
	if moves == 0 || switches == 0 || own/float64(moves) > apart*across/float64(switches) {
		return false
	}
	slices.SortFunc(after, func(a, b []int) int { return len(b) - len(a) })
	for _, steps := range after[1:] { // those that come less often than the first
		if !inTurn(steps) {
			return false
		}
	}
	return true
}

// inTurn reports whether the rows of a signal come singly, at nearly equal distances.
func inTurn(steps []int) bool {
	if len(steps) < fewestTurns {
		return false
	}
	sorted := slices.Sorted(slices.Values(steps))
	usual, unlike := sorted[len(sorted)/2], 0
	for _, d := range steps {
		if d == 1 || d < usual-1 || d > usual+1 {
			unlike++
		}
	}
	return usual > 1 && float64(unlike) <= unlikeTurns*float64(len(steps))
}

// follow returns of which of n signals each value is: of the one whose value was the nearest. It
// begins at the largest step, whose ends are of two signals, and goes from there to both ends.
func follow(x []float64, n int) []int {
	begin := 1
	for i := 2; i < len(x); i++ {
		if math.Abs(x[i]-x[i-1]) > math.Abs(x[begin]-x[begin-1]) {
			begin = i
		}
	}
	first := []float64{x[begin-1], x[begin]}
	for len(first) < n { // the value near there that is the furthest from all
		best, furthest := x[begin], -1.0
		for _, v := range x[max(0, begin-2*n):min(len(x), begin+2*n)] {
			if _, d := nearest(first, v); d > furthest {
				best, furthest = v, d
			}
		}
		first = append(first, best)
	}
	of := make([]int, len(x))
	now := slices.Clone(first)
	for i := begin; i < len(x); i++ {
		of[i], _ = nearest(now, x[i])
		now[of[i]] = x[i]
	}
	copy(now, first)
	for i := begin - 1; i >= 0; i-- {
		of[i], _ = nearest(now, x[i])
		now[of[i]] = x[i]
	}
	return of
}

// nearest returns which of several values is the nearest to v, and how far it is.
func nearest(all []float64, v float64) (k int, distance float64) {
	distance = math.Inf(1)
	for i, o := range all {
		if d := math.Abs(v - o); d < distance {
			k, distance = i, d
		}
	}
	return k, distance
}

// alternating reports which states alternate, if any does.
func (out *remarks) alternating(states []channel.Channel, found []int) {
	if len(found) == 0 {
		return
	}
	var names []string
	for _, i := range found {
		names = append(names, states[i].Name)
	}
	out.add("alternating", Warning, "", "%s: the rows are of several signals in turns, each of which continues its own: several senders or robots, which nothing in the messages distinguishes", strings.Join(names, ", ")).Remedy = "record them apart, or select one with where"
}
