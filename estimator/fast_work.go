package estimator

import (
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// fastWork is the memory of a Fast.
type fastWork struct {
	fixed  []float64 // 1+L: one, x0 lifted
	knots  []float64 // J·P at the end of their blocks of time
	square float64   // ‖v‖² of the row at the last of the times
	prior  batchedPrior

	firstPanels []float32   // panels, first and the column of τ'
	first       []float64   // of the first layer: the sum of the columns that do not vary
	basis       []float64   // [term][K]: the same of the means
	factorBasis []float32   // panels × terms: the same of a factor
	single      []float32   // such a sum, rounded, as panels
	parts       []simd.Part // of a product, empty
	hidden      []float32   // [block][row of a hidden layer][Width]
	room        int         // of one block in it
	mu          []float32   // [K][Width], of one block
	z           []float32   // [block][K·D][Width]
	x           []float32   // [F, padded][Width], of one channel and block

	squares    [simd.Width]float32 // ‖L⁻¹φ‖², of one channel and block
	means      [][]float32         // by member and refit: K×n, without γ
	nodeV      []float64           // K × nodes, sum over members, without γ²
	v          []float64           // K×n, the same interpolated
	nodePanels []float32           // K × nodes, the same as panels
	unread     []float32           // K × nodes, means that are not needed
	factor     []float64           // n: factor of all intervals
	covariance covarianceWork
	interval   intervalWork
	input      inputWork
}

func newFastWork(c *compiled, g *grid, p *Predictor) fastWork {
	m, n := c.m, len(g.times)
	K := m.K
	w := fastWork{
		fixed: make([]float64, c.fixed), knots: make([]float64, c.knots), prior: newBatchedPrior(p.prior, g, c),
		mu: make([]float32, simd.Padded(K)*simd.Width), v: make([]float64, K*n),
		factor: make([]float64, n), interval: newIntervalWork(len(g.points)),
	}
	var first, terms, factor, single, hidden, parts, z, x int
	for _, e := range c.all() {
		m := &e.e.Map
		out := e.first.layer.Out
		rows := simd.Padded(out)
		for l := range e.hidden {
			rows += simd.Padded(e.hidden[l].Out)
		}
		hidden = max(hidden, rows)
		first, terms = max(first, out), max(terms, e.terms)
		single = max(single, max(e.terms, 1)*simd.Padded(K))
		factor = max(factor, e.terms*(simd.Padded(m.F)+simd.Padded(e.terms*(c.fixed+c.knots))))
		parts = max(parts, 3+e.terms)
		z, x = max(z, simd.Padded(K*m.D)), max(x, simd.Padded(m.F))
		w.means = append(w.means, make([]float32, K*n))
	}
	w.first, w.basis, w.factorBasis, w.single = make([]float64, simd.Padded(first)), make([]float64, terms*K), make([]float32, factor), make([]float32, single)
	w.firstPanels = make([]float32, 2*simd.Padded(first))
	w.parts = make([]simd.Part, 0, parts)
	w.hidden, w.room = make([]float32, hidden*max(n, len(g.nodes.times))), hidden*simd.Width
	w.z, w.x = make([]float32, z*max(n, len(g.nodes.times))), make([]float32, x*simd.Width)
	if w.nodeV = w.v; g.interpolated() {
		nodes := len(g.nodes.times)
		w.nodeV, w.nodePanels, w.unread = make([]float64, K*nodes), make([]float32, simd.Padded(K)*nodes), make([]float32, K*nodes)
	}
	if m.Displacement {
		w.covariance = newCovarianceWork(c, g)
		w.input = newInputWork(p, c, n)
	}
	return w
}
