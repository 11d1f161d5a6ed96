package paper

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dgm-robotics/dgm/trainer/cores"
)

// Bounds of the variance inflation.
const leastInflation, mostInflation = 0.5, 4

// bootstrap sets the factor of the flows' variances by the parametric bootstrap: flows of
// the same forms are refined on data simulated from the flows, with the noise of that
// which explains the data best, and those that explain these data are kept. The mean square
// difference of their predictions from the flows', which are the truth here, relative to
// the variance that they claim, is the factor (winsorisedMean). The posterior takes as given
// which terms there are, the priors and the noise; refits do not. Several forms together may
// be nearer to the truth than the mean of their variances claims: then the factor is below 1.
func (m *Model) bootstrap(ctx context.Context, d *Data, r Recipe, seed uint64) error {
	best := slices.MinFunc(m.Flows, func(a, b *Flow) int { return cmp.Compare(a.Evidence, b.Evidence) })
	E := len(m.Flows)
	flows, simulated := make([]*Flow, r.Refits*E), make([]*Data, r.Refits)
	for i := range flows { // a member has one memory to predict with
		if i%E == 0 {
			var ok bool
			if simulated[i/E], ok = m.simulate(d, best, rand.New(rand.NewPCG(seed, uint64(i/E)))); !ok {
				return errFlow
			}
		}
		flows[i] = r.flow(m.Members[i%len(m.Members)], simulated[i/E], m.Flows[i%E].part)
	}
	cores.Each(len(flows), func(i int) {
		if !flows[i].Shoot(ctx, simulated[i/E], r.Rounds) {
			flows[i] = nil
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	var ratios []float64
	for i := range r.Refits {
		refit := &Model{K: m.K, VarianceInflation: 1, Flows: keepLikely(flows[i*E:(i+1)*E], simulated[i])}
		if ratio, ok := refit.squaredErrorRatio(m, d); ok && !math.IsNaN(ratio) {
			ratios = append(ratios, ratio)
		}
	}
	if len(ratios) > 0 {
		m.VarianceInflation = math.Min(math.Max(leastInflation, winsorisedMean(ratios)), mostInflation)
	}
	return nil
}

// squaredErrorRatio returns the mean over channels of the mean squared difference of the
// flows' predictions from those of another model's, over their mean variance.
func (m *Model) squaredErrorRatio(from *Model, d *Data) (ratio float64, ok bool) {
	if len(m.Flows) == 0 {
		return 0, false
	}
	return m.varianceRatio(d, func(sums, x0, times, mean []float64) bool {
		other := make([]float64, len(mean))
		if !from.mixture(other, nil, x0, times) {
			return false
		}
		for i, v := range mean {
			sums[i%d.K] += (other[i] - v) * (other[i] - v)
		}
		return true
	})
}

// winsorisedMean returns the mean, numbers above three times their median counting as that:
// such a refit has found another optimum, and has no information on the width of this one.
func winsorisedMean(ratios []float64) (mean float64) {
	const most = 3
	sorted := slices.Sorted(slices.Values(ratios))
	n := len(sorted)
	median := (sorted[(n-1)/2] + sorted[n/2]) / 2
	for _, v := range ratios {
		mean += math.Min(v, most*median) / float64(n)
	}
	return mean
}

// simulate returns data drawn from the flows' mean with the noise of one of them; missing
// values stay missing.
func (m *Model) simulate(d *Data, noise *Flow, rng *rand.Rand) (out *Data, ok bool) {
	out = d.of()
	for _, tr := range d.Trajectories {
		y := make([]float64, len(tr.Y))
		if !m.mixture(y, nil, tr.X0, tr.T) {
			return nil, false
		}
		for j, v := range tr.Y {
			k := j % d.K
			y[j] += noise.Sigma[k] * noise.Inputs.Lift.Std[k] * rng.NormFloat64()
			if math.IsNaN(v) {
				y[j] = v
			}
		}
		out.Trajectories = append(out.Trajectories, Trajectory{X0: tr.X0, T: tr.T, Y: y})
	}
	return out, true
}
