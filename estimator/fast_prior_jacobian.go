package estimator

import (
	"github.com/tphakala/simd/f32"

	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// priorJacobian is the memory for the Jacobian of the prior dynamics at a block of points:
// [state k][state c, padded][Width] each.
type priorJacobian struct {
	unit              simd.Unit
	sum, first, other []float32
	weights           [][model.Conditions][]float32 // of each component: by block [K][Width]; nil = weight 0
	parts             []simd.Part                   // of a product, empty
	faded             [simd.Width]float32           // weights of one state
	level             []float32                     // as sum: of one level of a direct map
	share             [simd.Width]float32           // of a level in one state
}

func newPriorJacobian(f *batchedPrior, g *grid, unit simd.Unit) priorJacobian {
	b := f.prior
	K, n := len(b.x0), len(g.times)
	j := priorJacobian{unit: unit, weights: make([][model.Conditions][]float32, len(f.components))}
	for _, v := range []*[]float32{&j.sum, &j.first, &j.other, &j.level} {
		*v = make([]float32, K*simd.Padded(K)*simd.Width)
	}
	most := 2 // of a direct map
	for i := range f.components {
		most = max(most, len(b.spec.Stack[i].Members))
		for condition := range j.weights[i] {
			if i == 0 || f.weights[i][condition] == nil {
				continue
			}
			all := weightsAt(b.tables[i][condition], &b.spec, g.times)
			w := make([]float32, n*K)
			for lane := range n {
				for k := range K {
					w[(lane/simd.Width*K+k)*simd.Width+lane%simd.Width] = simd.Single(all[lane*K+k])
				}
			}
			j.weights[i][condition] = w
		}
	}
	j.parts = make([]simd.Part, 0, most)
	return j
}

// weightsAt returns a table (K×Q) at times: N×K.
func weightsAt(table []float64, spec *PriorDynamicsSpec, times []float64) (out []float64) {
	Q := len(spec.Knots)
	knots := make([]float64, Q)
	for _, t := range times {
		model.KnotWeights(knots, spec.Knots, t/spec.Horizon)
		for at := 0; at < len(table); at += Q {
			out = append(out, dot(knots, table[at:at+Q]))
		}
	}
	return out
}

// weight returns that of component i at all points (N×K), without its fade; nil = 0.
func (f *batchedPrior) weight(i int) []float64 { return f.weights[i][f.prior.condition] }

// differentiate prepares jacobianAt, after evaluate.
func (f *batchedPrior) differentiate() {
	for i, c := range f.components {
		if i == 0 || f.weight(i) != nil {
			c.differentiate()
		}
	}
}

// jacobianAt returns the derivatives of the states by the start state at a block of points:
// [state k][state c, padded][Width].
func (f *batchedPrior) jacobianAt(block int) []float32 {
	j, K := &f.jacobian, len(f.prior.x0)
	if len(f.components) == 0 {
		clear(j.sum)
		addIdentity(j.sum, K, 1)
		return j.sum
	}
	j.product(j.sum, f.components[0], K, block)
	copy(j.first, j.sum)
	for i := 1; i < len(f.components); i++ {
		if f.weight(i) == nil {
			continue
		}
		j.product(j.other, f.components[i], K, block)
		if f.prior.spec.Stack[i].Residual {
			addIdentity(j.other, K, -1)
		} else {
			f32.Sub(j.other, j.other, j.first)
		}
		f.addJacobian(i, block)
	}
	return j.sum
}

// product sets dst to the Jacobian of a component at a block.
func (j *priorJacobian) product(dst []float32, c batchedComponent, K, block int) {
	panels := K * simd.Panels(K)
	j.unit.Product(dst, panels, c.parts(j.parts, block))
	d, ok := c.(*batchedDirect)
	if !ok || d.bounding() == nil {
		return
	}
	copy(j.level, dst)
	clear(dst)
	j.addLevel(dst, d, 0, K, block)
	for i, below := range d.bounding() {
		j.unit.Product(j.level, panels, below.parts(j.parts, block))
		j.addLevel(dst, d, 1+i, K, block)
	}
}

// addLevel adds the Jacobian of a level of a direct map, which is in level, times the level's share, to dst.
func (j *priorJacobian) addLevel(dst []float32, d *batchedDirect, level, K, block int) {
	rows := simd.Padded(K) * simd.Width
	for k := range K {
		d.share(&j.share, level, k, K, block)
		j.unit.AddScaled(dst[k*rows:(k+1)*rows], j.share[:], j.level[k*rows:(k+1)*rows])
	}
}

// addIdentity adds a multiple of the identity to Jacobians (K×K) of a block.
func addIdentity(dst []float32, K int, factor float32) {
	for k := range K {
		for lane := range simd.Width {
			dst[(k*simd.Padded(K)+k)*simd.Width+lane] += factor
		}
	}
}

// addJacobian adds what component i contributes to the Jacobian at a block; its own, less
// that of the first, is in other.
func (f *batchedPrior) addJacobian(i, block int) {
	j, K := &f.jacobian, len(f.prior.x0)
	rows := simd.Padded(K) * simd.Width
	weights := j.weights[i][f.prior.condition][block*K*simd.Width:]
	factor, outside := simd.Single(f.prior.fade.factor[i]), f.outside && f.buffers[i] != nil
	var ranges []direct.RangeFactor
	if outside {
		ranges = f.ranges[block*simd.Width : min((block+1)*simd.Width, len(f.ranges))]
	}
	for k := range K {
		w := weights[k*simd.Width : (k+1)*simd.Width]
		if factor != 1 || outside {
			f32.Scale(j.faded[:], w, factor)
			w = j.faded[:]
		}
		for lane := range ranges {
			w[lane] *= simd.Single(ranges[lane].Value)
		}
		j.unit.AddScaled(j.sum[k*rows:(k+1)*rows], w, j.other[k*rows:(k+1)*rows])
	}
	f.addFade(i, block, weights)
}

// addFade adds what the fade of component i contributes to the Jacobian at a block.
func (f *batchedPrior) addFade(i, block int, weights []float32) {
	j, K := &f.jacobian, len(f.prior.x0)
	points := min(simd.Width, len(f.displacement)/K-block*simd.Width)
	for c, slope := range f.prior.fade.gradient[i] {
		if slope == 0 {
			continue
		}
		for k := range K {
			row := j.sum[(k*simd.Padded(K)+c)*simd.Width:][:points]
			for lane := range row {
				at, moved := block*simd.Width+lane, slope
				if f.outside {
					moved *= f.ranges[at].Value
				}
				row[lane] += weights[k*simd.Width+lane] * simd.Single(moved*f.difference[i][at*K+k])
			}
		}
	}
}
