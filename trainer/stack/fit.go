package stack

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/actuator"
	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Task is what the stack predicts.
type Task struct {
	window.Task
	History   history.Spec
	Actuators []actuator.Response // (optional) how the inputs of equations follow their commands
	Knots     []float64           // Q, τ of the knots of the weights
	Readouts  int
}

// Stack is the chosen components with their weights.
type Stack struct {
	Names      []string
	Components []model.Component   // fitted to all flights
	Folds      [][]model.Component // fitted without what each fold holds out, with the same weights
	History    history.Spec
	Actuators  []actuator.Response
	Physical   *Physical // nil without a physical candidate
	Diverged   bool      // the physical candidate was left out, see Task.stable
	Errors     []float64 // of each component alone, on what the folds hold out: RMSE over that of hold, geometric mean over channels and horizons
	Reach      float64   // multiple of the largest changes of an input in the training data up to which components count, see reach
}

// Physical is what a physical candidate brings on what the folds hold out: RMSE over that of hold, geometric mean over channels
// and horizons.
type Physical struct {
	Alone         float64 // of the candidate
	Without, With float64 // of the stack of all others, and with it
}

// Spec returns the prior dynamics of the components.
func (s *Stack) Spec(of []model.Component) estimator.PriorDynamicsSpec {
	return estimator.PriorDynamicsSpec{Stack: of, History: s.History, Actuators: s.Actuators}
}

// mostWindows of a fold on which candidates are compared.
const mostWindows = 1000

// least is the mean weight below which a component is left out, in all conditions.
const least = 0.03

// Fit weighs the candidates by what the folds hold out and returns the stack of those that
// count. Without folds it is the first candidate alone. It is an error if a candidate has not
// one component for each fold.
func Fit(folds []window.Fold, task Task, candidates []Candidate) (*Stack, error) {
	if len(folds) == 0 {
		return task.stack(candidates[:1], nil, []float64{math.NaN()}), nil
	}
	for _, c := range candidates {
		if len(c.Folds) != len(folds) {
			return nil, fmt.Errorf("stack: %d folds of %q, expected %d", len(c.Folds), c.Name, len(folds))
		}
	}
	candidates, diverged := task.stable(slices.Concat(folds[0].Train, folds[0].Held), candidates)
	for j := range candidates {
		candidates[j].fade(near)
	}
	held := task.predict(folds, candidates)
	first := held.steadiest(candidates)
	candidates[0], candidates[first] = candidates[first], candidates[0]
	held.swap(first)
	alone := held.alone()
	weights, gain := held.weights(candidates, task.Knots)
	whole := held.together(weights, task.Knots)
	last := len(candidates) - 1
	rebased := gain != nil && held.worst(last) < held.worst(0)
	if first = 0; rebased {
		first = last
	}
	if from := held.fadesFrom(first, weights, task.Knots); from > near {
		for j := range candidates {
			if !candidates[j].residuals() { // whose own fade is in its predictions
				candidates[j].fade(from)
			}
		}
	}
	if rebased {
		weights = rebase(weights)
		candidates[0], candidates[last] = candidates[last], candidates[0]
		alone[0], alone[last] = alone[last], alone[0]
	}
	for j := range candidates[1:] {
		if of := named(candidates, candidates[1+j].Residuals); of > 0 {
			weights[of-1] = sum(weights[of-1], weights[j]) // residuals are added to it
		}
	}
	keep, kept, errors := candidates[:1:1], [][][]float64{nil}, alone[:1:1]
	for j, c := range candidates[1:] {
		if most(weights[j]) >= least {
			keep, kept, errors = append(keep, c), append(kept, weights[j]), append(errors, alone[j+1])
		}
	}
	out := task.stack(keep, kept, errors)
	out.Physical, out.Diverged = gain, diverged
	out.extend(reach(alone[0], whole))
	return out, nil
}

// stack returns the stack of candidates with weights (per condition K×Q) of each.
func (t *Task) stack(candidates []Candidate, weights [][][]float64, errors []float64) *Stack {
	s := &Stack{Errors: errors, Reach: 1}
	read := 0
	for range candidates[0].Folds {
		s.Folds = append(s.Folds, nil)
	}
	for j, c := range candidates {
		s.Names = append(s.Names, c.Name)
		add := func(to *[]model.Component, c model.Component) {
			if j > 0 {
				c.Weights = weights[j]
			}
			*to = append(*to, c)
		}
		add(&s.Components, c.Whole)
		for f := range c.Folds {
			add(&s.Folds[f], c.Folds[f])
		}
		if c.Whole.Kind == model.Direct {
			read = rows(&c.Whole.Direct)
		}
		if c.Whole.Kind == model.Equation {
			s.Actuators = t.Actuators
		}
	}
	if len(s.Actuators) > 0 {
		read = max(read, Rows(t.History, actuator.Reach(s.Actuators)))
	}
	if read > 0 {
		s.History = history.Spec{Edges: t.History.Edges[:read]}
	}
	return s
}

// Rows returns how many rows of a history reach back so far, s, or as far as they go.
func Rows(spec history.Spec, reach float64) int {
	for i, e := range spec.Edges {
		if e >= reach {
			return i + 1
		}
	}
	return len(spec.Edges)
}

// rows returns the most rows of history that a level reads.
func rows(m *direct.Model) int {
	n := 0
	for i := range m.Levels {
		n = max(n, m.Levels[i].Rows)
	}
	return n
}

// most returns the largest mean weight of a component in any condition.
func most(weights [][]float64) float64 {
	out := 0.0
	for _, w := range weights {
		out = math.Max(out, stat.Mean(w, nil))
	}
	return out
}

// With returns the components of the stack with what candidates of the same names were
// fitted to.
func (s *Stack) With(candidates []Candidate) []model.Component {
	var out []model.Component
	for j, name := range s.Names {
		c := s.Components[j]
		for _, other := range candidates {
			if other.Name == name {
				other.Whole.Weights, other.Whole.Near, other.Whole.Far = c.Weights, c.Near, c.Far
				c = other.Whole
				reachFarther(&c.Direct, s.Reach)
			}
		}
		out = append(out, c)
	}
	return out
}
