package prediction

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/ood"
)

// pendulum is a model of two states and one input over one second.
func pendulum() *model.Model {
	return artificial.New(artificial.Size{K: 2, P: 1, Features: 20, Basis: 1, Points: 10, Horizon: 1}, 1)
}

// swinging is a model whose intervals grow with the predicted motion and with the
// distance to the training data, as those of trained models do.
func swinging() *model.Model {
	m := pendulum()
	knots := m.K * len(m.NoiseKnots)
	m.ScaleFactor, m.OODExponent = [][]float64{slices.Repeat([]float64{1}, knots)}, []float64{0.3}
	m.OOD.Near, m.OOD.Far = 0.5, 4
	m.RMSDisplacement = ood.RMSDisplacement{Typical: slices.Repeat([]float64{0.5}, knots), Min: 0.3, Max: 3, Exponent: []float64{0.7}}
	return m
}

func near(a, b []float64, tolerance float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= tolerance*(1+math.Abs(y)) })
}
