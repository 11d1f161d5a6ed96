package estimation

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/trainer/leastsquares"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// A state is of second order where its last slope leaves at most the share lowered of the error of its next one, RMS, and where
// without it more than the share unexplained of the next slope's mean square is left: below, functions that are not exact leave more.
const (
	lowered     = 0.7
	unexplained = 0.002
)

// spans of the lines whose slope is compared with that of the next one, s: noise hides the slope of short ones, and the robot turns within long ones.
var spans = [...]float64{0.02, 0.05, 0.1, 0.2}

// penalties of the regressions, of which each takes the best.
var penalties = [...]float64{1e-5, 1e-3, 1e-2, 0.1}

const (
	mostRows  = 3000
	leastRows = 8   // for each column
	parts     = 3   // that are left out in turn
	blocks    = 40  // of each flight, which the parts take in turn
	recent    = 0.5 // s: the inputs are read back to then at least
	recentBy  = 6   // samples
)

// secondOrder reports whether the next slope of state k follows its last one, beside functions of all states and of the inputs up to
// now, on parts of the flights that are left out: then it is the position of a mass, whose rate is a state of its own. How fast the
// level of a tank moves follows from the level and the pump.
func secondOrder(flights []window.Flight, states []channel.Channel, k int) bool {
	shortest, last := 2*spacing(flights, k), 0.0
	for _, span := range spans {
		if span = math.Max(span, shortest); span < 1.1*last || math.IsInf(span, 1) {
			continue
		}
		last = span
		rows := newDerivatives(flights, states, k, span)
		if without, with, ok := rows.left(); ok && without > unexplained && with < lowered*lowered*without {
			return true
		}
	}
	return false
}

// spacing returns the mean time between two values of state k, s; +∞ where none has a successor.
func spacing(flights []window.Flight, k int) float64 {
	time, n := 0.0, 0
	for i := range flights {
		f, last := &flights[i], math.NaN()
		for j, t := range f.T {
			if math.IsNaN(f.X[j*f.K+k]) {
				continue
			}
			if !math.IsNaN(last) {
				time, n = time+t-last, n+1
			}
			last = t
		}
	}
	if n == 0 {
		return math.Inf(1)
	}
	return time / float64(n)
}

// derivatives are the rows of the regressions: functions of states and inputs, the last slope of a state and the next one.
type derivatives struct {
	rows [][]float64 // functions+2
	part []int       // of each row
}

// newDerivatives returns those of state k along lines of a span, s.
func newDerivatives(flights []window.Flight, states []channel.Channel, k int, span float64) *derivatives {
	var out derivatives
	of := newFunctions(flights, states, span)
	n := max(2, int(math.Round(span/window.Interval(flights))))
	stride := max(1, window.Samples(flights)/mostRows)
	for i := range flights {
		f := &flights[i]
		for at := n; at+n+1 < f.N(); at += stride {
			past, ok := slope(f, k, at-n, at)
			next, too := slope(f, k, at+1, at+1+n)
			if !ok || !too || f.T[at] < f.T[0]+of.reach-span {
				continue
			}
			row := of.at(f, at-n, at, 0.5*(f.T[at+1]+f.T[at+1+n]))
			if row == nil {
				continue
			}
			out.rows = append(out.rows, append(row, past, next))
			out.part = append(out.part, at*blocks/f.N()%parts)
		}
	}
	return &out
}

// slope returns that of the line through what is measured of state k from one sample to another, and whether there is enough.
func slope(f *window.Flight, k, from, to int) (float64, bool) {
	var n, t, x, tt, tx float64
	for i := from; i <= to; i++ {
		if v := f.X[i*f.K+k]; !math.IsNaN(v) {
			s := f.T[i] - f.T[from]
			n, t, x, tt, tx = n+1, t+s, x+v, tt+s*s, tx+s*v
		}
	}
	return (n*tx - t*x) / (n*tt - t*t), n > 2
}

// left returns what regressions leave, without and with the last slope, of the mean square of the next one, on each part from the
// others; ok is false where there are too few rows.
func (s *derivatives) left() (without, with float64, ok bool) {
	if len(s.rows) == 0 || len(s.rows) < leastRows*len(s.rows[0]) {
		return 0, 0, false
	}
	V := len(s.rows[0]) - 1
	var gathered [parts]*leastsquares.Gram
	for p := range gathered {
		gathered[p] = leastsquares.New(V, 1, s.rows[0])
	}
	square := 0.0
	for i, row := range s.rows {
		gathered[s.part[i]].Add(row)
		square += row[V] * row[V]
	}
	var errors [2][len(penalties)]float64
	for p := range gathered {
		others := leastsquares.New(V, 1, s.rows[0])
		for q := range gathered {
			if q != p {
				others.Merge(gathered[q])
			}
		}
		for own := range errors {
			for i, penalty := range penalties {
				errors[own][i] += s.errors(others, p, V-1+own, penalty)
			}
		}
	}
	best := func(of [len(penalties)]float64) float64 {
		least := math.Inf(1)
		for _, v := range of {
			least = math.Min(least, v)
		}
		return least / square
	}
	without, with = best(errors[0]), best(errors[1])
	return without, with, !math.IsInf(without, 0) && !math.IsInf(with, 0) && square > 0
}

// errors returns the sum of the squares of the errors in a part by what the first columns of others say.
func (s *derivatives) errors(others *leastsquares.Gram, part, columns int, penalty float64) (sum float64) {
	w, c, ok := others.Solve(columns, penalty)
	if !ok {
		return math.Inf(1)
	}
	for i, row := range s.rows {
		if s.part[i] == part {
			e := row[len(row)-1] - c[0]
			for j, v := range w {
				e -= v * row[j]
			}
			sum += e * e
		}
	}
	return sum
}
