package estimator

import (
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// batchedComponent is a component at all points, after its start.
type batchedComponent interface {
	// evaluate writes the displacements to dst (N×K).
	evaluate(dst []float64)
	// memberVariance returns the variance between members, or levels of a map (N×K, state units squared), at the
	// last evaluate; nil = 0.
	memberVariance() []float64
	// differentiate prepares parts, after evaluate.
	differentiate()
	// parts appends the parts of the product that is the Jacobian of the state by the start
	// at a block of points: see jacobianRows.
	parts(parts []simd.Part, block int) []simd.Part
	// linearise prepares inputRun, after evaluate.
	linearise()
	// inputRun takes the derivatives by Width numbers of the plan from first on.
	inputRun(w *inputWork, first, numbers int)
	// inputAt adds those at a point to dst ([K, padded][Width]).
	inputAt(dst []float32, lane int)
}

// batched returns a component at all points.
func batched(c component, K int, g *grid, of *compiled) batchedComponent {
	unit := of.unit
	switch c := c.(type) {
	case *equation:
		return newBatchedEquation(c, K, g, unit)
	case directMap:
		return newBatchedDirect(c.Map, K, g, of.sorted[c.Model()])
	default:
		v := c.(*velocity)
		return &batchedVelocity{v, g.points, newConstants(v.of, g, 0)}
	}
}

// batchedEquation is the mean of roll-outs.
type batchedEquation struct {
	members   []*priordynamics.BatchedRollout
	share     float64
	actuators *Actuators
	due       priordynamics.Share // to a row of the plan
	own       []float64           // of one member, N×K
	variance  []float64           // N×K; nil with one member
	matrices  jacobianRows        // a column for each node of each member
	parabolas [][]nodeBlock       // of each member: by block
	weights   [][]float32         // of each member: by block [node][Width]
}

// nodeBlock is the range of nodes that a block of points reads.
type nodeBlock struct{ from, to, at int } // at: of their weights

func newBatchedEquation(e *equation, K int, g *grid, unit simd.Unit) *batchedEquation {
	b := &batchedEquation{share: e.share, actuators: e.actuators}
	columns := 0
	for _, r := range e.members {
		f := priordynamics.NewBatchedRollout(r, g.points, unit)
		b.members = append(b.members, f)
		columns += f.Nodes()
		blocks, weights := parabolas(f, g)
		b.parabolas, b.weights = append(b.parabolas, blocks), append(b.weights, weights)
	}
	b.matrices = newJacobianRows(K, columns)
	if n := len(e.own) * len(g.points); len(b.members) > 1 {
		b.own, b.variance = make([]float64, n), make([]float64, n)
	}
	return b
}

// parabolas returns the nodes of a roll-out that each block of a grid reads, and their
// weights.
func parabolas(f *priordynamics.BatchedRollout, g *grid) (blocks []nodeBlock, weights []float32) {
	for at := 0; at < len(g.times); at += simd.Width {
		times := g.times[at : at+simd.Width]
		from, _ := f.Parabola(times[0])
		last, _ := f.Parabola(times[len(times)-1])
		b := nodeBlock{from: from, to: last + 3, at: len(weights)}
		weights = append(weights, make([]float32, (b.to-b.from)*simd.Width)...)
		for lane, t := range times {
			node, parabola := f.Parabola(t)
			for i, w := range parabola {
				weights[b.at+(node-from+i)*simd.Width+lane] = simd.Single(w)
			}
		}
		blocks = append(blocks, b)
	}
	return blocks, weights
}

func (b *batchedEquation) evaluate(dst []float64) {
	b.members[0].Evaluate(dst)
	clear(b.variance)
	for i, r := range b.members[1:] { // running mean and squared deviations, as in equation
		r.Evaluate(b.own)
		share := 1 / float64(i+2)
		for j, v := range b.own {
			d := v - dst[j]
			dst[j] += d * share
			b.variance[j] += d * (v - dst[j]) * b.share
		}
	}
}

func (b *batchedEquation) memberVariance() []float64 { return b.variance }

func (b *batchedEquation) differentiate() {
	first := 0
	for _, r := range b.members {
		r.Jacobian(b.matrices.panels, b.matrices.columns, first, b.share)
		first += r.Nodes()
	}
}

func (b *batchedEquation) parts(parts []simd.Part, block int) []simd.Part {
	first := 0
	for i, r := range b.members {
		at := &b.parabolas[i][block]
		parts = append(parts, b.matrices.part(first+at.from, at.to-at.from, b.weights[i][at.at:]))
		first += r.Nodes()
	}
	return parts
}

// batchedVelocity is constant velocity.
type batchedVelocity struct {
	*velocity
	times []float64
	constants
}

func (b *batchedVelocity) evaluate(dst []float64) {
	for i, t := range b.times {
		for k, v := range b.v0 {
			dst[i*len(b.v0)+k] = v * t
		}
	}
}

func (b *batchedVelocity) memberVariance() []float64 { return nil }

func (b *batchedVelocity) differentiate() {}
