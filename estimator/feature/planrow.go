package feature

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

// Share returns how much of the time from a to b a row is held.
func (p *Plan) Share(row int, a, b float64) float64 {
	from, to := max(a, float64(row)*p.Step), b
	if row < len(p.Values)/p.P-1 {
		to = min(b, float64(row+1)*p.Step)
	}
	if to <= from {
		return 0
	}
	return (to - from) / (b - a)
}
