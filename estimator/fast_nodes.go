package estimator

import (
	"github.com/dgm-robotics/dgm/estimator/dynamics"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// mostNodes is at how many nodes the variances of the posterior, and the derivatives of its mean by the start state, are
// evaluated at most, see dynamics.Nodes. The means are evaluated at all points.
const mostNodes = 2 * simd.Width

// interpolate sets nodes, between and weights, where fewer nodes than points suffice.
func (g *grid) interpolate(m *model.Model, c *compiled) {
	if g.times[g.last] != g.times[len(g.times)-1] {
		return
	}
	of := dynamics.NodesOf(m, g.times[:len(g.points)], mostNodes)
	if of == nil {
		return
	}
	nodes := &places{times: of.Times, last: len(of.Times) - 1}
	for len(nodes.times) < mostNodes {
		nodes.times = append(nodes.times, nodes.times[nodes.last])
	}
	nodes.fill(m, c)
	g.nodes = nodes
	for at, entries := 0, of.Between; at < len(g.times); at += simd.Width {
		n := 0
		for n < len(entries) && entries[n].To < at+simd.Width {
			n++
		}
		block := entries[:n]
		if len(g.points) <= at+simd.Width { // the last point fills up
			last := len(g.points) - 1
			var of []program.Entry
			for _, e := range block {
				if e.To == last {
					of = append(of, e)
				}
			}
			for to := last + 1; to < at+simd.Width; to++ {
				for _, e := range of {
					block = append(block[:len(block):len(block)], program.Entry{To: to, From: e.From, W: e.W})
				}
			}
		}
		g.addBetween(block, at)
		entries = entries[n:]
	}
}

// addBetween adds a block of points, the first of which is at: what it reads of the nodes.
func (g *grid) addBetween(entries []program.Entry, at int) {
	b := nodeBlock{from: entries[0].From, at: len(g.weights)}
	for _, e := range entries {
		b.from, b.to = min(b.from, e.From), max(b.to, e.From+1)
	}
	g.weights = append(g.weights, make([]float32, (b.to-b.from)*simd.Width)...)
	for _, e := range entries {
		g.weights[b.at+(e.From-b.from)*simd.Width+e.To-at] = simd.Single(e.W)
	}
	g.between = append(g.between, b)
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
