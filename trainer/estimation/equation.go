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

// regress fits an equation to the states of each part; nil where one is not determined, as too little moves.
func regress(states [][]window.Flight, task window.Task, shape priordynamics.Shape) (out []*fitted.Model) {
	for i := range states {
		e, err := priordynamics.Regress(states[i], task, shape)
		if err != nil || e.Check(len(task.States), task.Inputs) != nil {
			return nil
		}
		out = append(out, e)
	}
	return out
}

// equationOf returns a filter with the equation of its shape that states determine, or its own.
func equationOf(spec *model.Filter, states []window.Flight, task window.Task) *model.Filter {
	out := *spec
	if spec.Equation.Degree > 0 {
		if equations := regress([][]window.Flight{states}, task, shapeOf(&spec.Equation)); equations != nil {
			out.Equation = *equations[0]
		}
	}
	return &out
}

// ridge of the regressions, relative to the number of rows.
const ridge = 1e-7
