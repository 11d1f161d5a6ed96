package trainer

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// widest is the largest calibration factor. A model that needs more is wrong, not
// narrow, and the report shows it.
const widest = 3

// normal95 is the 95 % point of |z|.
const normal95 = 1.959964

// calibration returns the factors that bring the 95 % intervals of held-out data
// to 95 %, where they are too narrow: only widening, since few windows of a
// neighbouring segment can make intervals look too wide by luck. A channel's own
// factor and that of all channels together have equal say, and so have the folds:
// one that the others could not prepare for must not widen what all the rest find
// right.
func calibration(m *model.Model, folds []*outcomes) []float64 {
	Q := len(m.NoiseKnots)
	times := folds[0].times
	at := make([][]float64, len(times)) // T × K
	for i := range times {
		at[i] = make([]float64, m.K)
		for _, o := range folds {
			var all []float64
			for k := range m.K {
				all = append(all, o.z[i][k]...)
			}
			pooled := bounded(quantile95(all))
			for k := range m.K {
				at[i][k] += 0.5 * (math.Log(pooled) + math.Log(bounded(quantile95(o.z[i][k])))) / float64(len(folds))
			}
		}
		for k := range m.K {
			at[i][k] = math.Exp(at[i][k])
		}
	}
	out := make([]float64, m.K*Q)
	for k := range m.K {
		for q, tau := range m.NoiseKnots {
			out[k*Q+q] = interpolate(times, at, k, tau*m.Horizon)
		}
	}
	return out
}

func bounded(f float64) float64 { return math.Min(math.Max(f, 1), widest) }

// quantile95 returns the 95 % quantile of |z| over that of a standard normal; 1
// of nothing.
func quantile95(z []float64) float64 {
	if len(z) == 0 {
		return 1
	}
	a := make([]float64, len(z))
	for i, v := range z {
		a[i] = math.Abs(v)
	}
	slices.Sort(a)
	return a[min(int(0.95*float64(len(a))), len(a)-1)] / normal95
}

// interpolate returns channel k of the table at time t, linear in √t and constant
// beyond the ends.
func interpolate(times []float64, table [][]float64, k int, t float64) float64 {
	last := len(times) - 1
	if t <= times[0] {
		return table[0][k]
	}
	for i := range last {
		if t <= times[i+1] {
			a, b := math.Sqrt(times[i]), math.Sqrt(times[i+1])
			w := (math.Sqrt(t) - a) / (b - a)
			return (1-w)*table[i][k] + w*table[i+1][k]
		}
	}
	return table[last][k]
}
