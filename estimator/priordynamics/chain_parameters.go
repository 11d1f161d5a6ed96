package priordynamics

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/motion"
)

// ChainKind is what the equation of motion of a chain is called.
const ChainKind = "planar chain of links"

// Parameters returns those of the chain under so named inputs (P), as lists of the chain in their order. They have no intervals: low and
// high are the value.
func (c *Chain) Parameters(inputs []string) (out []motion.Parameter) {
	add := func(v float64, unit, name string, args ...any) {
		out = append(out, motion.Parameter{Name: fmt.Sprintf(name, args...), Unit: unit, Value: v, Low: v, High: v})
	}
	n, at := len(c.Angles), 0
	for i := range n {
		for j := i; j < n; j++ {
			switch {
			case j == 0: // 1
				continue
			case i == j:
				add(c.Mass[at], "", "inertia of link %d over that of link 1", i+1)
			default:
				add(c.Mass[at], "", "coupling of links %d and %d over the inertia of link 1", i+1, j+1)
			}
			at++
		}
	}
	for i, v := range c.Rotor {
		add(v, "", "inertia of the rotor of joint %d over that of link 1", i+2)
	}
	for _, list := range []struct {
		values     []float64
		unit, name string
	}{
		{c.Sine, "rad/s²", "sine of the direction of link %d"}, {c.Cosine, "rad/s²", "cosine of the direction of link %d"},
		{c.Viscous, "1/s", "damping of joint %d"}, {c.Dry, "rad/s²", "dry friction of joint %d"},
	} {
		for i, v := range list.values {
			add(v, list.unit, list.name, i+1)
		}
	}
	for i := range n {
		for p, input := range inputs {
			add(c.Gain[i*len(inputs)+p], "rad/s²", "acceleration of joint %d of %s", i+1, input)
		}
	}
	return out
}
