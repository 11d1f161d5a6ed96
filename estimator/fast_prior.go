package estimator

import (
	"github.com/tphakala/simd/f64"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// batchedPrior evaluates a PriorDynamics at all points of a Fast.
type batchedPrior struct {
	prior        *PriorDynamics
	components   []batchedComponent
	weights      [][model.Conditions][]float64 // of each component: N×K; nil = weight 0
	displacement []float64                     // N×K, state units
	spread       []float64                     // N×K, state units
	firstWeight  []float64                     // N×K, of the first component

	first      []float64   // as displacement
	difference [][]float64 // of each component but the first: N×K, its displacement less that of the first
	jacobian   priorJacobian
}

func newBatchedPrior(b *PriorDynamics, g *grid, unit simd.Unit) batchedPrior {
	K, times := len(b.x0), g.points
	N := len(times)
	f := batchedPrior{
		prior: b, displacement: make([]float64, N*K), spread: make([]float64, N*K), firstWeight: make([]float64, N*K),
		weights: make([][model.Conditions][]float64, len(b.components)), difference: make([][]float64, len(b.components)),
	}
	for i, c := range b.components {
		f.components = append(f.components, batched(c, K, g, unit))
		if i == 0 {
			continue
		}
		f.difference[i] = make([]float64, N*K)
		for condition := range f.weights[i] {
			if table := b.tables[i][condition]; table != nil {
				f.weights[i][condition] = weightsAt(table, &b.spec, times)
			}
		}
	}
	if len(f.components) > 1 {
		f.first = make([]float64, N*K)
	}
	f.jacobian = newPriorJacobian(&f, g, unit)
	return f
}

// evaluate sets displacement after the last Start.
func (f *batchedPrior) evaluate() {
	if len(f.components) == 0 {
		return
	}
	f.components[0].evaluate(f.displacement)
	if len(f.components) > 1 {
		copy(f.first, f.displacement)
	}
	for i := 1; i < len(f.components); i++ {
		weight, d := f.weight(i), f.difference[i]
		if weight == nil {
			continue
		}
		f.components[i].evaluate(d)
		f64.Sub(d, d, f.first)
		if factor := f.prior.fade.factor[i]; factor == 1 {
			f64.FMA(f.displacement, weight, d, f.displacement)
		} else {
			for j, w := range weight {
				f.displacement[j] += factor * w * d[j]
			}
		}
	}
}

// spreads returns how far components and members are apart (N×K), after evaluate: as
// PriorDynamics.Spread.
func (f *batchedPrior) spreads() []float64 {
	clear(f.spread)
	firstWeight := f.firstWeight
	for j := range firstWeight {
		firstWeight[j] = 1
	}
	n := 1.0
	for i := 1; i < len(f.components); i++ {
		weight, factor := f.weight(i), f.prior.fade.factor[i]
		if weight == nil {
			continue
		}
		n++
		f64.AddScaled(firstWeight, -factor, weight)
		addVariance(f.spread, f.components[i].memberVariance(), factor, weight)
	}
	if len(f.components) > 0 {
		addVariance(f.spread, f.components[0].memberVariance(), 1, firstWeight)
	}
	for j, v := range f.displacement {
		mean, squares := 0.0, 0.0
		for i := 1; i < len(f.components); i++ {
			if f.weight(i) != nil {
				d := f.difference[i][j]
				mean, squares = mean+d, squares+d*d
			}
		}
		if n > 1 {
			f.spread[j] += apart(v-f.first[j], mean/n, squares/n)
		}
	}
	f64.Sqrt(f.spread, f.spread)
	return f.spread
}

// addVariance adds a variance, unless it is nil, times the squares of factor·weight to dst.
func addVariance(dst, variance []float64, factor float64, weight []float64) {
	for j, v := range variance {
		w := factor * weight[j]
		dst[j] += w * w * v
	}
}
