package feature

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
