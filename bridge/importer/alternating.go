package importer

import (
	"math"
	"slices"
	"strings"
)

// alternating finds fields whose messages are in turns of several signals: of publishers, or robots,
// that nothing in the messages distinguishes. Each topic is looked at by itself, in blocks of messages:
// what is joined to rows has mixed the turns already.
type alternating struct{ watched[turns] }

// turns are the values of a field in the block at hand, and in how many blocks they took turns.
type turns struct {
	block, sorted        []float64
	blocks, found, equal int
}

const (
	blockRows   = 400
	fewestRows  = 50  // of a block
	mostSignals = 3   // that are distinguished at any ratio of their rates
	mostEqual   = 16  // that are distinguished at one rate
	fewestTurns = 6   // rows of a signal in a block
	apart       = 0.2 // of several signals: the most that their own steps are of the steps between them
	unlikeTurns = 0.1 // the share of a signal's rows that need not come in their turn
	fewBlocks   = 0.1 // the share of blocks with turns below which there are none
	oneTone     = 0.9 // the share of its power in one frequency from which on a period is a vibration
	halfBlocks  = 0.5 // the same of more than mostSignals at one rate, as which a vibration may look for a while
)

// newAlternating returns what looks at the states and inputs of a plan.
func newAlternating(p *plan) *alternating { return &alternating{watch[turns](p)} }

// add takes the values of a message of a track.
func (a *alternating) add(track int, _ int64, x []float64) {
	a.each(track, x, func(s *turns, v float64) {
		if s.block = append(s.block, v); len(s.block) == blockRows {
			s.judge()
		}
	})
}

// judge looks at a block, and begins the next one.
func (s *turns) judge() {
	s.blocks++
	x := s.block
	s.block = s.block[:0]
	if reversals(x) < fewestTurns {
		return
	}
	s.sorted = append(s.sorted[:0], x...)
	slices.Sort(s.sorted)
	if restsInTurns(x, s.sorted) {
		s.found++
		return
	}
	equal, across := 2, stepsOver(x, 1)
	for equal <= mostEqual && !equalTurns(x, equal, across) {
		equal++
	}
	if equal > mostSignals && equal <= mostEqual && tone(x, equal) {
		return
	}
	for n := 2; n <= mostSignals; n++ {
		if takeTurns(x, n) {
			s.found++
			return
		}
	}
	if equal > mostSignals && equal <= mostEqual {
		s.equal++
	}
}

// tone reports whether values with a period of n rows are of one frequency, as of a vibration: levels of
// several signals are of all that the period has.
func tone(x []float64, n int) bool {
	most, all := 0.0, 0.0
	for k := 1; 2*k <= n; k++ {
		power := 0.0
		for from := 0; from+n <= len(x); from += n {
			var re, im float64
			for i, v := range x[from : from+n] {
				sin, cos := math.Sincos(2 * math.Pi * float64(i*k%n) / float64(n))
				re, im = re+v*cos, im+v*sin
			}
			power += re*re + im*im
		}
		if 2*k < n {
			power *= 2 // of the frequency below zero
		}
		most, all = max(most, power), all+power
	}
	return most > oneTone*all
}

// reversals counts how often values turn back: each turn of another signal does so.
func reversals(x []float64) (n int) {
	up := false
	for i := 1; i < len(x); i++ {
		if x[i] != x[i-1] && x[i] > x[i-1] != up {
			up = !up
			n++
		}
	}
	return n
}

// equalTurns reports whether values are of n signals at one rate: each is near the value n before, and
// nearly all are far from the one before, as those of one that holds its levels are not. across is the mean
// step from one to the next.
func equalTurns(x []float64, n int, across float64) bool {
	if first := x[:min(len(x), n+fewestRows)]; stepsOver(first, n) > 2*apart*across {
		return false
	}
	own, far := stepsOver(x, n), 0
	for i := 1; i < len(x); i++ {
		if math.Abs(x[i]-x[i-1]) > 2*own {
			far++
		}
	}
	return own > 0 && own <= apart*across && 4*far >= 3*len(x)
}

// stepsOver returns how far values are from those n before, in the mean.
func stepsOver(x []float64, n int) float64 {
	sum := 0.0
	for i := n; i < len(x); i++ {
		sum += math.Abs(x[i] - x[i-n])
	}
	return sum / float64(max(1, len(x)-n))
}

// found returns the channels that alternate.
func (a *alternating) found() (names []string) {
	a.all(func(name string, s *turns, _, _ int) {
		if len(s.block) > fewestRows {
			s.judge()
		}
		all, turned := float64(s.blocks), float64(s.found)
		if turned > 0 && turned >= fewBlocks*all || s.equal > 0 && turned+float64(s.equal) >= halfBlocks*all {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	})
	return names
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

// inTurn reports whether the rows of a signal come singly, at nearly equal distances, or once in each so many rows: senders that wait for
// one another, as those that answer one message, come in any order.
func inTurn(steps []int) bool {
	if len(steps) < fewestTurns {
		return false
	}
	sorted := slices.Sorted(slices.Values(steps))
	usual, unlike, ahead, astray := sorted[len(sorted)/2], 0, 0, 0
	for _, d := range steps {
		if d == 1 || d < usual-1 || d > usual+1 {
			unlike++
		}
		if ahead += d - usual; ahead >= usual || -ahead >= usual {
			astray++
		}
	}
	most := unlikeTurns * float64(len(steps))
	return usual > 1 && (float64(unlike) <= most || float64(astray) <= most && usual <= mostSignals)
}

// restsInTurns reports whether one value comes again and again in turns between those of a signal that goes on without it, as of a
// publisher whose own signal stands still: the signal may pass that value.
func restsInTurns(x, sorted []float64) bool {
	rest, most := 0.0, 0
	for i, from := 0, 0; i < len(x); i++ {
		if sorted[i] != sorted[from] {
			from = i
		}
		if n := i + 1 - from; n > most {
			rest, most = sorted[i], n
		}
	}
	if most <= fewestTurns || len(x)-most <= fewestTurns {
		return false
	}
	var moving []float64
	var steps [2][]int // from row to row of the value, and of the others
	var own, across float64
	at := [2]int{-1, -1}
	for i, v := range x {
		k := 0
		if v != rest {
			if k = 1; len(moving) > 0 {
				own += math.Abs(v - moving[len(moving)-1])
			}
			moving = append(moving, v)
		}
		if i > 0 && (v == rest) != (x[i-1] == rest) {
			across += math.Abs(v - x[i-1])
		}
		if at[k] >= 0 {
			steps[k] = append(steps[k], i-at[k])
		}
		at[k] = i
	}
	switches := 2 * min(len(moving), most)
	return own > 0 && own/float64(len(moving)) <= apart*across/float64(switches) && (inTurn(steps[0]) || inTurn(steps[1]))
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

// alternating reports which channels alternate, if any does.
func (out *remarks) alternating(names []string, table bool) {
	if len(names) == 0 {
		return
	}
	x := out.add("alternating", Warning, "", "%s: the messages alternate between several continuous signals: several senders or robots, which no field of the messages distinguishes", strings.Join(names, ", "))
	x.Remedy = "record them separately, or select one with where"
	if table {
		x.Text = strings.Join(names, ", ") + ": the rows alternate between several continuous signals, of several sensors or robots"
		x.Remedy = "write group_column under [time], with the column that distinguishes robots; or write the rows of each sensor to a table of their own"
	}
}
