package estimator

import (
	"github.com/tphakala/simd/f64"

	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// batchedPrior evaluates a PriorDynamics at all points of a Fast.
type batchedPrior struct {
	prior                               *PriorDynamics
	times                               []float64
	rollout, secondary                  *priordynamics.BatchedRollout // nil = none
	displacement, secondaryDisplacement []float64                     // K×N, state units
	weight                              []float64                     // K×N, of the secondary model
	jacobian, secondaryJacobian         []float64                     // K×K×N: derivatives by the start state
}

// newBatchedPrior takes the memory for ascending times.
func newBatchedPrior(b *PriorDynamics, times []float64) batchedPrior {
	K, Q, N := len(b.velocity), len(b.spec.Knots), len(times)
	f := batchedPrior{prior: b, times: times, displacement: make([]float64, K*N), jacobian: make([]float64, K*K*N)}
	if b.rollout != nil {
		f.rollout = priordynamics.NewBatchedRollout(b.rollout, times)
	}
	if b.secondary == nil {
		return f
	}
	f.secondary = priordynamics.NewBatchedRollout(b.secondary, times)
	f.secondaryDisplacement, f.secondaryJacobian = make([]float64, K*N), make([]float64, K*K*N)
	weights := make([]float64, Q)
	for k := range K {
		for _, t := range times {
			KnotWeights(weights, b.spec.Knots, t/b.spec.Horizon)
			f.weight = append(f.weight, dot(weights, b.spec.LinearWeight[k*Q:(k+1)*Q]))
		}
	}
	return f
}

// evaluate sets displacement after the last Start.
func (f *batchedPrior) evaluate() {
	if f.rollout == nil {
		n := len(f.times)
		for k, v := range f.prior.velocity {
			rate := 0.0
			if v >= 0 {
				rate = f.prior.x0[v]
			}
			f64.Scale(f.displacement[k*n:(k+1)*n], f.times, rate)
		}
		return
	}
	f.rollout.Evaluate(f.displacement)
	if f.secondary != nil {
		f.secondary.Evaluate(f.secondaryDisplacement)
		f64.Sub(f.secondaryDisplacement, f.secondaryDisplacement, f.displacement)
		f64.FMA(f.displacement, f.weight, f.secondaryDisplacement, f.displacement)
	}
}

// differentiate sets jacobian, after evaluate.
func (f *batchedPrior) differentiate() {
	K, n := len(f.prior.velocity), len(f.times)
	if f.rollout == nil {
		clear(f.jacobian)
		for k, v := range f.prior.velocity {
			if v >= 0 {
				copy(f.jacobian[(k*K+v)*n:(k*K+v+1)*n], f.times)
			}
		}
		return
	}
	f.rollout.Jacobian(f.jacobian)
	if f.secondary == nil {
		return
	}
	f.secondary.Jacobian(f.secondaryJacobian)
	f64.Sub(f.secondaryJacobian, f.secondaryJacobian, f.jacobian)
	for j := range K * K {
		row := f.jacobian[j*n : (j+1)*n]
		f64.FMA(row, f.weight[j/K*n:(j/K+1)*n], f.secondaryJacobian[j*n:(j+1)*n], row)
	}
}
