package importer

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// fills finds numbers that stand for what was not measured, as −999: a field has them again and again, and they are far
// from all its other values.
type fills struct{ watched[ends] }

// ends are the lowest and the highest two values of a field that differ.
type ends struct {
	low, high [2]end
	n         int
	changes   int // values that differ from the one before
	last      float64
}

// end is a value, and how often it occurs.
type end struct {
	v float64
	n int
}

const (
	fewestFills   = 3    // times that a number stands for what was not measured, at least
	fewestChanges = 20   // of a field whose other values show its range
	farFill       = 5    // ranges of all other values, that such a number is from them
	mostBits      = 1e10 // integers of up to 32 bits are smaller
)

// newFills returns what looks at the states and inputs of a plan.
func newFills(p *plan) *fills { return &fills{watch[ends](p)} }

// add takes the values of a message of a track.
func (f *fills) add(track int, _ int64, x []float64) { f.each(track, x, (*ends).add) }

func (s *ends) add(v float64) {
	if s.n == 0 {
		s.low, s.high, s.last = [2]end{{v: math.Inf(1)}, {v: math.Inf(1)}}, [2]end{{v: math.Inf(-1)}, {v: math.Inf(-1)}}, math.NaN()
	}
	if s.n++; v != s.last {
		s.changes++
		s.last = v
	}
	extreme(&s.low, v, v < s.low[0].v, v < s.low[1].v)
	extreme(&s.high, v, v > s.high[0].v, v > s.high[1].v)
}

// extreme adds a value to two ends, of which it is beyond the first, or the second.
func extreme(e *[2]end, v float64, first, second bool) {
	switch {
	case v == e[0].v:
		e[0].n++
	case first:
		e[1], e[0] = e[0], end{v, 1}
	case v == e[1].v:
		e[1].n++
	case second:
		e[1] = end{v, 1}
	}
}

// filled returns the numbers of a field that stand for what was not measured.
func (s *ends) filled() (all []end) {
	low, high := s.low[0].suspect(), s.high[0].suspect()
	from, to := s.low[0].v, s.high[0].v
	if low {
		from = s.low[1].v
	}
	if high {
		to = s.high[1].v
	}
	size := to - from
	if s.changes < fewestChanges || size <= 0 {
		return nil
	}
	if low && from-s.low[0].v > farFill*size {
		all = append(all, s.low[0])
	}
	if high && s.high[0].v-to > farFill*size {
		all = append(all, s.high[0])
	}
	return all
}

// suspect reports whether a value is one that programs write where there is none: nines, the ends of integers of 16 and 32
// bits, and powers of ten that nothing measures.
func (e end) suspect() bool {
	v := math.Abs(e.v)
	nines := strings.Trim(strings.Replace(strconv.FormatFloat(v, 'f', -1, 64), ".", "", 1), "9") == "" && v > 90
	bits := slices.ContainsFunc([]float64{1 << 15, 1 << 16, 1 << 31, 1 << 32}, func(b float64) bool { return v == b || v == b-1 })
	power := v >= mostBits && (v == math.Pow(10, math.Round(math.Log10(v))) || v >= 1e20)
	return e.n >= fewestFills && (nines || bits || power)
}

// found adds the numbers that stand for what was not measured to a plan, and reports whether there are any.
func (f *fills) found(p *plan) (any bool) {
	if p.fills == nil {
		p.fills = make([][][]float64, len(f.fields))
		for track, fields := range f.fields {
			p.fills[track] = make([][]float64, len(fields))
		}
	}
	type saying struct {
		names []string
		n, of int
	}
	said := map[float64]*saying{}
	f.all(func(name string, s *ends, track, column int) {
		for _, e := range s.filled() {
			any = true
			p.fills[track][column] = append(p.fills[track][column], e.v)
			if said[e.v] == nil {
				said[e.v] = &saying{}
			}
			x := said[e.v]
			if !slices.Contains(x.names, name) {
				x.names = append(x.names, name)
			}
			x.n, x.of = x.n+e.n, x.of+s.n
		}
	})
	for _, v := range slices.Sorted(maps.Keys(said)) {
		x := said[v]
		p.leftOut.add("fill", Warning, "", "%s: the placeholder %s, in %d of %d values and far from all others, counts as not measured",
			strings.Join(x.names, ", "), fmt.Sprint(v), x.n, x.of).Remedy = "let the recorder write nan there, or nothing"
	}
	return any
}

// unfill has the numbers in a message of a track that stand for what was not measured be NaN.
func (p *plan) unfill(track int, values []float64) {
	if p.fills == nil {
		return
	}
	for i, all := range p.fills[track] {
		if len(all) > 0 && slices.Contains(all, values[i]) {
			values[i] = math.NaN()
		}
	}
}
