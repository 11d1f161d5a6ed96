package estimator

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// knotDerivatives writes the derivatives of KnotWeights by τ to dst (Q). At τ = 0, where √τ
// has none, they are 0: every factor of theirs vanishes there faster.
func knotDerivatives(dst, knots []float64, tau float64) {
	clear(dst)
	last := len(knots) - 1
	if last == 0 || tau <= math.Max(knots[0], 1e-12) || tau >= knots[last] {
		return
	}
	j := 0
	for tau > knots[j+1] {
		j++
	}
	slope := 0.5 / (math.Sqrt(tau) * (math.Sqrt(knots[j+1]) - math.Sqrt(knots[j])))
	dst[j], dst[j+1] = -slope, slope
}

// networkWeights are the weights of the nets' part of the mean and their derivatives by
// standardised time, at the times of a predictor (T×K each).
type networkWeights struct{ value, slope []float64 }

// networkWeightsAt returns those of one condition: 1 where the model has none.
func networkWeightsAt(m *model.Model, c model.Condition, times []float64) networkWeights {
	K, Q := m.K, len(m.NoiseKnots)
	w := networkWeights{make([]float64, len(times)*K), make([]float64, len(times)*K)}
	table, ok := model.ForCondition(m.NetworkWeight, c)
	if !ok {
		for j := range w.value {
			w.value[j] = 1
		}
		return w
	}
	weights, derivatives := make([]float64, Q), make([]float64, Q)
	for i, t := range times {
		model.KnotWeights(weights, m.NoiseKnots, t/m.Horizon)
		knotDerivatives(derivatives, m.NoiseKnots, t/m.Horizon)
		for k := range K {
			at := table[k*Q : (k+1)*Q]
			w.value[i*K+k] = dot(weights, at)
			w.slope[i*K+k] = dot(derivatives, at) * m.Inputs.TimeStd / m.Horizon
		}
	}
	return w
}
