package dynamics

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// fade is what the factors f of the components depend on, from 1 at a component's Near to 0 at its Far: the logarithm of
// the start's leverage where the stack has a direct map, else the distance of the state from the training states.
// Components that fade also count by the map's range factor, at every time.
type fade struct {
	c      *compiler
	value  program.Reg // 1×1; None: none fades
	log    bool
	ranges program.Reg // 1×T; None: 1
}

// leastLeverage is below every Near.
const leastLeverage = 1e-30

func (c *compiler) newFade(d *directMap) fade {
	f := fade{c: c, value: program.None, ranges: program.None}
	fades := false
	for i := range c.m.Stack {
		fades = fades || c.m.Stack[i].Far > 0
	}
	switch {
	case !fades:
	case d != nil:
		f.ranges = d.rangeFactors()
		if leverage := d.atStart(); leverage != program.None {
			f.value, f.log = c.Function(program.Log, c.atLeast(leverage, leastLeverage)), true
		}
	case len(c.m.OOD.Points) > 0:
		f.value = c.distance()
	}
	return f
}

// factor appends the factor of a component, 1×1 or 1×T; None: 1.
func (f *fade) factor(of *model.Component) program.Reg {
	if of.Far <= 0 {
		return program.None
	}
	factor := program.None
	if f.value != program.None {
		near, far := of.Near, of.Far
		if f.log {
			near, far = math.Log(max(near, leastLeverage)), math.Log(far)
		}
		width := max(far-near, 1e-12)
		factor = f.c.Clamp(f.c.Affine(1, []float64{far / width}, program.Part{X: f.value, M: []float64{-1 / width}}), []float64{0}, []float64{1})
	}
	switch {
	case f.ranges == program.None:
		return factor
	case factor == program.None:
		return f.ranges
	}
	return f.c.Times(factor, f.ranges)
}

// distance appends the distance of the start from the training states: of its whitened coordinates from the nearest
// reference point.
func (c *compiler) distance() program.Reg {
	r := &c.m.OOD
	L := r.Dim()
	white, constant, at := make([]float64, L*L), make([]float64, L), 0
	for i := range L {
		for j := range i + 1 {
			white[i*L+j] = r.Inverse[at]
			constant[i] -= r.Inverse[at] * r.Mean[j]
			at++
		}
	}
	var points []float64
	for _, p := range r.Points {
		points = append(points, p...)
	}
	squares := c.Distances(c.Affine(L, constant, program.Part{X: lift(c.Program, &c.m.Inputs.Lift, c.x), M: white}), points)
	n := len(r.Points)
	nearest := c.Largest(1, c.Weigh(squares, 1, same(n, -1), nil))
	return c.Function(program.Sqrt, c.Weigh(nearest, 1, []float64{-1}, nil))
}
