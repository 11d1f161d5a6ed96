package stack

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// weights returns those of all candidates but the first, and what physical ones bring.
func (p *predictions) weights(candidates []Candidate, knots []float64) ([][][]float64, *Physical) {
	if at := physical(candidates); at > 0 && at < len(candidates) {
		return p.weighPhysical(at, knots)
	}
	return p.weigh(knots), nil
}

// weighPhysical returns the weights of all additions, of which those from candidate at on are physical: they are added to what the
// weights of the others make of them.
func (p *predictions) weighPhysical(at int, knots []float64) ([][][]float64, *Physical) {
	Q, hats, J := len(knots), Hats(knots, taus), p.J-at
	others := *p
	others.J = at
	weights := others.weigh(knots)
	cells := func(c int) [][]float64 {
		return append(others.combined(weights, hats, c).cells(0)[:1], p.cells(c)[at:]...)
	}
	first, drawn := p.pooled(cells(0)), p.targets(hats, physicalSharpness, cells)
	added := p.byCondition(J, Q, func(c, k int) []float64 {
		all := others.outcomes(c, k)
		own := p.outcomes(c, k)
		for i := range all {
			o := &all[i]
			rest := 0.0
			for j, a := range o.additions {
				rest += floats.Dot(weights[j][p.conditions[c]][k*Q:(k+1)*Q], hats[o.at]) * a
			}
			o.residual -= rest
			o.additions = nil
			for _, a := range own[i].additions[at-1:] {
				o.additions = append(o.additions, a-rest)
			}
		}
		return weigh(all, J, hats, drawn[c][k], physicalPull)
	})
	for j := range weights {
		for c := range weights[j] {
			scaled := slices.Clone(weights[j][c]) // conditions may share theirs
			for i := range scaled {
				rest := 1.0
				for _, w := range added {
					rest -= w[c][i]
				}
				scaled[i] *= math.Max(rest, 0) // of rounding
			}
			weights[j][c] = scaled
		}
	}
	weights = append(weights, added...)
	of := func(logs []float64) float64 { return math.Exp(stat.Mean(logs, nil)) }
	return weights, &Physical{Alone: of(first[1]), Without: of(first[0]), With: of(p.combined(weights, hats, 0).logErrors(0)[0])}
}

// rebase returns the weights of the same sum about a candidate, to which the others then fade: in its place is the weight of what was
// first. weights are those of all candidates but the first.
func rebase(weights [][][]float64, candidate int) [][][]float64 {
	out := slices.Clone(weights)
	out[candidate-1] = make([][]float64, len(weights[candidate-1]))
	for c := range out[candidate-1] {
		rest := make([]float64, len(weights[candidate-1][c]))
		for i := range rest {
			rest[i] = 1
			for _, w := range weights {
				rest[i] -= w[c][i]
			}
			rest[i] = math.Max(rest[i], 0) // of rounding
		}
		out[candidate-1][c] = rest
	}
	return out
}

// combined returns the predictions of the weighted candidates in a condition, as those of one.
func (p *predictions) combined(weights [][][]float64, hats [][]float64, condition int) *predictions {
	one := *p
	one.J, one.windows = 1, slices.Clone(p.windows)
	c := p.conditions[condition]
	for i := range one.windows {
		w := &one.windows[i]
		by := w.by[condition]
		sum := slices.Clone(by[0])
		for j := range weights {
			for at, d := range by[1+j] {
				t, k := at/p.K, at%p.K
				Q := len(hats[t])
				addition := d - by[0][at]
				if p.fades[1+j] {
					addition *= faded(w.leverage) * w.ranges[condition][t]
				}
				sum[at] += floats.Dot(weights[j][c][k*Q:(k+1)*Q], hats[t]) * addition
			}
		}
		w.by = [][][]float64{{sum}}
	}
	return &one
}
