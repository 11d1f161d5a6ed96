package importer

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// fills finds numbers that stand for what was not measured, as −999: a field has them again and again, and they are far
// from all its other values. So are 0 and −1 of a sensor that has lost what it measures.
type fills struct{ watched[ends] }

// ends are the lowest and the highest two values of a field that differ, and how it comes to 0 and −1.
type ends struct {
	low, high [2]end
	n         int
	changes   int // values that differ from the one before
	last      float64

	marks [len(marks)]mark
	most  float64 // the largest step of all but these
	top   float64 // the largest value, whatever its sign
}

// marks are values that sensors give where they have lost what they measure; a single field shows all but the first.
var marks = [...]float64{0, -1}

// mark is how often a field has such a value.
type mark struct {
	n, turns int     // values, and steps to them and from them
	least    float64 // the smallest of these steps
	sum      float64 // of all of them
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
	farMark       = 10   // times the largest other step: how far all other values are from 0 or −1
	lowMark       = 0.4  // of the largest value: the same
	oftenMark     = 3    // the share of these, inverse, from which on a field rests there
	alikeMarks    = 1.1  // times as many at most, in fields that are lost together
	jumpMark      = 3    // times the largest other step: the mean step of these to 0 or −1
)

// newFills returns what looks at the states and inputs of a plan.
func newFills(p *plan) *fills { return &fills{watch[ends](p)} }

// add takes the values of a message of a track.
func (f *fills) add(track int, _ int64, x []float64) { f.each(track, x, (*ends).add) }

func (s *ends) add(v float64) {
	if s.n == 0 {
		s.low, s.high, s.last = [2]end{{v: math.Inf(1)}, {v: math.Inf(1)}}, [2]end{{v: math.Inf(-1)}, {v: math.Inf(-1)}}, math.NaN()
	}
	for i, value := range marks {
		if v == value {
			s.marks[i].n++
		}
	}
	if s.n++; v != s.last {
		if s.changes++; s.n > 1 {
			s.step(v)
		}
		s.last, s.top = v, max(s.top, math.Abs(v))
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

// step takes a step to another value.
func (s *ends) step(v float64) {
	step, marked := math.Abs(v-s.last), false
	for i, value := range marks {
		if m := &s.marks[i]; v == value || s.last == value {
			if m.turns == 0 || step < m.least {
				m.least = step
			}
			m.turns, m.sum, marked = m.turns+1, m.sum+step, true
		}
	}
	if !marked {
		s.most = max(s.most, step)
	}
}

// lost reports whether a mark stands now and then for what is not measured, far from all other values.
func (s *ends) lost(m mark) bool {
	return m.n >= fewestFills && m.turns > 0 && oftenMark*m.n < s.n && s.n-m.n > fewestSteps && s.most > 0 && m.least > farMark*s.most && m.least > lowMark*s.top
}

// with reports whether a mark comes where that of another field does that is lost, and the field jumps to it.
func (s *ends) with(m, of mark) bool {
	return m.n >= of.n && m.turns >= of.turns && float64(m.n) <= alikeMarks*float64(of.n) && float64(m.turns) <= alikeMarks*float64(of.turns)+2 &&
		m.sum > jumpMark*s.most*float64(m.turns)
}

// lost calls found with the states in which a mark stands for what is not measured, and its number in marks: all other values of a position
// are far from it, and others of the same messages have it as often. Speeds and forces jump to 0 by themselves, and so does one position
// alone, as of a gripper that closes.
func (f *fills) lost(p *plan, found func(name string, s *ends, track, column, k int)) {
	for track, names := range f.names {
		for k := range marks {
			for _, i := range p.lostIn(names, f.fields[track], k) {
				found(names[i], &f.fields[track][i], track, i, k)
			}
		}
	}
}

// lostIn returns the fields of a track in which a mark does.
func (p *plan) lostIn(names []string, fields []ends, k int) (lost []int) {
	for i, name := range names {
		if name == "" || !p.isPosition(name) || !fields[i].lost(fields[i].marks[k]) {
			continue
		}
		all, positions := p.together(names, fields, k, fields[i].marks[k])
		if positions < 2 && marks[k] == 0 {
			continue
		}
		for _, with := range all {
			if !slices.Contains(lost, with) {
				lost = append(lost, with)
			}
		}
	}
	return lost
}

// together returns the fields of states that have a mark where another field has it, and how many of them are positions.
func (p *plan) together(names []string, fields []ends, k int, of mark) (all []int, positions int) {
	for i, name := range names {
		if name != "" && !p.isInput(name) && fields[i].with(fields[i].marks[k], of) {
			if all = append(all, i); p.isPosition(name) {
				positions++
			}
		}
	}
	return all, positions
}

// isInput reports whether a field is that of an input.
func (p *plan) isInput(name string) bool {
	i := channel.Index(p.header, name)
	return i >= 0 && p.header[i].Role == channel.Input
}

// positionName matches the end of what a position, a range or a part of a quaternion is called.
var positionName = regexp.MustCompile(`(?i)(^|[^a-z])([xyz]|[pt][xyz]|q[xyzw0-3]|lat|latitude|lon|longitude|alt|altitude|height|range|dist|distance|depth|pos|position)$`)

// isPosition reports whether a state is called or measured as one, or is an attitude.
func (p *plan) isPosition(name string) bool {
	i := channel.Index(p.header, name)
	switch {
	case i < 0: // several states
		return true
	case p.header[i].Role != channel.State:
		return false
	case p.header[i].Unit != "":
		_, _, length := frames.Unit("m", p.header[i].Unit)
		return length
	}
	return positionName.MatchString(name) && !isOf(name)(speeds) && !isOf(name)(rates)
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
	said := map[end]*saying{} // 1: as a mark
	say := func(v end, name string, track, column, n, of int) {
		any = true
		p.fills[track][column] = append(p.fills[track][column], v.v)
		if said[v] == nil {
			said[v] = &saying{}
		}
		x := said[v]
		if !slices.Contains(x.names, name) {
			x.names = append(x.names, name)
		}
		x.n, x.of = x.n+n, x.of+of
	}
	f.all(func(name string, s *ends, track, column int) {
		for _, e := range s.filled() {
			say(end{v: e.v}, name, track, column, e.n, s.n)
		}
	})
	f.lost(p, func(name string, s *ends, track, column, k int) {
		say(end{marks[k], 1}, name, track, column, s.marks[k].n, s.n)
	})
	for _, v := range slices.SortedFunc(maps.Keys(said), func(a, b end) int { return cmp.Or(cmp.Compare(a.v, b.v), cmp.Compare(a.n, b.n)) }) {
		x, why := said[v], " and far from all others, counts as not measured"
		if v.n == 1 {
			why = ", counts as not measured: the values jump to it, as those of a sensor that has lost what it measures"
		}
		p.leftOut.add("fill", Warning, "", "%s: the placeholder %s, in %d of %d values%s",
			strings.Join(x.names, ", "), fmt.Sprint(v.v), x.n, x.of, why).Remedy = "let the recorder write nan there, or nothing"
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
