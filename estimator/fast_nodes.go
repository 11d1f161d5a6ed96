package estimator

import (
	"sort"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// The variances of the posterior, and the derivatives of its mean by the start state, are
// smooth in time but where a block of the input's knots begins. So at many points they are
// evaluated at few nodes and interpolated: between two such times by the cubic through the
// four equidistant nodes around a point. Where the input changes within a block, their
// derivatives jump, and the interpolation is less accurate there. The means are evaluated at
// all points.
const (
	mostNodes      = 2 * simd.Width
	leastIntervals = 3 // of nodes between two such times: those of a cubic
)

// interpolate sets nodes, between and weights, where fewer nodes than points suffice.
func (g *grid) interpolate(m *model.Model, c *compiled) {
	end := g.times[len(g.times)-1]
	if len(g.points) <= mostNodes+simd.Width || g.times[g.last] != end || g.times[0] == end {
		return
	}
	ends := []float64{g.times[0]}
	if m.P > 0 && m.Inputs.Causal {
		for j := range m.Inputs.Knots {
			if t := float64(j) * m.Horizon / float64(m.Inputs.Knots); t > ends[len(ends)-1] && t < end {
				ends = append(ends, t)
			}
		}
	}
	ends = append(ends, end)
	pieces := len(ends) - 1
	intervals := (mostNodes - 1) / pieces
	if intervals < leastIntervals {
		return
	}
	nodes := &places{}
	for i, from := range ends[:pieces] {
		for j := range intervals {
			nodes.times = append(nodes.times, from+(ends[i+1]-from)*float64(j)/float64(intervals))
		}
	}
	nodes.last = len(nodes.times)
	for len(nodes.times) < mostNodes {
		nodes.times = append(nodes.times, end)
	}
	nodes.fill(m, c)
	g.nodes = nodes
	piece := func(t float64) int { return min(sort.SearchFloat64s(ends[1:], t), pieces-1) }
	for at := 0; at < len(g.times); at += simd.Width {
		times := g.times[at : at+simd.Width]
		b := nodeBlock{from: piece(times[0]) * intervals, to: (piece(times[len(times)-1])+1)*intervals + 1, at: len(g.weights)}
		g.weights = append(g.weights, make([]float32, (b.to-b.from)*simd.Width)...)
		for lane, t := range times {
			first := piece(t) * intervals
			x := (t - nodes.times[first]) / (nodes.times[first+1] - nodes.times[first])
			least := max(0, min(int(x)-1, intervals-leastIntervals))
			for i, w := range cubic(x - float64(least)) {
				g.weights[b.at+(first-b.from+least+i)*simd.Width+lane] = simd.Single(w)
			}
		}
		g.between = append(g.between, b)
	}
}

// cubic returns the weights at x of the values at 0, 1, 2 and 3 (Lagrange).
func cubic(x float64) [leastIntervals + 1]float64 {
	a, b, c, d := x, x-1, x-2, x-3
	return [...]float64{-b * c * d / 6, a * c * d / 2, -a * b * d / 2, a * b * c / 6}
}

// widthTolerance is how far standard deviations may be off, relatively, by interpolation.
const widthTolerance = 0.02

// interpolated reports whether there are fewer nodes than points.
func (g *grid) interpolated() bool { return len(g.between) > 0 }

// part returns the interpolation of rows of panels, a column for each node, at a block of
// points.
func (g *grid) atPoints(panels []float32, block int) simd.Part {
	b := &g.between[block]
	return simd.Part{L: panels[b.from*simd.Rows:], X: g.weights[b.at:], K: b.to - b.from, Skip: (len(g.nodes.times) - b.to + b.from) * simd.Rows}
}

// variances sets v from nodeV.
func (f *Fast) variances() {
	w, g, K := &f.w, f.g, f.plain.m.K
	if !g.interpolated() {
		return
	}
	n, nodes := len(g.times), len(g.nodes.times)
	simd.Pack(w.nodePanels, K, nodes, func(k, node int) float64 { return w.nodeV[k*nodes+node] })
	for block := range g.blocks {
		f.c.unit.Product(w.mu, simd.Panels(K), append(w.parts[:0], g.atPoints(w.nodePanels, block)))
		for k := range K {
			for lane, v := range w.mu[k*simd.Width : (k+1)*simd.Width] {
				w.v[k*n+block*simd.Width+lane] = float64(max(v, 0))
			}
		}
	}
}
