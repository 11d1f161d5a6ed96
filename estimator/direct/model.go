// Package direct holds a direct linear map: the displacement at every time ahead, by
// regression on the start state, what preceded it, and the input.
//
//	d_k(t) = v0_k t + t g_k(t)        g_k(t) = Σ_c ω_kc(t) column_c(t)
//
// v0_k is the measured derivative of channel k, 0 where none is. The columns are
//
//	1, z(x0), u(t0), [plan: means of u over equal parts of [0, t]],
//	of every row of history: its state less x0, its mean input,
//	[degree 2: the products of two of those before the history]
//
// with states lifted and standardised (z) and inputs standardised, but for the differences
// of the history, which are in the channels' units. The rows of history are whatever the
// model's history.Spec says; a level reads the first of them. ω is linear in t between the times of a
// level and constant beyond them. Nothing after t is read. A level with Apart is bounded by what levels that read less
// history predict, see agreement.go.
package direct

import (
	"fmt"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Model is a direct linear map of K states and P inputs.
type Model struct {
	Lift       channel.Lift // K states → L standardised coordinates
	UMean      []float64    // P
	UStd       []float64    // P, > 0
	Range      []float64    // P: largest |input|, standardised, of the training data, 0 where it did not vary; see RangeFactor; nil = not known
	Change     []float64    // (1+R)×P: the same of |input's mean over a part of the horizon − that over the part before, or at the start|, then of that over each of R rows of history less the row after it in time, or the start; nil = not known, always without Range; in a stack a multiple of them, see trainer/stack
	Derivative []int        // K, state that is the derivative of this one; −1 = none is measured
	Blocks     int          // parts of [0, t] over each of which the mean of a plan is a column
	Levels     []Level      // for every readout one that reads no history
}

// Level is the map of one readout and amount of history.
type Level struct {
	Readout int       // 0: plan, 1: hold, whose columns have no plan
	Rows    int       // rows of history that are read
	Degree  int       // 1 or 2
	Times   []float64 // T, s, ascending, > 0
	Weights []float64 // T×K×C row-major: ω at Times, state units per second for a unit of the column

	// (optional) the training data, for the leverage of a start; see Map.Leverage
	Mean   []float64 // C' = C − 1, of all columns but the constant, at the end of the horizon
	Std    []float64 // C', > 0
	Factor []float64 // r×C' row-major: G, the principal components of the standardised columns, scaled
	Rest   float64   // s > 0, the variance of what the components leave

	// (optional) T×K: how far displacements usually lie beyond what the levels that read less history predict, over the time, state units
	// per second, at least LeastApart; see agreement.go. Only of a level with two others below it.
	Apart []float64
}

// Limits of a model.
const (
	MaxLevels  = 16
	MaxTimes   = 128
	MaxBlocks  = 64
	MaxColumns = 1 << 14
	MaxFactor  = 1 << 11 // columns of a factor
)

// linear returns the number of columns of l that products are made of: all between the
// constant and the history.
func (m *Model) linear(l *Level) int {
	n := m.Lift.Dim() + len(m.UMean)
	if l.Readout == 0 {
		n += m.Blocks * len(m.UMean)
	}
	return n
}

// Linear returns C', the number of columns of degree 1 without the constant.
func (m *Model) Linear(l *Level) int { return m.linear(l) + l.Rows*(len(m.Derivative)+len(m.UMean)) }

// Columns returns C, the number of columns of a level.
func (m *Model) Columns(l *Level) int {
	n, c := m.linear(l), 1+m.Linear(l)
	if l.Degree == 2 {
		c += n * (n + 1) / 2
	}
	return c
}

// Level returns the level of a readout that reads the most of so many rows of history, or
// nil.
func (m *Model) Level(readout, rows int) (best *Level) {
	for i := range m.Levels {
		if l := &m.Levels[i]; l.Readout == readout && l.Rows <= rows && (best == nil || l.Rows > best.Rows) {
			best = l
		}
	}
	return best
}

// Below returns the levels that bound one with Apart: the two of its readout that read the most of less history than it, the one
// with the least first. nil where there are not two.
func (m *Model) Below(l *Level) []*Level {
	var out []*Level
	for rows := l.Rows - 1; rows >= 0 && len(out) < 2; {
		next := m.Level(l.Readout, rows)
		if next == nil {
			break
		}
		out, rows = append([]*Level{next}, out...), next.Rows-1
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// between returns the time before t, the share of the next one in ω(t), and how fast that
// grows, 1/s: 0 where ω is constant.
func (l *Level) between(t float64) (i int, share, perSecond float64) {
	last := len(l.Times) - 1
	if t <= l.Times[0] {
		return 0, 0, 0
	}
	if t >= l.Times[last] {
		return last, 0, 0
	}
	for t > l.Times[i+1] {
		i++
	}
	perSecond = 1 / (l.Times[i+1] - l.Times[i])
	return i, (t - l.Times[i]) * perSecond, perSecond
}

// apart returns s of state k of K at t, units of the state, and its derivative by time.
func (l *Level) apart(k, K int, t float64) (s, rate float64) {
	i, share, perSecond := l.between(t)
	v, slope := l.Apart[i*K+k], 0.0
	if perSecond > 0 {
		step := l.Apart[(i+1)*K+k] - v
		v, slope = v+share*step, perSecond*step
	}
	return t * v, v + t*slope
}

// ApartAt returns s of state k of K at t, units of the state.
func (l *Level) ApartAt(k, K int, t float64) float64 {
	s, _ := l.apart(k, K, t)
	return s
}

// Bounded reports whether a level has Apart.
func (m *Model) Bounded() bool {
	return slices.ContainsFunc(m.Levels, func(l Level) bool { return len(l.Apart) > 0 })
}

// Check returns what contradicts itself for K states, P inputs and so many rows of history,
// or nil. It presumes a valid Lift.
func (m *Model) Check(k, p, rows int) error {
	switch {
	case len(m.UMean) != p || len(m.UStd) != p:
		return fmt.Errorf("%d and %d scalers of %d inputs", len(m.UMean), len(m.UStd), p)
	case len(m.Range) != 0 && len(m.Range) != p:
		return fmt.Errorf("ranges of %d inputs, expected %d", len(m.Range), p)
	case len(m.Change) != 0 && (len(m.Range) == 0 || len(m.Change)%p != 0 || len(m.Change)/p > 1+rows):
		return fmt.Errorf("%d changes of inputs with ranges of %d, expected %d, and as many for each of at most %d rows of history", len(m.Change), len(m.Range), p, rows)
	case len(m.Derivative) != k:
		return fmt.Errorf("%d derivatives, expected %d", len(m.Derivative), k)
	case m.Blocks < 0 || m.Blocks > MaxBlocks:
		return fmt.Errorf("%d blocks are outside 0…%d", m.Blocks, MaxBlocks)
	case len(m.Levels) > MaxLevels:
		return fmt.Errorf("%d levels, at most %d", len(m.Levels), MaxLevels)
	case m.Level(0, 0) == nil, p > 0 && m.Level(1, 0) == nil:
		return fmt.Errorf("a readout has no level without history")
	}
	for _, d := range m.Derivative {
		if d < -1 || d >= k {
			return fmt.Errorf("derivative: state %d of %d", d, k)
		}
	}
	for _, v := range m.UStd {
		if !(v > 0) {
			return fmt.Errorf("scaler %v of an input must be positive", v)
		}
	}
	for _, v := range slices.Concat(m.Range, m.Change) {
		if !(v >= 0) {
			return fmt.Errorf("range or change %v of an input is negative", v)
		}
	}
	for _, s := range [][]float64{m.UMean, m.UStd, m.Range, m.Change} {
		if err := finite(s); err != nil {
			return fmt.Errorf("scalers: %w", err)
		}
	}
	for i := range m.Levels {
		if err := m.checkLevel(&m.Levels[i], k, rows); err != nil {
			return fmt.Errorf("level %d: %w", i, err)
		}
	}
	return nil
}

func (m *Model) checkLevel(l *Level, k, rows int) error {
	switch {
	case l.Readout != 0 && l.Readout != 1:
		return fmt.Errorf("readout %d is unknown", l.Readout)
	case l.Rows < 0 || l.Rows > rows:
		return fmt.Errorf("%d rows of history are outside 0…%d", l.Rows, rows)
	case l.Degree != 1 && l.Degree != 2:
		return fmt.Errorf("degree %d is neither 1 nor 2", l.Degree)
	case len(l.Times) < 1 || len(l.Times) > MaxTimes:
		return fmt.Errorf("%d times are outside 1…%d", len(l.Times), MaxTimes)
	case m.Columns(l) > MaxColumns:
		return fmt.Errorf("%d columns, at most %d", m.Columns(l), MaxColumns)
	case len(l.Weights) != len(l.Times)*k*m.Columns(l):
		return fmt.Errorf("%d weights, expected %d", len(l.Weights), len(l.Times)*k*m.Columns(l))
	}
	for i, t := range l.Times {
		if !(t > 0) || i > 0 && !(t > l.Times[i-1]) {
			return fmt.Errorf("times must ascend from above 0")
		}
	}
	if err := finite(l.Times); err != nil {
		return fmt.Errorf("times: %w", err)
	}
	if err := finite(l.Weights); err != nil {
		return fmt.Errorf("weights: %w", err)
	}
	if err := m.checkApart(l, k); err != nil {
		return fmt.Errorf("apart: %w", err)
	}
	return m.checkFactor(l)
}

func (m *Model) checkApart(l *Level, k int) error {
	switch {
	case len(l.Apart) == 0:
		return nil
	case len(l.Apart) != len(l.Times)*k:
		return fmt.Errorf("%d numbers, expected %d", len(l.Apart), len(l.Times)*k)
	case m.Below(l) == nil:
		return fmt.Errorf("there are no two levels that read less history")
	}
	for _, below := range m.Below(l) {
		if !slices.Equal(below.Times, l.Times) {
			return fmt.Errorf("a level that reads less history has other times")
		}
	}
	for _, v := range l.Apart {
		if !(v >= LeastApart) {
			return fmt.Errorf("%v is below %v", v, LeastApart)
		}
	}
	return finite(l.Apart)
}

func (m *Model) checkFactor(l *Level) error {
	n := m.Columns(l) - 1
	if len(l.Mean) == 0 && len(l.Factor) == 0 {
		n = 0
	}
	switch {
	case n > MaxFactor:
		return fmt.Errorf("factor of %d columns, at most %d", n, MaxFactor)
	case len(l.Mean) != n || len(l.Std) != n:
		return fmt.Errorf("mean and std of %d and %d columns, expected %d", len(l.Mean), len(l.Std), n)
	case n > 0 && (len(l.Factor)%n != 0 || len(l.Factor) > n*n):
		return fmt.Errorf("factor of %d numbers is no whole number of rows of %d, at most as many", len(l.Factor), n)
	case !(l.Rest >= 0 && l.Rest <= math.MaxFloat64) || n > 0 && l.Rest == 0:
		return fmt.Errorf("rest %v must be positive, and 0 without a factor", l.Rest)
	}
	for _, v := range l.Std {
		if !(v > 0) {
			return fmt.Errorf("std %v must be positive", v)
		}
	}
	for _, s := range [][]float64{l.Mean, l.Std, l.Factor} {
		if err := finite(s); err != nil {
			return fmt.Errorf("factor: %w", err)
		}
	}
	return nil
}

func finite(s []float64) error {
	for i, v := range s {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("number %d is %v", i, v)
		}
	}
	return nil
}
