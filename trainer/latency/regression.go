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
	return beside(p.without(-1, at)...)
}

// without returns the columns of all but the inputs of group g; −1 = of all.
func (p *problem) without(g int, at []pair) []matrix {
	parts := []matrix{p.A}
	for i, q := range at {
		if i != g {
			parts = append(parts, p.acts(i, q))
		}
	}
	return parts
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

// cost is half the negative logarithm of the likelihood without constants, of the residuals of the responses that count, each
// with a variance of its own; nil = all count.
func cost(residuals matrix, counts []bool) float64 {
	sum := 0.0
	for c, v := range variances(residuals) {
		if counts == nil || counts[c] {
			sum += math.Log(v)
		}
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

// share of the largest gain that a response must have to be driven by a group itself.
const share = 0.6

// drive sets which responses each group drives: those that its columns explain best. The derivative of a position does not depend
// on an input, but on a rate, of which a delayed input may say more than its noisy measurement does.
func (p *problem) drive(at []pair) {
	with := variances(p.residuals(at))
	if len(with) == 0 {
		return
	}
	p.driven = make([][]bool, len(p.groups))
	for g := range p.groups {
		all := newProjector(beside(p.without(g, at)...))
		if !all.ok {
			continue
		}
		gain, most := variances(all.rest(p.Y)), 0.0
		for c := range gain {
			gain[c] = math.Log(gain[c] / with[c])
			most = math.Max(most, gain[c])
		}
		p.driven[g] = make([]bool, len(gain))
		for c, v := range gain {
			p.driven[g][c] = v >= share*most
		}
	}
}

// counts returns the responses that a group drives, nil = all.
func (p *problem) counts(g int) []bool {
	if p.driven == nil {
		return nil
	}
	return p.driven[g]
}

// anyDriven returns the responses that some group drives, nil = all.
func (p *problem) anyDriven() []bool {
	if p.driven == nil {
		return nil
	}
	out := make([]bool, len(p.responses))
	for _, d := range p.driven {
		if d == nil {
			return nil
		}
		for c, v := range d {
			out[c] = out[c] || v
		}
	}
	return out
}
