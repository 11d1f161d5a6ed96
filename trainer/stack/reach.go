package stack

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/dgm-robotics/dgm/estimator/direct"
)

// reach returns the multiple of the largest changes of an input in the training data that count as such: the root of the first component's
// error on the folds over that of the stack, at least 1. A map errs by more and more where an input changes faster than in training, about as the square;
// up to the reach it errs less than the component that would take its place.
func reach(first, whole float64) float64 {
	if r := math.Sqrt(first / whole); r > 1 { // false where an error is not known
		return r
	}
	return 1
}

// together returns the error of the weighted candidates in the first condition, as alone does of each.
func (p *predictions) together(weights [][][]float64, knots []float64) float64 {
	return math.Exp(stat.Mean(p.combined(weights, Hats(knots, p.taus), 0).logErrors(0)[0], nil))
}

// extend sets the reach of the components.
func (s *Stack) extend(by float64) {
	s.Reach = by
	for _, of := range append(s.Folds[:len(s.Folds):len(s.Folds)], s.Components) {
		for i := range of {
			reachFarther(&of[i].Direct, by)
		}
	}
}

// reachFarther multiplies the largest changes of a map, whose slice others may have.
func reachFarther(m *direct.Model, by float64) {
	m.Change = slices.Clone(m.Change)
	floats.Scale(by, m.Change)
}
