package latency

import "math"

// pair is the dead time and the lag of a group of inputs, s.
type pair [2]float64

// residuals returns what the regression leaves, nothing where it has no solution.
func (p *problem) residuals(at []pair) matrix {
	all := newProjector(p.columns(at))
	if !all.ok {
		return matrix{}
	}
	return all.rest(p.Y)
}

func (p *problem) columns(at []pair) matrix {
	parts := []matrix{p.A}
	for g, q := range at {
		parts = append(parts, p.acts(g, q))
	}
	return beside(parts...)
}

// slopeOf returns the derivative of the columns of group j by its dead time (0) or lag (1).
func (p *problem) slopeOf(j int, q pair, i int) matrix {
	h := math.Max(1e-3, 0.05*q[i])
	low, high := q, q
	high[i] += h
	low[i] = math.Max(0, low[i]-h)
	B, less := p.acts(j, high), p.acts(j, low)
	for n := range B.Data {
		B.Data[n] = (B.Data[n] - less.Data[n]) / (high[i] - low[i])
	}
	return B
}

// cost is half the negative logarithm of the likelihood without constants, of residuals with a variance for each column.
func cost(residuals matrix) float64 {
	sum := 0.0
	for _, v := range variances(residuals) {
		sum += math.Log(v)
	}
	return sum * float64(residuals.Rows) / 2
}

func variances(residuals matrix) []float64 {
	out := make([]float64, residuals.Cols)
	for i := range residuals.Rows {
		for c, r := range residuals.row(i) {
			out[c] += r * r
		}
	}
	for c := range out {
		out[c] = math.Max(out[c]/float64(residuals.Rows), math.SmallestNonzeroFloat64)
	}
	return out
}
