package filter_test

import (
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/filter"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// A robot that differs from its equation by biases, dampings and gains moves as one whose equation has them.
func TestMovesAChangedRobot(t *testing.T) {
	e := *model.EquationOf(artificial.Adaptable(3, 0.01).Stack)
	e.Lift.Mean, e.UMean = []float64{0.2, -0.3}, []float64{0.4}
	a := priordynamics.Adaptation{Rate: []float64{2, 1}, Damped: []int{0, 1}}
	theta := []float64{0.3, -0.2, -0.15, -0.4, 0.25}
	same := e
	same.Weights = append([]float64(nil), e.Weights...)
	for k := range 2 { // weights of 1, both states, and the input
		same.Weights[k] += theta[k]*a.Rate[k]*e.Step + theta[2]*e.Weights[3*2+k]*e.UMean[0]/e.UStd[0]
		same.Weights[(1+k)*2+k] += theta[3+k] * a.Rate[k] * e.Step
		same.Weights[3*2+k] *= 1 + theta[2]
	}
	step := func(m *priordynamics.Model, by *priordynamics.Change) (all []float64) {
		l := filter.NewLearned(m, 2, 1)
		if by != nil {
			l.Changed(by)
		}
		next, f, q := make([]float64, 2), make([]float64, 4), make([]float64, 4)
		l.Step(next, f, q, []float64{0.5, -0.6}, []float64{0.7}, 0.027)
		return append(next, f...)
	}
	change := priordynamics.NewChange(2, 1)
	change.Set(&e, &a, theta, 1)
	want, got, plain := step(&same, nil), step(&e, change), step(&e, nil)
	for i, v := range want {
		if math.Abs(got[i]-v) > 1e-13 || math.Abs(plain[i]-v) < 1e-4 && i != 3 {
			t.Errorf("number %d is %v, %v of the equation with the change, %v without it", i, got[i], v, plain[i])
		}
	}
}
