package dynamics

import (
	"github.com/dgm-robotics/dgm/estimator/program"
)

// leverage appends that of start, history and input, with the standardised columns of a plan (plan×1; None without):
//
//	(‖c'‖² − ‖G c'‖²)/(s C')      c' = (c − mean)/std
//
// of all columns c but the constant. None where the level has no factor.
func (d *directMap) leverage(plan program.Reg) program.Reg {
	c, l := d.c, d.level
	n := len(l.Mean)
	if n == 0 {
		return program.None
	}
	linear := d.start
	if d.plan > 0 {
		linear = c.Stack(d.start, plan)
	}
	columns := []program.Reg{linear}
	if d.history != program.None {
		columns = append(columns, d.history)
	}
	if l.Degree == 2 {
		columns = append(columns, pairsOf(c.Program, linear, d.linear()))
	}
	w, constant := make([]float64, n), make([]float64, n)
	for i, std := range l.Std {
		w[i], constant[i] = 1/std, -l.Mean[i]/std
	}
	white := c.Weigh(c.Stack(columns...), 1, w, constant)
	scale := 1 / (l.Rest * float64(n))
	parts := []program.Part{{X: c.Function(program.Square, white), M: same(n, scale)}}
	if r := len(l.Factor) / n; r > 0 {
		along := c.Affine(r, nil, program.Part{X: white, M: l.Factor})
		parts = append(parts, program.Part{X: c.Function(program.Square, along), M: same(r, -scale)})
	}
	return c.atLeast(c.Affine(1, nil, parts...), 0)
}

// whole appends the leverage with the input up to the end of the horizon.
func (d *directMap) whole() program.Reg {
	plan := program.None
	if d.plan > 0 {
		plan = d.planColumns([]float64{d.c.m.Horizon})
	}
	return d.leverage(plan)
}

// atStart appends the leverage as if the input at the start were held.
func (d *directMap) atStart() program.Reg {
	plan := program.None
	if P := d.c.m.P; d.plan > 0 {
		var rows []program.Row
		for i := range d.plan {
			rows = append(rows, program.Row{Reg: d.start, Row: d.m.Lift.Dim() + i%P})
		}
		plan = d.c.Gather(rows...)
	}
	return d.leverage(plan)
}

// Multiples of the largest input, or change of an input, of the training data up to which a map counts whole, and from which on
// it does not.
const (
	inside  = 2.0
	outside = 4.0
)

// rangeFactors appends the factor by which what the map adds counts where the input leaves what the training data have,
// 1×T, see direct.RangeFactor. None without ranges.
func (d *directMap) rangeFactors() program.Reg {
	c, P := d.c, len(d.m.Range)
	first := inputs{d.start, d.m.Lift.Dim()}
	all := d.ratios(nil, d.m.Range, first, inputs{program.None, 0})
	if d.plan > 0 {
		plan, before := d.planColumns(c.times), first
		for b := range d.m.Blocks {
			part := inputs{plan, b * P}
			all = d.ratios(all, d.m.Range, part, inputs{program.None, 0})
			if len(d.m.Change) > 0 {
				all = d.ratios(all, d.m.Change[:P], part, before)
			}
			before = part
		}
	}
	for r := 1; r <= d.level.Rows && (r+1)*P <= len(d.m.Change); r++ {
		row := inputs{d.history, (r-1)*(c.m.K+P) + c.m.K}
		all = d.ratios(all, d.m.Change[r*P:(r+1)*P], first, row)
		first = row
	}
	if len(all) == 0 {
		return program.None
	}
	slope := -1 / (outside - inside)
	return c.Clamp(c.Affine(1, []float64{outside / (outside - inside)}, program.Part{X: c.Largest(1, c.Stack(all...)), M: []float64{slope}}), []float64{0}, []float64{1})
}

// inputs are P rows of a register, from one on: standardised inputs at the start, or their means over a part.
type inputs struct {
	reg program.Reg
	row int
}

// ratios appends |x − before| over the limits that are not 0 to a list; without a register before, |x|.
func (d *directMap) ratios(to []program.Reg, limits []float64, x, before inputs) []program.Reg {
	c := d.c
	var places []int
	var inverse []float64
	for p, limit := range limits {
		if limit > 0 {
			places, inverse = append(places, p), append(inverse, 1/limit)
		}
	}
	n := len(places)
	if n == 0 {
		return to
	}
	part := func(of inputs, sign float64) program.Part {
		at, m := make([]int, n), make([]float64, n*n)
		for i, p := range places {
			at[i], m[i*n+i] = of.row+p, sign*inverse[i]
		}
		return program.Part{X: c.Some(of.reg, at...), M: m}
	}
	parts := []program.Part{part(x, 1)}
	if before.reg != program.None {
		parts = append(parts, part(before, -1))
	}
	return append(to, c.Function(program.Abs, c.Affine(n, nil, parts...)))
}
