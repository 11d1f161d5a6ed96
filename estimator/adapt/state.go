package adapt

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// State is the learned state, a plain value. A series is a channel in a bucket under a readout: the input over the horizon is known, or (for models
// with inputs) it is held. R is how many readouts there are.
type State struct {
	Kind            string    // what the numbers mean: channels, inputs and parameters, see Filter.Kind
	Rate            []float64 // K, unit of the biases and dampings, state units per second
	Theta           []float64 // q: biases (K), gains of the inputs (P), dampings
	Covariance      []float64 // q×q, symmetric
	Weights         []float64 // R×B×K×experts
	Errors          []float64 // R×B×K×F, the errors without adaptation, by the coordinates of a start, state units
	Rests           []float64 // R×B×K×F, what θ leaves of them, the same
	RestCovariances []float64 // R×B×F×F, symmetric: of these coefficients, over the variance of a measurement
	Acting          []float64 // R, by how much better the inputs that act predict, in log scores; at most surest, at least −surest
	Variances       []float64 // R×B×K, of what θ adds to the mean, state units squared, at the last windows
	Ledger          []float64 // R×B×K×4: sums of late, see ledgerEntries
}

// Numbers appends all numbers of a state, in an order that depends only on the lengths.
func (s *State) Numbers(dst []float64) []float64 {
	for _, v := range s.parts() {
		dst = append(dst, *v...)
	}
	return dst
}

// robot returns how many of the first numbers are of the robot: the others are of the errors of
// the model.
func (s *State) robot() int { return len(s.Rate) + len(s.Theta) + len(s.Covariance) }

// readouts returns R.
func (s *State) readouts() int { return len(s.Acting) }

// SetNumbers is the reverse of Numbers, into a state of the right lengths.
func (s *State) SetNumbers(v []float64) error {
	n := 0
	for _, part := range s.parts() {
		n += len(*part)
	}
	if len(v) != n {
		return fmt.Errorf("adaptation: %d numbers, expected %d", len(v), n)
	}
	for _, part := range s.parts() {
		v = v[copy(*part, v):]
	}
	return nil
}

func (s *State) parts() []*[]float64 {
	return []*[]float64{&s.Rate, &s.Theta, &s.Covariance, &s.Weights, &s.Errors, &s.Rests, &s.RestCovariances, &s.Acting, &s.Variances, &s.Ledger}
}

// CopyFrom copies a state of the same lengths.
func (s *State) CopyFrom(o *State) {
	s.Kind = o.Kind
	from := o.parts()
	for i, part := range s.parts() {
		*part = append((*part)[:0], *from[i]...)
	}
}

// Clone returns a copy that shares no memory.
func (s *State) Clone() *State {
	out := new(State)
	out.CopyFrom(s)
	return out
}

// check returns what is wrong with a state of the same lengths as want.
func (s *State) check(want *State) error {
	if s.Kind != want.Kind {
		return fmt.Errorf("adaptation: the saved state has %s, the model has %s", s.Kind, want.Kind)
	}
	theirs := want.parts()
	for i, part := range s.parts() {
		if len(*part) != len(*theirs[i]) {
			return fmt.Errorf("adaptation: part %d of the state has %d numbers, expected %d", i, len(*part), len(*theirs[i]))
		}
		for _, v := range *part {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("adaptation: a number of the state is %v", v)
			}
		}
	}
	if slices.ContainsFunc(s.Rate, func(v float64) bool { return v < 0 }) {
		return errors.New("adaptation: a rate of the state is negative")
	}
	err := errors.Join(s.checkWeights(), checkPositive(s.Covariance, len(s.Theta)))
	n := len(s.RestCovariances) / (Buckets * s.readouts())
	for P := range slices.Chunk(s.RestCovariances, n) {
		err = errors.Join(err, checkPositive(P, int(math.Sqrt(float64(n)))))
	}
	return err
}

func (s *State) checkWeights() error {
	for i := 0; i < len(s.Weights); i += experts {
		sum := 0.0
		for _, w := range s.Weights[i : i+experts] {
			if w < 0 {
				return fmt.Errorf("adaptation: weight %v of the state is negative", w)
			}
			sum += w
		}
		if math.Abs(sum-1) > 1e-6 {
			return fmt.Errorf("adaptation: weights of the state add up to %v", sum)
		}
	}
	for i, v := range s.Ledger {
		if v < 0 && i%ledgerSums != ledgerProducts {
			return fmt.Errorf("adaptation: sum %v of the ledger of the state is negative", v)
		}
	}
	for _, v := range s.Variances {
		if v < 0 {
			return fmt.Errorf("adaptation: variance %v of the state is negative", v)
		}
	}
	return nil
}

// checkPositive returns an error unless a matrix (q×q) is symmetric and positive: by its
// Cholesky factor.
func checkPositive(p []float64, q int) error {
	l := make([]float64, q*q)
	for i := range q {
		for j := range i + 1 {
			if math.Abs(p[i*q+j]-p[j*q+i]) > 1e-12 {
				return errors.New("adaptation: the covariance is not symmetric")
			}
			s := p[i*q+j]
			for k := range j {
				s -= l[i*q+k] * l[j*q+k]
			}
			if i != j {
				l[i*q+j] = s / l[j*q+j]
				continue
			}
			if !(s > 0) {
				return errors.New("adaptation: the covariance is not positive")
			}
			l[i*q+i] = math.Sqrt(s)
		}
	}
	return nil
}
