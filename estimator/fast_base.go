package estimator

import (
	"github.com/tphakala/simd/f64"

	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// fastBase is a Base at all points of a Fast.
type fastBase struct {
	b               *PriorDynamics
	times           []float64
	prior, other    *priordynamics.BatchedRollout // of the roll-out, of its companion; nil = none
	base, companion []float64                     // K×N, state units
	share           []float64                     // K×N, the companion's share
	turn, otherTurn []float64                     // K×K×N: derivatives by the start state
}

// newFastBase takes the memory for ascending times.
func newFastBase(b *PriorDynamics, times []float64) fastBase {
	K, Q := len(b.velocity), len(b.spec.Knots)
	f := fastBase{b: b, times: times, base: make([]float64, K*len(times)), turn: make([]float64, K*K*len(times))}
	if b.roll != nil {
		f.prior = priordynamics.NewBatchedRollout(b.roll, times)
	}
	if b.companion == nil {
		return f
	}
	f.other, f.companion = priordynamics.NewBatchedRollout(b.companion, times), make([]float64, K*len(times))
	f.otherTurn = make([]float64, K*K*len(times))
	weights := make([]float64, Q)
	for k := range K {
		for _, t := range times {
			KnotWeights(weights, b.spec.Knots, t/b.spec.Horizon)
			f.share = append(f.share, dot(weights, b.spec.LinearWeight[k*Q:(k+1)*Q]))
		}
	}
	return f
}

// all sets base to the displacements after the last Start.
func (f *fastBase) all() {
	if f.prior == nil {
		for k, v := range f.b.velocity {
			rate := 0.0
			if v >= 0 {
				rate = f.b.x0[v]
			}
			n := len(f.times)
			f64.Scale(f.base[k*n:(k+1)*n], f.times, rate)
		}
		return
	}
	f.prior.Evaluate(f.base)
	if f.other != nil {
		f.other.Evaluate(f.companion)
		f64.Sub(f.companion, f.companion, f.base)
		f64.FMA(f.base, f.share, f.companion, f.base)
	}
}

// slopes sets turn to the derivatives of base, after all.
func (f *fastBase) slopes() {
	K, n := len(f.b.velocity), len(f.times)
	if f.prior == nil {
		clear(f.turn)
		for k, v := range f.b.velocity {
			if v >= 0 {
				copy(f.turn[(k*K+v)*n:(k*K+v+1)*n], f.times)
			}
		}
		return
	}
	f.prior.Jacobian(f.turn)
	if f.other == nil {
		return
	}
	f.other.Jacobian(f.otherTurn)
	f64.Sub(f.otherTurn, f.otherTurn, f.turn)
	for j := range K * K {
		row := f.turn[j*n : (j+1)*n]
		f64.FMA(row, f.share[j/K*n:(j/K+1)*n], f.otherTurn[j*n:(j+1)*n], row)
	}
}
