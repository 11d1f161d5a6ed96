package window

import (
	"math"
	"slices"
	"time"

	"github.com/dgm-robotics/dgm/estimator/actuator"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// gapFactor: an interval this many times the median one is a gap.
const gapFactor = 5

// Options describe how segments are cut. The zero value is good.
type Options struct {
	// (optional) an interval between samples longer than this is a gap;
	// defaults to 5 times the median interval of the segment.
	MaxGap time.Duration
}

// Series is one recorded segment: n samples of K states and P inputs.
// NaN = not measured.
type Series struct {
	Name string
	T    []int64   // n, ns
	X    []float64 // n×K row-major, in the units of the channels
	U    []float64 // n×P
	X0   []float64 // (optional) K, exact state at T[0]

	// (optional) ns from the first sample of the segment to T[0], where the
	// beginning of the segment was left out.
	Before int64
}

// Flight is a stretch of a segment without gaps. Its slices are read-only.
type Flight struct {
	Segment int       // place of its series in the log
	Name    string    // name of that series
	Begin   int64     // ns, stamp of the first sample of its segment
	Origin  int64     // ns; T counts from here
	T       []float64 // n, s, strictly increasing
	X       []float64 // n×K; periodic channels unwrapped from sample to sample; NaN = not measured
	U       []float64 // n×P; missing values replaced by the value before; NaN = not known yet
	X0      []float64 // K, exact state at T[0] where it is known, else nil
	Y       []float64 // n×K, as X, measurements where X is estimated; nil = X is measured
	Target  []float64 // n×K, what training aims at where X is estimated: draws of the states given the whole flight; nil = the measurements
	Exact   []float64 // n×K, exact states where they are known, near X on the same turn of an angle, else nil
	K, P    int

	whole *Flight // (optional) that it is a part of, and whose samples before it are known
	first int     // place of sample 0 there

	integral []float64           // n×P, ∫ u dt from T[0] to T[i]; unknown inputs count as 0
	constant []bool              // P: the input has one value
	acting   []actuator.Response // (optional) P: InputAt and InputMean are of what acts of U
	followed []float64           // n×P, with acting: what acts of the commands at T + dead time; of a part its whole has it
	maxGap   []float64           // K, s: a longer interval between two values of channel k is a gap
}

// N returns the number of samples.
func (f *Flight) N() int { return len(f.T) }

// State returns the measured state of sample i, a view of length K.
func (f *Flight) State(i int) []float64 { return f.X[i*f.K : (i+1)*f.K] }

// Compared returns what predictions of sample i are compared with: what was measured, NaN where nothing was, also where State is
// estimated.
func (f *Flight) Compared(i int) []float64 {
	if f.Y != nil {
		return f.Y[i*f.K : (i+1)*f.K]
	}
	return f.State(i)
}

// Input returns the input held from sample i on, a view of length P.
func (f *Flight) Input(i int) []float64 { return f.U[i*f.P : (i+1)*f.P] }

// Aim returns the states as training aims at them where no exact ones are known: given the whole flight, else as measured, n×K.
func (f *Flight) Aim() []float64 {
	switch {
	case f.Target != nil:
		return f.Target
	case f.Y != nil:
		return f.Y
	}
	return f.X
}

// InSegment returns how long after the first sample of its segment sample i was
// taken, s.
func (f *Flight) InSegment(i int) float64 { return seconds(f.Origin-f.Begin) + f.T[i] }

// Duration returns the time from the first sample to the last, s.
func (f *Flight) Duration() float64 { return f.T[len(f.T)-1] - f.T[0] }

// Slice returns samples i to j−1 as a flight of its own. It shares memory with f.
func (f *Flight) Slice(i, j int) Flight {
	s := *f
	s.T, s.X, s.U = f.T[i:j], f.X[i*f.K:j*f.K], f.U[i*f.P:j*f.P]
	s.integral = f.integral[i*f.P : j*f.P]
	if f.followed != nil {
		s.followed = f.followed[i*f.P : j*f.P]
	}
	for _, v := range []*[]float64{&s.Y, &s.Target, &s.Exact} {
		if *v != nil {
			*v = (*v)[i*f.K : j*f.K]
		}
	}
	if i > 0 {
		s.X0 = nil
	}
	s.first += i
	return s
}

// Following returns Slice(i, j) whose samples before i are known as history.
func (f *Flight) Following(i, j int) Flight {
	s := f.Slice(i, j)
	if s.whole == nil {
		s.whole, s.first = f, i
	}
	return s
}

// Past returns where the history of sample i is: samples up to a place in a flight.
func (f *Flight) Past(i int) (*Flight, int) {
	if f.whole == nil {
		return f, i
	}
	return f.whole, f.first + i
}

// Prepare makes the flights of segment number seg. states are the K state
// channels, in the order of s.X; inputs is P.
//
// A gap, and a time that goes back, begin a new flight. Of samples with equal
// times the first is kept. Values that are not finite count as not measured.
// Stretches of fewer than two samples are dropped.
func Prepare(seg int, s Series, states []channel.Channel, inputs int, opt Options) []Flight {
	K, P, n := len(states), inputs, len(s.T)
	if len(s.X) != n*K || len(s.U) != n*P || (s.X0 != nil && len(s.X0) != K) {
		panic(badSeries)
	}
	keep := distinct(s.T)
	limit := opt.MaxGap.Seconds()
	if limit <= 0 {
		limit = gapFactor * medianInterval(s.T, keep, func(int) bool { return true })
	}
	maxGap := make([]float64, K)
	for k := range K {
		own := medianInterval(s.T, keep, func(i int) bool { return finite(s.X[i*K+k]) })
		maxGap[k] = max(limit, gapFactor*own)
	}
	var out []Flight
	for from := 0; from < len(keep); {
		to := from + 1
		for to < len(keep) {
			if dt := seconds(s.T[keep[to]] - s.T[keep[to-1]]); dt < 0 || dt > limit+snap {
				break
			}
			to++
		}
		if to-from >= 2 {
			f := fill(s, keep[from:to], states, P)
			f.Segment, f.Begin, f.maxGap = seg, s.T[0]-s.Before, maxGap
			out = append(out, f)
		}
		from = to
	}
	return out
}

// fill copies the samples idx of s into a new flight, unwraps its angles, holds
// its inputs and integrates them.
func fill(s Series, idx []int, states []channel.Channel, P int) Flight {
	K, n := len(states), len(idx)
	f := Flight{
		Name: s.Name, Origin: s.T[idx[0]], K: K, P: P,
		T: make([]float64, n), X: make([]float64, n*K), U: make([]float64, n*P),
		integral: make([]float64, n*P), constant: make([]bool, P),
	}
	if idx[0] == 0 {
		f.X0 = s.X0
	}
	for r, i := range idx {
		f.T[r] = seconds(s.T[i] - f.Origin)
		copy(f.X[r*K:(r+1)*K], s.X[i*K:(i+1)*K])
		copy(f.U[r*P:(r+1)*P], s.U[i*P:(i+1)*P])
	}
	for k, c := range states {
		unwrap(f.X[k:], K, c.Period)
	}
	for p := range P {
		hold(f.U[p:], P)
		sum := 0.0
		f.constant[p] = true
		for r := 1; r < n; r++ {
			if u := f.U[(r-1)*P+p]; finite(u) {
				sum += u * (f.T[r] - f.T[r-1])
			}
			f.integral[r*P+p] = sum
			f.constant[p] = f.constant[p] && f.U[r*P+p] == f.U[p]
		}
	}
	return f
}

// unwrap makes every stride-th value of v continuous modulo period (0 = leave
// as it is): no step is longer than half a period. What is not finite becomes NaN.
func unwrap(v []float64, stride int, period float64) {
	last, any := 0.0, false
	for i := 0; i < len(v); i += stride {
		switch {
		case !finite(v[i]):
			v[i] = math.NaN()
		case period > 0:
			if any {
				v[i] += period * math.Round((last-v[i])/period)
			}
			last, any = v[i], true
		}
	}
}

// hold replaces every stride-th value of v that is not finite by the one before.
func hold(v []float64, stride int) {
	last := math.NaN()
	for i := 0; i < len(v); i += stride {
		if finite(v[i]) {
			last = v[i]
		}
		v[i] = last
	}
}

// distinct returns the indices of the samples whose time differs from the kept
// sample before.
func distinct(t []int64) []int {
	keep := make([]int, 0, len(t))
	for i := range t {
		if i > 0 && t[i] == t[keep[len(keep)-1]] {
			continue
		}
		keep = append(keep, i)
	}
	return keep
}

// medianInterval returns the median of the positive intervals between the
// samples idx that pass, s; 0 if there are none.
func medianInterval(t []int64, idx []int, pass func(i int) bool) float64 {
	var dt []int64
	last := -1
	for _, i := range idx {
		if !pass(i) {
			continue
		}
		if last >= 0 && t[i] > t[last] {
			dt = append(dt, t[i]-t[last])
		}
		last = i
	}
	if len(dt) == 0 {
		return 0
	}
	slices.Sort(dt)
	return seconds(dt[len(dt)/2])
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

const badSeries = "window: lengths of T, X, U and X0 do not agree with the channels"
