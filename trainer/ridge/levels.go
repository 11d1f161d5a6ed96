package ridge

import (
	"slices"

	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/trainer/leastsquares"
)

// gatherAll returns gatherers of the levels at one of the times ahead, with the products of all parts. Levels differ little:
// the one with the most columns reads the windows, and a level with some of its columns takes their products, and reads only
// windows that were left out, for example because the other's history is longer.
func gatherAll(m *direct.Model, levels []direct.Level, cfg Config, at int, parts []part) []*gatherer {
	out := make([]*gatherer, len(levels))
	order := make([]*gatherer, len(levels))
	for i, l := range levels {
		out[i] = newGatherer(m, l, cfg, at)
		order[i] = out[i]
	}
	slices.SortStableFunc(order, func(a, b *gatherer) int { return b.columns - a.columns })
	for len(order) > 0 {
		widest := *order[0]
		shares := func(g *gatherer) bool { return g.columnsIn(&widest) != nil }
		for _, g := range order {
			if shares(g) && !slices.Contains(widest.bases, g.readout()) {
				widest.bases = append(slices.Clip(widest.bases), g.bases...)
			}
		}
		widest.gather(parts, nil)
		for _, g := range order {
			if shares(g) {
				g.gather(parts, &widest)
			}
		}
		order = slices.DeleteFunc(order, shares)
	}
	return out
}

// gather sums the products of each part: those of another gatherer (nil = none) with all columns of g, and of the windows that it left out.
func (g *gatherer) gather(parts []part, other *gatherer) {
	var columns []int
	if other != nil {
		columns = slices.Concat(g.columnsIn(other), g.targetsIn(other))
		if other.centre != nil {
			for _, c := range columns {
				g.centre = append(g.centre, other.centre[c])
			}
		}
	}
	for n, p := range parts {
		used := make([]bool, len(p.windows))
		if other != nil {
			copy(used, other.used[n])
		}
		sum := g.gram(p, used)
		if other != nil && other.sums[n].N() > 0 {
			sum.Merge(other.sums[n].Part(columns, g.columns))
		}
		g.sums, g.used = append(g.sums, sum), append(g.used, used)
	}
}

// whole returns the products of all windows: the last part, or where it has none, as of whole flights, the sum of the others.
func (g *gatherer) whole() *leastsquares.Gram {
	last := len(g.sums) - 1
	if len(g.used[last]) > 0 {
		return g.sums[last]
	}
	return g.merged(-1)
}

// merged returns the sum of the parts that are held out, but for one (−1 = of all).
func (g *gatherer) merged(without int) *leastsquares.Gram {
	out := leastsquares.New(g.columns, g.targets(), g.centre)
	for i, p := range g.sums[:len(g.sums)-1] {
		if i != without {
			out.Merge(p)
		}
	}
	return out
}

// columnsIn returns where the columns of g are among those of a gatherer of the same time; nil unless it has all of them.
func (g *gatherer) columnsIn(o *gatherer) (at []int) {
	start := g.m.Lift.Dim() + g.P // columns of state and input at the start
	same := g.m.Linear(&g.level) - g.level.Rows*(g.K+g.P)
	theirs := o.m.Linear(&o.level) - o.level.Rows*(o.K+o.P)
	if g.level.Rows > o.level.Rows || same > theirs || same < theirs && same > start || g.level.Degree > o.level.Degree {
		return nil
	}
	for i := range g.linear {
		if i >= same { // history
			i += theirs - same
		}
		at = append(at, i)
	}
	if g.level.Degree > 1 {
		first := o.linear // of the products with column i
		for i := range same {
			for j := range same - i {
				at = append(at, first+j)
			}
			first += theirs - i
		}
	}
	return at
}

// targetsIn returns where the targets of g are among the columns and targets of another gatherer, which has them all.
func (g *gatherer) targetsIn(o *gatherer) (at []int) {
	add := func(first int) {
		for k := range g.K {
			at = append(at, o.columns+first+k)
		}
	}
	add(0)
	for _, r := range g.bases {
		add(g.K * (1 + slices.Index(o.bases, r)))
	}
	return at
}
