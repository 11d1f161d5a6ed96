package importer

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// holds finds states that are held for several rows, as those of a slow sensor in a table of a
// fast logger: only the first row of each value is a measurement.
type holds struct {
	states []hold
}

// hold counts for how many rows the values of a state stay.
type hold struct {
	last float64
	run  int
	runs [longestHold + 1]int // by length
	n    int
	by   []float64 // what values differ by from those before them; the first keptChanges
}

const (
	longestHold = 100 // rows
	fewestHolds = 20
	regular     = 0.8 // share of the runs that are as long as most, by one row
	keptChanges = 500
)

func newHolds(states int) *holds { return &holds{make([]hold, states)} }

func (h *holds) add(x []float64, begins bool) {
	for i, v := range x {
		s := &h.states[i]
		switch {
		case math.IsNaN(v):
		case begins || s.run == 0:
			s.last, s.run = v, 1
		case v == s.last:
			s.run++
		default:
			s.runs[min(s.run, longestHold)]++
			s.n++
			if len(s.by) < keptChanges {
				s.by = append(s.by, math.Abs(v-s.last))
			}
			s.last, s.run = v, 1
		}
	}
}

// found returns for each state for how many rows it is held; 0 = it is not.
func (h *holds) found() []int {
	out := make([]int, len(h.states))
	for i := range h.states {
		s := &h.states[i]
		usual := 2
		for n := range s.runs {
			if n > 1 && s.runs[n] > s.runs[usual] {
				usual = n
			}
		}
		near := 0
		for n := max(1, usual-1); n <= min(longestHold, usual+1); n++ {
			near += s.runs[n]
		}
		if s.n < fewestHolds {
			continue
		}
		coarse := s.coarse()
		if coarse { // its value stays for any number of rows, too; that of a slow sensor for a multiple of as many
			near = 0
			for n := usual; n <= longestHold; n += usual {
				near += s.runs[n]
			}
		}
		switch {
		case s.runs[usual] > s.runs[1] && float64(near) > regular*float64(s.n):
			out[i] = usual
		case !coarse && s.irregular():
			out[i] = s.mean()
		}
	}
	return out
}

// mean returns how many rows a value stays for in the mean.
func (s *hold) mean() int {
	rows := 0
	for n, runs := range s.runs {
		rows += n * runs
	}
	return (rows + s.n/2) / max(1, s.n)
}

// irregular reports whether values stay for rows of different number, hardly one for a single
// row nor for far more than the others.
func (s *hold) irregular() bool {
	long, most := 0, 4*s.mean()
	for n := most + 1; n <= longestHold; n++ {
		long += s.runs[n]
	}
	return 20*s.runs[1] <= s.n && 50*long <= s.n && most < longestHold
}

// coarse reports whether a quarter of the values differ from those before them by the same, the resolution of a coarse sensor.
func (s *hold) coarse() bool {
	by := slices.Clone(s.by)
	slices.Sort(by)
	middle, alike := by[len(by)/2], 0
	for _, d := range by {
		if math.Abs(d-middle) < 0.01*middle {
			alike++
		}
	}
	return 4*alike >= len(by)
}

// anyHeld reports whether any state is held.
func anyHeld(rows []int) bool { return slices.ContainsFunc(rows, func(n int) bool { return n > 0 }) }

// held reports which states are held.
func (out *remarks) held(states []channel.Channel, rows []int) {
	byRows := map[int][]string{}
	for i, n := range rows {
		if n > 0 {
			byRows[n] = append(byRows[n], states[i].Name)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(byRows)) {
		out.add("held", Warning, "", "%s: each value stays for %d rows, like that of a slower sensor: only the first of them counts as measured", strings.Join(byRows[n], ", "), n).Remedy = "keep_held = true under [time] keeps all"
	}
}

// release leaves the repetitions of held states out: they are not measured.
func (r *rowMaker) release() {
	x := r.all[0]
	if r.seen == nil {
		r.seen = make([]float64, len(x))
	}
	for i, rows := range r.plan.held {
		v := x[i]
		if rows > 0 && !r.row.begins && v == r.seen[i] {
			x[i] = math.NaN()
		}
		r.seen[i] = v
	}
}
