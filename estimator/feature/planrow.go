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
	from, to := max(a, float64(d.Row)*d.Plan.Step), b
	if d.Row < len(d.Plan.Values)/d.Plan.P-1 {
		to = min(b, float64(d.Row+1)*d.Plan.Step)
	}
	if to > from {
		dst[d.Input] = (to - from) / (b - a)
	}
}
