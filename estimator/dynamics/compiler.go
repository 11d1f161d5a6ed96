package dynamics

import (
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// compiler builds one program.
type compiler struct {
	*program.Program
	m     *model.Model
	s     Spec
	times []float64 // Spec.Times, then those of the knots that a running RMS displacement needs
	x     program.Reg
	past  program.Reg // None without history
	input signal
	nodes *Nodes // nil = variances are evaluated at all times
}

// usesRMS reports whether a model measures the running RMS displacement.
func usesRMS(m *model.Model) bool {
	return len(m.RMSDisplacement.Typical) > 0 && len(m.RMSDisplacement.Exponent) > 0
}

// at returns a compiler of the same program at other times.
func (c *compiler) at(times []float64) *compiler {
	out := *c
	out.times, out.nodes = times, nil
	return &out
}

// T returns the number of times.
func (c *compiler) T() int { return len(c.times) }

// table returns K×Q numbers at the noise knots, at times: K×T, row-major.
func (c *compiler) table(at []float64, times []float64) []float64 {
	return c.tableOf(c.m.NoiseKnots, at, times)
}

// tableOf is table for other knots.
func (c *compiler) tableOf(knots, at, times []float64) []float64 {
	m, Q, T := c.m, len(knots), len(times)
	K := len(at) / Q
	out, w := make([]float64, K*T), make([]float64, Q)
	for i, t := range times {
		model.KnotWeights(w, knots, t/m.Horizon)
		for k := range K {
			for q, v := range w {
				out[k*T+i] += v * at[k*Q+q]
			}
		}
	}
	return out
}

// same returns n numbers v.
func same(n int, v float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// diagonal returns the matrix with v on its diagonal.
func diagonal(v []float64) []float64 {
	n := len(v)
	out := make([]float64, n*n)
	for i, x := range v {
		out[i*n+i] = x
	}
	return out
}

func identity(n int) []float64 { return diagonal(same(n, 1)) }

// sum appends the weighted sum of registers of so many rows, and a constant.
func (c *compiler) sum(rows int, constant []float64, terms ...weighted) program.Reg {
	parts := make([]program.Part, len(terms))
	for i, t := range terms {
		parts[i] = program.Part{X: t.x, M: diagonal(same(rows, t.w))}
	}
	return c.Affine(rows, constant, parts...)
}

// weighted is a summand of a sum.
type weighted struct {
	x program.Reg
	w float64
}

// pick appends rows of a register at places, times factors: rows of the result without one are 0.
func (c *compiler) pick(x program.Reg, places []int, factors []float64) program.Reg {
	n := c.Rows(x)
	m := make([]float64, len(places)*n)
	for r, at := range places {
		if at >= 0 {
			m[r*n+at] = factors[r]
		}
	}
	return c.Affine(len(places), nil, program.Part{X: x, M: m})
}

// total appends the sum of all rows of a register.
func (c *compiler) total(x program.Reg) program.Reg {
	return c.Affine(1, nil, program.Part{X: x, M: same(c.Rows(x), 1)})
}

// rowsOf appends n copies of a register of one row.
func (c *compiler) rowsOf(x program.Reg, n int) program.Reg {
	rows := make([]program.Row, n)
	for i := range rows {
		rows[i] = program.Row{Reg: x}
	}
	return c.Gather(rows...)
}

// least appends the smaller of two registers, row by row.
func (c *compiler) least(a, b program.Reg) program.Reg {
	n := c.Rows(a)
	negative := func(x program.Reg) program.Reg { return c.Weigh(x, c.Shape(x).Cols, same(n, -1), nil) }
	return negative(c.Largest(n, c.Stack(negative(a), negative(b))))
}

// most appends the larger of two registers, row by row.
func (c *compiler) most(a, b program.Reg) program.Reg { return c.Largest(c.Rows(a), c.Stack(a, b)) }

// positive appends max(x, low).
func (c *compiler) atLeast(x program.Reg, low float64) program.Reg {
	n := c.Rows(x)
	return c.Clamp(x, same(n, low), same(n, inf))
}

// gated appends all rows of a register times factors of the times.
func (c *compiler) gated(x program.Reg, gate []float64) program.Reg {
	var w []float64
	for range c.Rows(x) {
		w = append(w, gate...)
	}
	return c.Weigh(x, c.T(), w, nil)
}

// one appends the product of one row with a register.
func (c *compiler) one(x program.Reg, row []float64) program.Reg {
	return c.Affine(1, nil, program.Part{X: x, M: row})
}

// unit returns the unit vector k of n.
func unit(n, k int) []float64 {
	out := make([]float64, n)
	out[k] = 1
	return out
}

// lastColumn appends the last column of a register.
func (c *compiler) lastColumn(x program.Reg) program.Reg {
	n := c.Shape(x).Cols
	if n == 1 {
		return x
	}
	return c.Columns(x, 1, []program.Entry{{From: n - 1, W: 1}})
}

// ratioAt appends a variance at the last time over that of the prior.
func (c *compiler) ratioAt(v, prior program.Reg) program.Reg {
	return c.Times(c.lastColumn(v), c.Function(program.Reciprocal, prior))
}

// pairsOf appends the products of every two of the first n rows, x_i x_j with j ≥ i.
func pairsOf(p *program.Program, x program.Reg, n int) program.Reg {
	var terms []program.Term
	for i := range n {
		for j := i; j < n; j++ {
			terms = append(terms, program.Term{Row: len(terms), A: i, B: j, S: 1})
		}
	}
	return p.Products(len(terms), x, x, terms)
}
