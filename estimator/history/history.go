// Package history resamples what precedes the start of a prediction: the states and inputs
// of a stream, irregular in time, become the few rows that a model reads. The estimator on
// board, the trainer and the evaluation make them by this one code.
package history

import (
	"fmt"
	"math"
)

// Spec is the history that a model reads: n rows, newest first, of K states and P inputs.
// Row j = 1 … n holds the mean state and the mean input over [t0 − e_j, t0 − e_{j−1}], with
// e_0 = 0. States are interpolated linearly between samples, periodic channels continuous
// with x0; an input is held from its sample to the next one.
type Spec struct {
	Edges []float64 // n, e_1 … e_n, s, ascending, > 0; none = no history is read
}

// Limits of a Spec.
const (
	MaxRows  = 64
	MaxReach = 60   // s, of the last edge
	maxRatio = 4096 // of the last edge over the narrowest row
	minWidth = 1e-6 // s, of a row
)

// Rows returns n.
func (s Spec) Rows() int { return len(s.Edges) }

// Reach returns e_n, how long before the start the history begins, s; 0 without rows.
func (s Spec) Reach() float64 {
	if len(s.Edges) == 0 {
		return 0
	}
	return s.Edges[len(s.Edges)-1]
}

// narrowest returns the width of the narrowest row, s; 0 without rows.
func (s Spec) narrowest() float64 {
	least, last := s.Reach(), 0.0
	for _, e := range s.Edges {
		least, last = math.Min(least, e-last), e
	}
	return least
}

// Check returns what contradicts itself, or nil.
func (s Spec) Check() error {
	if len(s.Edges) > MaxRows {
		return fmt.Errorf("%d rows, at most %d", len(s.Edges), MaxRows)
	}
	last := 0.0
	for j, e := range s.Edges {
		if !(e > last && e <= MaxReach) {
			return fmt.Errorf("edge %d is %g s after %g s; edges must ascend within (0, %d] s", j, e, last, MaxReach)
		}
		last = e
	}
	if least := s.narrowest(); len(s.Edges) > 0 && !(least >= max(minWidth, last/maxRatio)) {
		return fmt.Errorf("a row of %g s is too narrow for rows that reach back %g s: at least a %dth, and %g s", least, last, maxRatio, minWidth)
	}
	return nil
}
