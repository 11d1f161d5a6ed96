package estimator

import (
	"github.com/tphakala/simd/f64"

	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// batchedPrior evaluates a PriorDynamics at all points of a Fast.
type batchedPrior struct {
	prior        *PriorDynamics
	components   []batchedComponent
	weights      [][model.Conditions][]float64 // of each component: N×K; nil = weight 0
	displacement []float64                     // N×K, state units
	spread       []float64                     // N×K, state units
	disagreement []float64                     // N×K, state units squared
	firstWeight  []float64                     // N×K, of the first component

	first      []float64            // as displacement
	difference [][]float64          // of each component but the first: N×K, its displacement less that of the first
	faded      [][]float64          // the same: N×K, its weight times its fade; nil = weight 0
	buffers    [][]float64          // the same: N×K, of faded
	ranges     []direct.RangeFactor // N; none if no component fades by them
	outside    bool                 // whether one of ranges is not 1
	jacobian   priorJacobian
}

func newBatchedPrior(b *PriorDynamics, g *grid, of *compiled) batchedPrior {
	K, times := len(b.x0), g.points
	N := len(times)
	f := batchedPrior{
		prior: b, displacement: make([]float64, N*K), spread: make([]float64, N*K), disagreement: make([]float64, N*K), firstWeight: make([]float64, N*K),
		weights: make([][model.Conditions][]float64, len(b.components)), difference: make([][]float64, len(b.components)), faded: make([][]float64, len(b.components)), buffers: make([][]float64, len(b.components)),
	}
	for i, c := range b.components {
		f.components = append(f.components, batched(c, K, g, of))
		if i == 0 {
			continue
		}
		f.difference[i] = make([]float64, N*K)
		if fades(&b.spec.Stack[i]) {
			f.buffers[i] = make([]float64, N*K)
		}
		for condition := range f.weights[i] {
			if table := b.tables[i][condition]; table != nil {
				f.weights[i][condition] = weightsAt(table, &b.spec, times)
			}
		}
	}
	if len(f.components) > 1 {
		f.first = make([]float64, N*K)
	}
	if b.fade.ranged() {
		f.ranges = make([]direct.RangeFactor, N)
	}
	f.jacobian = newPriorJacobian(&f, g, of.unit)
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
		d := f.difference[i]
		if f.weight(i) == nil {
			continue
		}
		f.components[i].evaluate(d)
		if !f.prior.spec.Stack[i].Residual {
			f64.Sub(d, d, f.first)
		}
	}
	f.setRanges()
	for i := 1; i < len(f.components); i++ {
		if f.faded[i] = f.fade(i); f.faded[i] != nil {
			f64.FMA(f.displacement, f.faded[i], f.difference[i], f.displacement)
		}
	}
}

// setRanges sets ranges, after the components are evaluated.
func (f *batchedPrior) setRanges() {
	f.outside = false
	if len(f.ranges) == 0 {
		return
	}
	for i, c := range f.components {
		if c, ok := c.(*batchedDirect); ok {
			c.RangeFactors(f.ranges, i > 0 && f.weight(i) == nil)
			break
		}
	}
	for i := range f.ranges {
		f.outside = f.outside || f.ranges[i].Value != 1
	}
}

// fade returns the weight of component i times its fade; nil = weight 0.
func (f *batchedPrior) fade(i int) []float64 {
	weight, factor := f.weight(i), f.prior.fade.factor[i]
	if weight == nil || f.buffers[i] == nil || factor == 1 && !f.outside {
		return weight
	}
	faded, K := f.buffers[i], len(f.prior.x0)
	f64.Scale(faded, weight, factor)
	if f.outside {
		for n := range f.ranges {
			f64.Scale(faded[n*K:(n+1)*K], faded[n*K:(n+1)*K], f.ranges[n].Value)
		}
	}
	return faded
}

// spreads returns how far components and members are apart (N×K), after evaluate, as
// PriorDynamics.Spread, and sets disagreement.
func (f *batchedPrior) spreads() []float64 {
	clear(f.spread)
	clear(f.disagreement)
	firstWeight := f.firstWeight
	for j := range firstWeight {
		firstWeight[j] = 1
	}
	n := 1.0
	for i := 1; i < len(f.components); i++ {
		weight := f.faded[i]
		if weight == nil {
			continue
		}
		if f.prior.spec.Stack[i].Residual {
			addVariance(f.disagreement, f.components[i].memberVariance(), weight)
			continue
		}
		n++
		f64.Sub(firstWeight, firstWeight, weight)
		f.addMembers(i, weight)
	}
	if len(f.components) > 0 {
		f.addMembers(0, firstWeight)
	}
	for j, v := range f.displacement {
		mean, squares := 0.0, 0.0
		for i := 1; i < len(f.components); i++ {
			if f.weight(i) != nil && !f.prior.spec.Stack[i].Residual {
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

// addMembers adds the variance between the members, or levels, of a component, times the squares of its weight.
func (f *batchedPrior) addMembers(i int, weight []float64) {
	variance := f.components[i].memberVariance()
	addVariance(f.spread, variance, weight)
	if f.prior.spec.Stack[i].Kind == model.Direct {
		addVariance(f.disagreement, variance, weight)
	}
}

// addVariance adds a variance, unless it is nil, times the squares of a weight to dst.
func addVariance(dst, variance, weight []float64) {
	for j, v := range variance {
		dst[j] += weight[j] * weight[j] * v
	}
}
