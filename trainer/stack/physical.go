package stack

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// weights returns those of all candidates but the first, and what a physical one brings.
func (p *predictions) weights(candidates []Candidate, knots []float64) ([][][]float64, *Physical) {
	if n := len(candidates); n > 1 && candidates[n-1].Physical {
		return p.weighPhysical(knots, slices.IndexFunc(candidates, func(c Candidate) bool { return c.Residuals == candidates[n-1].Name }))
	}
	return p.weigh(knots), nil
}

// weighPhysical returns the weights of all additions, of which the last is of the physical candidate: it is added to what the
// weights of the others make of them, for channels of which that lowers the error, and with it once more the map of its residuals (−1 = none), which has a weight among the others, too.
func (p *predictions) weighPhysical(knots []float64, residuals int) ([][][]float64, *Physical) {
	Q, at := len(knots), Hats(knots, p.taus)
	added := []int{p.J - 1}
	if residuals >= 0 {
		added = append(added, residuals)
	}
	others := *p
	others.J--
	weights := others.weigh(knots)
	cells := func(c int) [][]float64 {
		out, all := others.combined(weights, at, c).cells(0)[:1], p.cells(c)
		for _, j := range added {
			out = append(out, all[j])
		}
		return out
	}
	first, drawn := p.pooled(cells(0)), p.targets(at, physicalSharpness, cells)
	last := p.byCondition(len(added), Q, func(c, k int) []float64 {
		all := others.outcomes(c, k)
		physical := p.outcomes(c, k)
		for i := range all {
			o := &all[i]
			rest := 0.0
			for j, a := range o.additions {
				rest += floats.Dot(weights[j][p.conditions[c]][k*Q:(k+1)*Q], at[o.at]) * a
			}
			o.residual -= rest
			o.additions = nil
			for _, j := range added {
				o.additions = append(o.additions, physical[i].additions[j-1]-rest)
			}
		}
		w := weigh(all, len(added), at, drawn[c][k], physicalPull)
		if !lowers(all, w, at) {
			clear(w)
		}
		return w
	})
	for j := range weights {
		for c := range weights[j] {
			scaled := slices.Clone(weights[j][c]) // conditions may share theirs
			for i := range scaled {
				rest := 1.0
				for _, w := range last {
					rest -= w[c][i]
				}
				scaled[i] *= math.Max(rest, 0) // of rounding
			}
			weights[j][c] = scaled
		}
	}
	if residuals >= 0 {
		weights[residuals-1] = sum(weights[residuals-1], last[1])
	}
	weights = append(weights, last[0])
	of := func(logs []float64) float64 { return math.Exp(stat.Mean(logs, nil)) }
	return weights, &Physical{Alone: of(first[1]), Without: of(first[0]), With: of(p.combined(weights, at, 0).logErrors(0)[0])}
}

// lowers reports whether additions with weights (J×Q) lower the error, as the geometric mean over folds and horizons.
func lowers(outcomes []outcome, weights []float64, hats [][]float64) bool {
	type squares struct{ without, with float64 }
	cells := map[[2]int]*squares{}
	for _, o := range outcomes {
		at := [2]int{o.fold, o.at}
		if cells[at] == nil {
			cells[at] = &squares{without: math.SmallestNonzeroFloat32, with: math.SmallestNonzeroFloat32}
		}
		left, Q := o.residual, len(hats[o.at])
		for j, a := range o.additions {
			left -= floats.Dot(weights[j*Q:(j+1)*Q], hats[o.at]) * a
		}
		cells[at].without += o.residual * o.residual
		cells[at].with += left * left
	}
	gain := 0.0
	for _, c := range cells {
		gain += math.Log(c.without / c.with)
	}
	return gain > 0
}

// rebase returns the weights of the same sum about its last addition, to which the others then fade: in the place of the last is the
// weight of what was first.
func rebase(weights [][][]float64) [][][]float64 {
	last := len(weights) - 1
	out := slices.Clone(weights)
	out[last] = make([][]float64, len(weights[last]))
	for c := range out[last] {
		rest := make([]float64, len(weights[last][c]))
		for i := range rest {
			rest[i] = 1
			for _, w := range weights {
				rest[i] -= w[c][i]
			}
			rest[i] = math.Max(rest[i], 0) // of rounding
		}
		out[last][c] = rest
	}
	return out
}

// sum returns the sums of two components' weights.
func sum(a, b [][]float64) [][]float64 {
	out := make([][]float64, len(a))
	for c := range a {
		out[c] = slices.Clone(a[c])
		for i, w := range b[c] {
			out[c][i] = math.Min(out[c][i]+w, 1) // of rounding
		}
	}
	return out
}

// combined returns the predictions of the weighted candidates in a condition, as those of one.
func (p *predictions) combined(weights [][][]float64, hats [][]float64, condition int) *predictions {
	one := *p
	one.J, one.windows = 1, nil
	for of := range p.in(condition) {
		w, sum := *of, make([]float64, p.T*p.K)
		for at := range sum {
			sum[at] = p.weighted(of, weights, hats, condition, at)
		}
		w.by = [][][]float64{{sum}}
		one.windows = append(one.windows, w)
	}
	return &one
}
