package estimator

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// places are times in order, sixteen to a block, at which the ensemble is evaluated.
type places struct {
	times         []float64   // n, s
	last          int         // lane of the caller's last time
	blocks        []gridBlock // of Width places
	inputs, knots int         // columns of one knot, of all: P, J·P
	powers        []float32   // [block][power][Width] of τ'
	rows          int         // rows of varying knots, of all blocks
	varying       [][]float32 // of a query, by power: [row][Width], τ'ᵖ·knots
}

// gridBlock is the range of knots that vary within a block: those before are over for
// all of its points, those behind have not begun.
type gridBlock struct {
	from, to int // knots
	row      int // the first of its rows of varying knots
}

// fill adds all blocks.
func (p *places) fill(m *model.Model, c *compiled) {
	p.inputs, p.knots = m.P, c.knots
	for i := 0; i < len(p.times); i += simd.Width {
		p.block(m, c, p.times[i:i+simd.Width])
	}
	for range c.powers {
		p.varying = append(p.varying, make([]float32, p.rows*simd.Width))
	}
}

// part adds to parts the columns of a panel matrix, Out × knots, that vary within a block,
// from panel first on.
func (p *places) part(parts []simd.Part, l []float32, b *gridBlock, power, first int) []simd.Part {
	n := (b.to - b.from) * p.inputs
	if n == 0 {
		return parts
	}
	return append(parts, simd.Part{
		L: l[(first*p.knots+b.from*p.inputs)*simd.Rows:], X: p.varying[power][b.row*simd.Width:],
		K: n, Skip: (p.knots - n) * simd.Rows,
	})
}

// block adds a block of places at the given times.
func (p *places) block(m *model.Model, c *compiled, times []float64) {
	for q := range c.powers {
		for _, t := range times {
			p.powers = append(p.powers, simd.Single(math.Pow(m.Inputs.Standard(t), float64(q))))
		}
	}
	b := gridBlock{row: p.rows}
	if !m.Inputs.Causal {
		b.from, b.to = m.Inputs.Knots, m.Inputs.Knots
	} else {
		length := m.Horizon / float64(m.Inputs.Knots)
		for b.from < m.Inputs.Knots && float64(b.from+1)*length <= times[0] {
			b.from++
		}
		for b.to = b.from; b.to < m.Inputs.Knots && float64(b.to)*length < times[len(times)-1]; {
			b.to++
		}
	}
	p.rows += (b.to - b.from) * m.P
	p.blocks = append(p.blocks, b)
}
