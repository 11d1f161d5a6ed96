package priordynamics

import (
	"math"
	"slices"
	"testing"
)

// Energy is kept without friction and inputs, links at rest where they hang stay there, and
// relative angles are those of the same motion.
func TestChain(t *testing.T) {
	c := chained(2, false, 0).Chain
	c.Unit, c.Cosine, c.Viscous, c.Dry, c.Gain, c.Rotor = []float64{1, 1}, []float64{0, 0}, []float64{0, 0}, []float64{0, 0}, nil, []float64{0}
	c.Sine = []float64{9, 4}
	relative := c
	relative.Relative = true
	energy := func(x []float64) float64 {
		kinetic := 0.5*x[1]*x[1] + 0.5*c.Mass[1]*x[3]*x[3] + c.Mass[0]*math.Cos(x[0]-x[2])*x[1]*x[3]
		return kinetic - c.Sine[0]*math.Cos(x[0]) - c.Sine[1]*math.Cos(x[2])
	}
	x := []float64{2, 1, -0.5, -3}
	joints := []float64{2, 1, -2.5, -4}
	before := energy(x)
	for range 500 {
		c.Add(x, slices.Clone(x), nil, 0.01)
		relative.Add(joints, slices.Clone(joints), nil, 0.01)
	}
	if got := energy(x); math.Abs(got-before) > 1e-4 {
		t.Errorf("energy %v after 5 s, %v before", got, before)
	}
	for i, want := range []float64{x[0], x[1], x[2] - x[0], x[3] - x[1]} {
		if math.Abs(joints[i]-want) > 1e-9 {
			t.Errorf("state %d: %v of the joints, %v of the links", i, joints[i], want)
		}
	}
	hanging := []float64{0, 0, 0, 0}
	c.Add(hanging, []float64{0, 0, 2 * math.Pi, 0}, nil, 0.1)
	for i, d := range hanging {
		if math.Abs(d) > 1e-12 {
			t.Errorf("state %d of hanging links moves by %v", i, d)
		}
	}
}

func TestChainThatContradictsItself(t *testing.T) {
	for name, change := range map[string]func(c *Chain){
		"a joint too many":      func(c *Chain) { c.Angles, c.Rates = []int{0, 1, 2, 3}, []int{4, 5, 6, 7} },
		"a state twice":         func(c *Chain) { c.Rates[1] = c.Angles[0] },
		"a state out of range":  func(c *Chain) { c.Rates[1] = 4 },
		"a rate too few":        func(c *Chain) { c.Rates = c.Rates[:1] },
		"a mass too few":        func(c *Chain) { c.Mass = c.Mass[:1] },
		"a gain too many":       func(c *Chain) { c.Gain = append(c.Gain, 1) },
		"a unit of zero":        func(c *Chain) { c.Unit[0] = 0 },
		"gravity without bound": func(c *Chain) { c.Sine[1] = math.Inf(1) },
	} {
		m := chained(2, true, 0.1)
		if err := m.Check(4, 2); err != nil {
			t.Fatal(err)
		}
		if change(&m.Chain); m.Check(4, 2) == nil {
			t.Errorf("%s passes", name)
		}
	}
}
