// Package optimise holds the optimiser of the training and its schedules.
package optimise

import "math"

// Adam is the optimiser of Kingma & Ba (2015), with bias correction.
type Adam struct {
	Beta1, Beta2, Epsilon float64

	m, v []float64
	t    int
}

// NewAdam returns an optimiser for n parameters: β1 0.9, β2 0.99, ε 1e-8.
func NewAdam(n int) *Adam {
	return &Adam{Beta1: 0.9, Beta2: 0.99, Epsilon: 1e-8, m: make([]float64, n), v: make([]float64, n)}
}

// Step moves the parameters against the gradient at learning rate rate.
func (a *Adam) Step(params, grad []float64, rate float64) {
	a.t++
	c1 := 1 - math.Pow(a.Beta1, float64(a.t))
	c2 := 1 - math.Pow(a.Beta2, float64(a.t))
	for i, g := range grad {
		a.m[i] = a.Beta1*a.m[i] + (1-a.Beta1)*g
		a.v[i] = a.Beta2*a.v[i] + (1-a.Beta2)*g*g
		params[i] -= rate * (a.m[i] / c1) / (math.Sqrt(a.v[i]/c2) + a.Epsilon)
	}
}

// Clip scales a gradient down to norm most if it is longer, and returns the norm
// it had.
func Clip(grad []float64, most float64) float64 {
	s := 0.0
	for _, g := range grad {
		s += g * g
	}
	norm := math.Sqrt(s)
	if norm > most {
		for i := range grad {
			grad[i] *= most / norm
		}
	}
	return norm
}
