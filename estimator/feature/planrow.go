package feature

import "math"

// PlanRow is the derivative of a Plan by one of its numbers, as a Signal: 1 where that is
// held, of its input, and 0 elsewhere.
type PlanRow struct {
	Plan       *Plan
	Row, Input int
}

// At implements Signal.
func (d *PlanRow) At(dst []float64, t float64) {
	clear(dst)
	if d.Plan.row(t/d.Plan.Step+1e-9, len(d.Plan.Values)/d.Plan.P) == d.Row {
		dst[d.Input] = 1
	}
}

// Mean implements Signal.
func (d *PlanRow) Mean(dst []float64, a, b float64) {
	clear(dst)
	dst[d.Input] = d.Plan.Share(d.Row, a, b)
}

// Next implements channel.Command.
func (d *PlanRow) Next(t float64) float64 { return d.Plan.Next(t) }

// Held returns from when to when a row is held, s; the last one for ever.
func (p *Plan) Held(row int) (from, to float64) {
	if row < len(p.Values)/p.P-1 {
		return float64(row) * p.Step, float64(row+1) * p.Step
	}
	return float64(row) * p.Step, math.Inf(1)
}

// Share returns how much of the time from a to b a row is held.
func (p *Plan) Share(row int, a, b float64) float64 {
	from, to := p.Held(row)
	from, to = max(a, from), min(b, to)
	if to <= from {
		return 0
	}
	return (to - from) / (b - a)
}

// PlanGradient gathers the gradient of a number by a Plan from those by its means and values:
// the adjoint of a Signal.
type PlanGradient struct {
	Plan *Plan
	Bar  []float64 // rows×P
}

// Add adds what a gradient by the mean input from one time to another contributes, or by the
// input at that time where both are the same: bar (P).
func (g *PlanGradient) Add(bar []float64, from, to float64) {
	p, rows := g.Plan, len(g.Bar)/g.Plan.P
	if to <= from {
		r := p.row(from/p.Step+1e-9, rows)
		g.add(bar, r, 1)
		return
	}
	for r := p.row(from/p.Step, rows); r < rows; r++ {
		if share := p.Share(r, from, to); share > 0 {
			g.add(bar, r, share)
		}
		if float64(r+1)*p.Step >= to {
			return
		}
	}
}

func (g *PlanGradient) add(bar []float64, row int, share float64) {
	to := g.Bar[row*g.Plan.P:]
	for c, b := range bar {
		to[c] += share * b
	}
}
