package estimator

import "github.com/dgm-robotics/dgm/estimator/model"

// fade holds the factors f of the components of a stack at one start state: linear in its
// distance from the training states, from 1 at a component's Near to 0 at its Far.
type fade struct {
	spec          *PriorDynamicsSpec
	fades         bool        // whether any component does
	factor        []float64   // of each component
	gradient      [][]float64 // of each component: K, ∂f/∂x0
	lifted, slope []float64   // L
	white         []float64   // L
	distance      []float64   // K, ∂distance/∂x0
}

func newFade(spec *PriorDynamicsSpec, K int) fade {
	f := fade{spec: spec, distance: make([]float64, K)}
	for i := range spec.Stack {
		f.fades = f.fades || fades(&spec.Stack[i])
		f.factor, f.gradient = append(f.factor, 1), append(f.gradient, make([]float64, K))
	}
	f.fades = f.fades && spec.OOD != nil && len(spec.OOD.Points) > 0
	if f.fades {
		L := spec.Lift.Dim()
		f.lifted, f.slope, f.white = make([]float64, L), make([]float64, L), make([]float64, L)
	}
	return f
}

func fades(c *model.Component) bool { return c.Far > 0 }

// start sets factors and gradients at x0 (K).
func (f *fade) start(x0 []float64) {
	if !f.fades {
		return
	}
	f.spec.Lift.Apply(f.lifted, x0)
	f.spec.OOD.Whiten(f.white, f.lifted)
	distance := f.spec.OOD.NearestGradient(f.lifted, f.white)
	f.spec.Lift.Derivative(f.slope, x0)
	clear(f.distance)
	for l, of := range f.spec.Lift.Of {
		f.distance[of] += f.lifted[l] * f.slope[l]
	}
	for i := range f.factor {
		c := &f.spec.Stack[i]
		clear(f.gradient[i])
		switch {
		case !fades(c) || distance <= c.Near:
			f.factor[i] = 1
		case distance >= c.Far:
			f.factor[i] = 0
		default:
			f.factor[i] = (c.Far - distance) / (c.Far - c.Near)
			for k, d := range f.distance {
				f.gradient[i][k] = -d / (c.Far - c.Near)
			}
		}
	}
}
