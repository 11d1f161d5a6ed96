package estimator

import (
	"math"

	"github.com/tphakala/simd/f64"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// batchedPrior evaluates a PriorDynamics at all points of a Fast.
type batchedPrior struct {
	prior        *PriorDynamics
	components   []batchedComponent
	weights      [][model.Conditions][]float64 // of each component: K×N; nil = weight 0
	displacement []float64                     // K×N, state units
	jacobian     []float64                     // K×K×N: derivatives by the start state

	first, firstJacobian, otherJacobian []float64   // as displacement and jacobian
	difference                          [][]float64 // of each component but the first: K×N, its displacement less that of the first
	spread                              []float64   // K×N, state units
}

// batchedComponent is a component at all points, after its start.
type batchedComponent interface {
	// evaluate writes the displacements to dst (K×N).
	evaluate(dst []float64)
	// differentiate writes their derivatives by the start state to dst (K×K×N), after evaluate.
	differentiate(dst []float64)
}

// newBatchedPrior takes the memory for ascending times.
func newBatchedPrior(b *PriorDynamics, times []float64) batchedPrior {
	K, N := len(b.x0), len(times)
	f := batchedPrior{
		prior: b, displacement: make([]float64, K*N), spread: make([]float64, K*N), jacobian: make([]float64, K*K*N),
		weights: make([][model.Conditions][]float64, len(b.components)), difference: make([][]float64, len(b.components)),
	}
	for i, c := range b.components {
		f.components = append(f.components, batched(c, times))
		if i == 0 {
			continue
		}
		f.difference[i] = make([]float64, K*N)
		for condition := range f.weights[i] {
			if table, ok := model.ForCondition(b.spec.Stack[i].Weights, model.Condition(condition)); ok {
				f.weights[i][condition] = weightsAt(table, &b.spec, times)
			}
		}
	}
	if len(f.components) > 1 {
		f.first, f.firstJacobian, f.otherJacobian = make([]float64, K*N), make([]float64, K*K*N), make([]float64, K*K*N)
	}
	return f
}

// weightsAt returns a table (K×Q) at times: K×N.
func weightsAt(table []float64, spec *PriorDynamicsSpec, times []float64) (out []float64) {
	Q := len(spec.Knots)
	knots := make([]float64, Q)
	for at := 0; at < len(table); at += Q {
		for _, t := range times {
			KnotWeights(knots, spec.Knots, t/spec.Horizon)
			out = append(out, dot(knots, table[at:at+Q]))
		}
	}
	return out
}

// weight returns that of component i at all points (K×N), without its fade; nil = 0.
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

// spreads returns how far the components are apart (K×N), after evaluate: as
// PriorDynamics.Spread, but that no component has several members.
func (f *batchedPrior) spreads() []float64 {
	if len(f.components) < 2 {
		return f.spread
	}
	for j, v := range f.displacement {
		mean, squares, n := 0.0, 0.0, 1.0
		for i := 1; i < len(f.components); i++ {
			if f.weight(i) != nil {
				d := f.difference[i][j]
				mean, squares, n = mean+d, squares+d*d, n+1
			}
		}
		f.spread[j] = math.Sqrt(apart(v-f.first[j], mean/n, squares/n))
	}
	return f.spread
}

// differentiate sets jacobian, after evaluate.
func (f *batchedPrior) differentiate() {
	if len(f.components) == 0 {
		return
	}
	f.components[0].differentiate(f.jacobian)
	K := len(f.prior.x0)
	n := len(f.displacement) / K
	if len(f.components) > 1 {
		copy(f.firstJacobian, f.jacobian)
	}
	for i := 1; i < len(f.components); i++ {
		weight := f.weight(i)
		if weight == nil {
			continue
		}
		f.components[i].differentiate(f.otherJacobian)
		f64.Sub(f.otherJacobian, f.otherJacobian, f.firstJacobian)
		factor, gradient := f.prior.fade.factor[i], f.prior.fade.gradient[i]
		for j := range K * K {
			k, other := j/K, f.otherJacobian[j*n:(j+1)*n]
			if factor != 1 {
				f64.Scale(other, other, factor)
			}
			if slope := gradient[j%K]; slope != 0 {
				f64.AddScaled(other, slope, f.difference[i][k*n:(k+1)*n])
			}
			row := f.jacobian[j*n : (j+1)*n]
			f64.FMA(row, weight[k*n:(k+1)*n], other, row)
		}
	}
}

// batchable reports whether a Fast evaluates the component.
func batchable(c *model.Component) bool {
	for i := range c.Members {
		if len(c.Members[i].Net.Layers) > 0 || len(c.Members) > 1 {
			return false
		}
	}
	return c.Kind != model.Direct
}

// batched returns a component at all of the times.
func batched(c component, times []float64) batchedComponent {
	switch c := c.(type) {
	case *equation:
		return newBatchedEquation(c, times)
	default:
		return batchedVelocity{c.(*velocity), times}
	}
}

// batchedEquation is the mean of roll-outs.
type batchedEquation struct {
	members []*priordynamics.BatchedRollout
	share   float64
	own     []float64 // of one member, K×N or K×K×N
}

func newBatchedEquation(e *equation, times []float64) *batchedEquation {
	b := &batchedEquation{share: e.share}
	for _, r := range e.members {
		b.members = append(b.members, priordynamics.NewBatchedRollout(r, times))
	}
	if K := len(e.own); len(b.members) > 1 {
		b.own = make([]float64, K*K*len(times))
	}
	return b
}

func (b *batchedEquation) evaluate(dst []float64) {
	b.mean(dst, (*priordynamics.BatchedRollout).Evaluate)
}

func (b *batchedEquation) differentiate(dst []float64) {
	b.mean(dst, (*priordynamics.BatchedRollout).Jacobian)
}

func (b *batchedEquation) mean(dst []float64, of func(*priordynamics.BatchedRollout, []float64)) {
	of(b.members[0], dst)
	if len(b.members) == 1 {
		return
	}
	own := b.own[:len(dst)]
	for _, r := range b.members[1:] {
		of(r, own)
		f64.Add(dst, dst, own)
	}
	f64.Scale(dst, dst, b.share)
}

type batchedVelocity struct {
	*velocity
	times []float64
}

func (b batchedVelocity) evaluate(dst []float64) {
	n := len(b.times)
	for k, v := range b.v0 {
		f64.Scale(dst[k*n:(k+1)*n], b.times, v)
	}
}

func (b batchedVelocity) differentiate(dst []float64) {
	clear(dst)
	K, n := len(b.of), len(b.times)
	for k, v := range b.of {
		if v >= 0 {
			copy(dst[(k*K+v)*n:(k*K+v+1)*n], b.times)
		}
	}
}
