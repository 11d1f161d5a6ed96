package trainer

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// sensors returns the variance R of each state's sensor: as declared, else half
// of the noise that a displacement has at the start, where both of its ends were
// measured. Noise that does not grow tells nothing of where it comes from: then only
// what is declared is known.
func sensors(m *model.Model, grows bool) []float64 {
	Q := len(m.NoiseKnots)
	out := make([]float64, m.K)
	for k := range out {
		if n := m.Channels[k].Noise; n > 0 {
			out[k] = n * n
			continue
		}
		if !grows {
			continue
		}
		for i := range m.Members {
			s := m.Members[i].Posterior[0].LogSigma[k*Q]
			out[k] += 0.5 * math.Exp(2*s) * m.Scale[k] * m.Scale[k] / float64(len(m.Members))
		}
	}
	return out
}
