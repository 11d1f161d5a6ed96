package estimator

import "github.com/dgm-robotics/dgm/estimator/numeric/simd"

// jacobianRows holds the matrices (K×K) whose sum, each times a function of time, is the
// Jacobian of a component's state by the start state: panels of the derivatives of each
// state by all states, a column for each matrix.
type jacobianRows struct {
	columns int
	panels  []float32 // [state k][panel of states c][column][Rows]
}

func newJacobianRows(K, columns int) jacobianRows {
	return jacobianRows{columns, make([]float32, K*simd.Padded(K)*columns)}
}

// part returns the sum of n matrices from column first on, times factors [matrix][Width].
func (j *jacobianRows) part(first, n int, factors []float32) simd.Part {
	return simd.Part{L: j.panels[first*simd.Rows:], X: factors, K: n, Skip: (j.columns - n) * simd.Rows}
}

// constants are the matrices that every component without a difference equation has: one, and
// times t the places of the derivatives.
type constants struct {
	matrices jacobianRows
	factors  []float32 // by block [2][Width]: 1, t
}

const constantMatrices = 2

// newConstants returns the constant matrices, with room for others. of are the places of the
// derivatives' channels, or −1.
func newConstants(of []int, g *grid, others int) constants {
	K, columns := len(of), constantMatrices+others
	c := constants{matrices: newJacobianRows(K, columns)}
	set := func(column, k, by int) {
		c.matrices.panels[((k*simd.Panels(K)+by/simd.Rows)*columns+column)*simd.Rows+by%simd.Rows] = 1
	}
	for k, derivative := range of {
		set(0, k, k)
		if derivative >= 0 {
			set(1, k, derivative)
		}
	}
	for at := 0; at < len(g.times); at += simd.Width {
		for range simd.Width {
			c.factors = append(c.factors, 1)
		}
		for _, t := range g.times[at : at+simd.Width] {
			c.factors = append(c.factors, simd.Single(t))
		}
	}
	return c
}

func (c *constants) parts(parts []simd.Part, block int) []simd.Part {
	return append(parts, c.matrices.part(0, constantMatrices, c.factors[block*constantMatrices*simd.Width:]))
}
