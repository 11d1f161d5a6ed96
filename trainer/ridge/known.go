package ridge

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/trainer/replay"
)

// What an equation leaves of a channel that it does not know is the motion itself, which the map of all motion predicts, and that is bounded on other
// manoeuvres. So a map of what a base leaves of a channel counts where the base has less than so much of the error of holding, or the map less than so
// much of that of the map of all motion.
const (
	knows   = 0.5
	clearer = 0.8
)

// known returns of which channels (K) the base predicts something: geometric mean over the times of its root mean square error on what is held out.
func (c *Config) known(held []part) []bool {
	T, K := len(c.Times), held[0].flights[0].K
	left, still := make([]float64, T*K), make([]float64, T*K)
	for _, p := range held {
		base := p.base[c.Readouts[0]]
		for w := range replay.Each(p.flights, p.windows, c.Times) {
			for i, y := range w.Measured {
				if e := y - base[w.Number][i]; !math.IsNaN(e) {
					left[i] += e * e
					still[i] += y * y
				}
			}
		}
	}
	out := make([]bool, K)
	for k := range out {
		logs := 0.0
		for i := k; i < T*K; i += K {
			logs += math.Log((left[i]+tiny)/(still[i]+tiny)) / float64(2*T)
		}
		out[k] = logs < math.Log(knows)
	}
	return out
}

// worth returns of which channels (K) the fits of a level to what the base leaves count.
func (f *Fitted) worth(fits []timeFit) []bool {
	K := len(f.known)
	out := slices.Clone(f.known)
	for k := range out {
		logs := 0.0
		for _, fit := range fits {
			logs += (fit.least[K+k] - fit.least[k]) / float64(2*len(fits))
		}
		out[k] = out[k] || logs < math.Log(clearer)
	}
	return out
}
