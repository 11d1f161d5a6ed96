package estimator

import (
	"github.com/tphakala/simd/f64"

	"github.com/dgm-robotics/dgm/estimator/rollout"
)

// fastBase is a Base at all points of a Fast.
type fastBase struct {
	b               *Base
	times           []float64
	prior, other    *rollout.Fan // of the roll-out, of its companion; nil = none
	base, companion []float64    // K×N, state units
	share           []float64    // K×N, the companion's share
}

// newFastBase takes the memory for ascending times.
func newFastBase(b *Base, times []float64) fastBase {
	K, Q := len(b.velocity), len(b.spec.Knots)
	f := fastBase{b: b, times: times, base: make([]float64, K*len(times))}
	if b.roll != nil {
		f.prior = rollout.NewFan(b.roll, times)
	}
	if b.companion == nil {
		return f
	}
	f.other, f.companion = rollout.NewFan(b.companion, times), make([]float64, K*len(times))
	weights := make([]float64, Q)
	for k := range K {
		for _, t := range times {
			NoiseWeights(weights, b.spec.Knots, t/b.spec.Horizon)
			f.share = append(f.share, dot(weights, b.spec.Blend[k*Q:(k+1)*Q]))
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
	f.prior.All(f.base)
	if f.other != nil {
		f.other.All(f.companion)
		f64.Sub(f.companion, f.companion, f.base)
		f64.FMA(f.base, f.share, f.companion, f.base)
	}
}
