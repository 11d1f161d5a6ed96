package estimation

import (
	"math"
	"slices"

	fitted "github.com/dgm-robotics/dgm/estimator/priordynamics"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// mostTerms bounds the monomials of an equation, which is evaluated at every sample on board.
const mostTerms = 200

// shapes of equations that are tried: steps, s, and degrees.
var (
	trialSteps   = []float64{0, 0.01, 0.03} // a sample at least
	trialDegrees = []int{1, 2, 3}
)

// shapes returns the equations to try on flights.
func shapes(flights []window.Flight, task window.Task) (out []priordynamics.Shape) {
	dt, lift := window.Interval(flights), channel.NewLift(task.States)
	if lift.Dim()+task.Inputs == 0 {
		return nil // nothing to read: all states are invariant
	}
	for _, degree := range trialDegrees {
		var taken []float64
		for _, step := range trialSteps {
			n := math.Max(1, math.Round(step/dt))
			trial := fitted.Model{Degree: degree, Lift: lift, UMean: make([]float64, task.Inputs)}
			if slices.Contains(taken, n) || trial.Terms() > mostTerms {
				continue
			}
			taken = append(taken, n)
			out = append(out, priordynamics.Shape{Step: n * dt, Degree: degree, Ridge: ridge})
		}
	}
	return out
}

// shapeOf returns the shape of the equation of a filter.
func shapeOf(e *fitted.Model) priordynamics.Shape {
	return priordynamics.Shape{Step: e.Step, Degree: e.Degree, Ridge: ridge}
}

// regress fits an equation, in which rates move the positions of chains, to the states of each part; nil where one is not determined, as too little moves.
func regress(states [][]window.Flight, task window.Task, shape priordynamics.Shape, chains []model.FilterChain) (out []*fitted.Model) {
	for i := range states {
		e, err := priordynamics.Regress(states[i], task, shape)
		if err != nil || e.Check(len(task.States), task.Inputs) != nil {
			return nil
		}
		for _, c := range chains {
			for j, w := range integral(e, c) {
				e.Weights[j*len(task.States)+c.Position] = w
			}
		}
		out = append(out, e)
	}
	return out
}

// integral returns the weights by which the position of a chain moves in a step by the mean of its rate before and after it, less its offset; the
// slope of the parabola in between is the rate then. A position that is regressed by itself has errors of its own, which add up while nothing
// measures it.
func integral(e *fitted.Model, c model.FilterChain) (weights []float64) {
	K := len(e.Weights) / e.Terms()
	for j := c.Rate; j < len(e.Weights); j += K {
		weights = append(weights, e.Step/2*e.Weights[j])
	}
	for l, k := range e.Lift.Of {
		if k == c.Rate {
			weights[0] += e.Step * e.Lift.Mean[l]
			weights[1+l] += e.Step * e.Lift.Std[l]
		}
	}
	weights[0] -= e.Step * c.Offset
	return weights
}

// integrated returns those of chains that an equation moves by the integral.
func integrated(e *fitted.Model, chains []model.FilterChain) []model.FilterChain {
	K := len(e.Weights) / e.Terms()
	return slices.DeleteFunc(slices.Clone(chains), func(c model.FilterChain) bool {
		for j, w := range integral(e, c) {
			if e.Weights[j*K+c.Position] != w {
				return true
			}
		}
		return false
	})
}

// equationOf returns a filter with the equation of its shape that states determine, or its own.
func equationOf(spec *model.Filter, states []window.Flight, task window.Task) *model.Filter {
	out := *spec
	if spec.Equation.Degree > 0 {
		if equations := regress([][]window.Flight{states}, task, shapeOf(&spec.Equation), integrated(&spec.Equation, spec.Chains)); equations != nil {
			out.Equation = *equations[0]
		}
	}
	return &out
}

// ridge of the regressions, relative to the number of rows.
const ridge = 1e-7
