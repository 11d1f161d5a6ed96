package estimator

import (
	"github.com/tphakala/simd/f64"

	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// batchedPrior evaluates a PriorDynamics at all points of a Fast.
type batchedPrior struct {
	prior        *PriorDynamics
	components   []batchedComponent
	weights      [][model.Conditions][]float64 // of each component: N×K; nil = weight 0
	displacement []float64                     // N×K, state units
	spread       []float64                     // N×K, state units
	firstWeight  []float64                     // N×K, of the first component
	jacobian     []float64                     // N×K×K: derivative of displacement k by state c of the start at c·K + k

	first, firstJacobian, otherJacobian []float64   // as displacement and jacobian
	difference                          [][]float64 // of each component but the first: N×K, its displacement less that of the first
}

// batchedComponent is a component at all points, after its start.
type batchedComponent interface {
	// evaluate writes the displacements to dst (N×K).
	evaluate(dst []float64)
	// memberVariance returns the variance between members (N×K, state units squared) at the
	// last evaluate; nil = 0.
	memberVariance() []float64
	// differentiate writes their derivatives by the start state to dst (N×K×K, as Jacobian), after evaluate.
	differentiate(dst []float64)
}

// newBatchedPrior takes the memory for ascending times.
func newBatchedPrior(b *PriorDynamics, times []float64, unit simd.Unit) batchedPrior {
	K, N := len(b.x0), len(times)
	f := batchedPrior{
		prior: b, displacement: make([]float64, N*K), spread: make([]float64, N*K), firstWeight: make([]float64, N*K), jacobian: make([]float64, N*K*K),
		weights: make([][model.Conditions][]float64, len(b.components)), difference: make([][]float64, len(b.components)),
	}
	for i, c := range b.components {
		f.components = append(f.components, batched(c, times, unit))
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
		f.first, f.firstJacobian, f.otherJacobian = make([]float64, N*K), make([]float64, N*K*K), make([]float64, N*K*K)
	}
	return f
}

// weightsAt returns a table (K×Q) at times: N×K.
func weightsAt(table []float64, spec *PriorDynamicsSpec, times []float64) (out []float64) {
	Q := len(spec.Knots)
	knots := make([]float64, Q)
	for _, t := range times {
		KnotWeights(knots, spec.Knots, t/spec.Horizon)
		for at := 0; at < len(table); at += Q {
			out = append(out, dot(knots, table[at:at+Q]))
		}
	}
	return out
}

// weight returns that of component i at all points (N×K), without its fade; nil = 0.
func (f *batchedPrior) weight(i int) []float64 { return f.weights[i][f.prior.condition] }

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

// differentiate sets jacobian, after evaluate.
func (f *batchedPrior) differentiate() {
	if len(f.components) == 0 {
		return
	}
	f.components[0].differentiate(f.jacobian)
	if len(f.components) > 1 {
		copy(f.firstJacobian, f.jacobian)
	}
	for i := 1; i < len(f.components); i++ {
		if f.weight(i) != nil {
			f.components[i].differentiate(f.otherJacobian)
			f.addJacobian(i)
		}
	}
}

// addJacobian adds what component i contributes to the Jacobian; its own is in
// otherJacobian.
func (f *batchedPrior) addJacobian(i int) {
	K, factor := len(f.prior.x0), f.prior.fade.factor[i]
	for point := 0; point < len(f.displacement); point += K {
		weight, d := f.weight(i)[point:point+K], f.difference[i][point:point+K]
		for c := range K {
			at := (point + c) * K
			row, first, other := f.jacobian[at:at+K], f.firstJacobian[at:at+K], f.otherJacobian[at:at+K]
			slope := f.prior.fade.gradient[i][c]
			for k, w := range weight {
				row[k] += w * (factor*(other[k]-first[k]) + slope*d[k])
			}
		}
	}
}

// batched returns a component at all of the times.
func batched(c component, times []float64, unit simd.Unit) batchedComponent {
	switch c := c.(type) {
	case *equation:
		return newBatchedEquation(c, times, unit)
	case directMap:
		return batchedDirect{direct.NewBatched(c.Map, times)}
	default:
		return batchedVelocity{c.(*velocity), times}
	}
}

// batchedEquation is the mean of roll-outs.
type batchedEquation struct {
	members  []*priordynamics.BatchedRollout
	share    float64
	jacobian []float64 // of one member, N×K×K
	own      []float64 // of one member, N×K
	variance []float64 // N×K; nil with one member
}

func newBatchedEquation(e *equation, times []float64, unit simd.Unit) *batchedEquation {
	b := &batchedEquation{share: e.share}
	for _, r := range e.members {
		b.members = append(b.members, priordynamics.NewBatchedRollout(r, times, unit))
	}
	if n := len(e.own) * len(times); len(b.members) > 1 {
		b.own, b.variance, b.jacobian = make([]float64, n), make([]float64, n), make([]float64, n*len(e.own))
	}
	return b
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

func (b *batchedEquation) differentiate(dst []float64) {
	b.members[0].Jacobian(dst)
	for _, r := range b.members[1:] {
		r.Jacobian(b.jacobian)
		f64.Add(dst, dst, b.jacobian)
	}
	if len(b.members) > 1 {
		f64.Scale(dst, dst, b.share)
	}
}

type batchedVelocity struct {
	*velocity
	times []float64
}

func (b batchedVelocity) evaluate(dst []float64) {
	for i, t := range b.times {
		for k, v := range b.v0 {
			dst[i*len(b.v0)+k] = v * t
		}
	}
}

func (b batchedVelocity) memberVariance() []float64 { return nil }

func (b batchedVelocity) differentiate(dst []float64) {
	clear(dst)
	K := len(b.of)
	for i, t := range b.times {
		for k, c := range b.of {
			if c >= 0 {
				dst[(i*K+c)*K+k] = t
			}
		}
	}
}

type batchedDirect struct{ *direct.Batched }

func (b batchedDirect) evaluate(dst []float64) { b.Evaluate(dst) }

func (b batchedDirect) memberVariance() []float64 { return nil }

func (b batchedDirect) differentiate(dst []float64) { b.Jacobian(dst) }
