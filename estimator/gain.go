package estimator

import "github.com/dgm-robotics/dgm/estimator/model"

// gains are the shares of what the nets add to the base, and their slopes by
// standardised time, at the times of a predictor (T×K each).
type gains struct{ value, slope []float64 }

// gainsAt returns the gains of one readout: 1 everywhere where the model has none.
func gainsAt(m *model.Model, r Readout, times []float64) gains {
	K, Q := m.K, len(m.NoiseKnots)
	g := gains{make([]float64, len(times)*K), make([]float64, len(times)*K)}
	if int(r) >= len(m.NetworkWeight) {
		for j := range g.value {
			g.value[j] = 1
		}
		return g
	}
	weights, slopes := make([]float64, Q), make([]float64, Q)
	for i, t := range times {
		KnotWeights(weights, m.NoiseKnots, t/m.Horizon)
		noiseSlopes(slopes, m.NoiseKnots, t/m.Horizon)
		for k := range K {
			at := m.NetworkWeight[r][k*Q : (k+1)*Q]
			g.value[i*K+k] = dot(weights, at)
			g.slope[i*K+k] = dot(slopes, at) * m.Inputs.TimeStd / m.Horizon
		}
	}
	return g
}
