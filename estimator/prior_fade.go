package estimator

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// fade holds the factors f of the components of a stack at one start, from 1 at a
// component's Near to 0 at its Far: linear in the logarithm of the start's leverage where the
// stack has a direct map, else linear in the distance of the state from the training states. Components
// that fade also count by the direct.RangeFactor of the map, at every time.
type fade struct {
	spec          *PriorDynamicsSpec
	direct        *direct.Map // the first of the stack; nil = none
	fades         bool        // whether any component does
	leverage      float64     // with the input over the horizon
	factor        []float64   // of each component
	gradient      [][]float64 // of each component: K, ∂f/∂x0
	byInput       [][]float64 // of each component: P, ∂f/∂(input at the start)
	lifted, slope []float64   // L
	white         []float64   // L
	byStart       []float64   // K, derivative of leverage or distance by x0
	byFirst       []float64   // P, by the input at the start
}

func newFade(spec *PriorDynamicsSpec, components []component, K, P int) fade {
	f := fade{spec: spec, byStart: make([]float64, K), byFirst: make([]float64, P)}
	for i, c := range components {
		f.fades = f.fades || fades(&spec.Stack[i])
		f.factor, f.gradient = append(f.factor, 1), append(f.gradient, make([]float64, K))
		f.byInput = append(f.byInput, make([]float64, P))
		if d, ok := c.(directMap); ok && f.direct == nil {
			f.direct = d.Map
		}
	}
	if f.direct != nil {
		return f
	}
	f.fades = f.fades && spec.OOD != nil && len(spec.OOD.Points) > 0
	if f.fades {
		L := spec.Lift.Dim()
		f.lifted, f.slope, f.white = make([]float64, L), make([]float64, L), make([]float64, L)
	}
	return f
}

func fades(c *model.Component) bool { return c.Far > 0 }

// whole returns the leverage with the input over the horizon, after the components' start; 0
// without a direct map.
func (f *fade) whole() float64 {
	if f.direct == nil {
		return 0
	}
	return f.direct.Leverage()
}

// start sets factors and gradients at x0 (K), after the components' start. They depend on no
// input after it.
func (f *fade) start(x0 []float64) {
	switch {
	case f.direct != nil && f.fades:
		leverage := f.direct.StartLeverage()
		if slices.ContainsFunc(f.spec.Stack, func(c model.Component) bool { return leverage > c.Near && leverage < c.Far }) {
			f.direct.StartLeverageGradient(f.byStart, f.byFirst)
		}
		f.at(leverage)
	case f.fades:
		distance := f.distance(x0)
		for i := range f.factor {
			f.set(i, distance, f.spec.Stack[i].Near, f.spec.Stack[i].Far, 1)
		}
	}
}

// ranged reports whether the components that fade do so where the input leaves its range, too.
func (f *fade) ranged() bool {
	return f.direct != nil && f.fades && len(f.direct.Model().Range) > 0
}

// at sets factors and gradients at a leverage of the start.
func (f *fade) at(leverage float64) {
	for i := range f.factor {
		c := &f.spec.Stack[i]
		f.set(i, math.Log(leverage), math.Log(c.Near), math.Log(c.Far), 1/leverage)
	}
}

// set sets factor and gradient of component i, linear between near and far at a value
// whose derivative by leverage or distance is slope.
func (f *fade) set(i int, value, near, far, slope float64) {
	clear(f.gradient[i])
	clear(f.byInput[i])
	switch {
	case !fades(&f.spec.Stack[i]) || value <= near:
		f.factor[i] = 1
	case value >= far:
		f.factor[i] = 0
	default:
		f.factor[i] = (far - value) / (far - near)
		for k, d := range f.byStart {
			f.gradient[i][k] = -d * slope / (far - near)
		}
		for p, d := range f.byFirst {
			f.byInput[i][p] = -d * slope / (far - near)
		}
	}
}

// distance returns that of x0 from the training states, and sets byStart.
func (f *fade) distance(x0 []float64) float64 {
	f.spec.Lift.Apply(f.lifted, x0)
	f.spec.OOD.Whiten(f.white, f.lifted)
	distance := f.spec.OOD.NearestGradient(f.lifted, f.white)
	f.spec.Lift.Derivative(f.slope, x0)
	clear(f.byStart)
	for l, of := range f.spec.Lift.Of {
		f.byStart[of] += f.lifted[l] * f.slope[l]
	}
	return distance
}
