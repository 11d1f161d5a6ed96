package paper

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
	"github.com/dgm-robotics/dgm/trainer/cores"
)

// jackknife sets the factor of the flows' variances by the delete-a-group jackknife (Busing,
// Meijer & van der Leeden 1999; Shao & Wu 1989): trajectories are dealt to r.Refits groups,
// the flows are refined, priors and noise with them, without each of these in turn, and
//
//	(G − 1)/G Σ (prediction without group g − mean of these)²
//
// is the variance of the prediction. Unlike the bootstrap this assumes neither that the field
// is of the flows' form nor anything about the noise; and the flows are nearly refined already.
// A mean square error is this and the square of a bias. Parameters are shrunk towards zero in
// every refit, so no part of the data shows the bias; the prior does (priorBias). The sum
// relative to the variance that the flows claim is the factor.
func (m *Model) jackknife(ctx context.Context, d *Data, r Recipe, seed uint64) error {
	G := r.Refits
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(d.Trajectories))
	without := make([]*Model, G)
	cores.Each(G, func(g int) {
		rest := d.of()
		for i, j := range order {
			if i%G != g {
				rest.Trajectories = append(rest.Trajectories, d.Trajectories[j])
			}
		}
		refit := &Model{K: m.K, VarianceInflation: 1}
		for _, f := range m.Flows {
			f = f.copy()
			if !f.refineFurther(ctx, rest) {
				return
			}
			refit.Flows = append(refit.Flows, f)
		}
		without[g] = refit
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	scatter, ok := m.jackknifeVariance(without, d)
	bias, fine := m.priorBias(d)
	if ok && fine {
		m.VarianceInflation = math.Min(math.Max(leastInflation, scatter+bias), mostInflation)
	}
	return nil
}

// refineFurther refines a flow that was refined on much the same data: two updates of
// priors and noise.
func (f *Flow) refineFurther(ctx context.Context, d *Data) (ok bool) {
	n := newNewton(f, d)
	for range 2 {
		if !n.iterate(ctx, 12) || !n.updateHyperparameters() {
			return false
		}
	}
	return n.iterate(ctx, 15)
}

// jackknifeVariance returns the mean over channels of the jackknife's variance over that of
// the flows. Groups that could not be refined are nil; ok is false where most are.
func (m *Model) jackknifeVariance(without []*Model, d *Data) (ratio float64, ok bool) {
	return m.varianceRatio(d, func(sums, x0, times, mean []float64) bool {
		var predictions [][]float64
		total := make([]float64, len(mean))
		for _, w := range without {
			one := make([]float64, len(mean))
			if w == nil || !w.mixture(one, nil, x0, times) {
				continue
			}
			predictions = append(predictions, one)
			for i, v := range one {
				total[i] += v
			}
		}
		n := float64(len(predictions))
		for i, s := range total {
			for _, one := range predictions {
				e := one[i] - s/n
				sums[i%d.K] += (n - 1) / n * e * e
			}
		}
		return 2*len(predictions) > len(without)
	})
}

// priorBias returns the mean over channels of the flows' squared bias, as the prior lets
// one expect it, over their variance.
func (m *Model) priorBias(d *Data) (ratio float64, ok bool) {
	return m.varianceRatio(d, func(sums, x0, times, mean []float64) bool {
		for _, f := range m.Flows {
			bias, ok := f.squaredBias(x0, times)
			if !ok {
				return false
			}
			for i, v := range bias {
				sums[i%d.K] += v / float64(len(m.Flows))
			}
		}
		return true
	})
}

// squaredBias returns the expected square of the bias by the prior of the states at times
// (rising) after x0 (len(times)×K, raw units). The posterior's mean is off by −H⁻¹αθ,
// H being the posterior's precision and θ the truth, of which the prior expects the
// square α⁻¹: the part H⁻¹αH⁻¹ of the posterior's covariance H⁻¹. The other part,
// H⁻¹JᵀJH⁻¹, is due to noise.
func (f *Flow) squaredBias(x0, times []float64) (squares []float64, ok bool) {
	R, P := len(times)*f.Dim(), len(f.Theta)
	U, ok := f.covarianceFactor(make([]float64, R), x0, times)
	if !ok {
		return nil, false
	}
	var w matmul.Work
	W := make([]float64, R*P) // the states' derivatives times H⁻¹
	w.Mul(matmul.Matrix(R, P, W), 1, false, matmul.Matrix(R, P, U), false, matmul.Matrix(P, P, f.Inv), 0)
	of, _ := f.groups()
	squares = make([]float64, R)
	for i := range squares {
		for p, v := range W[i*P : (i+1)*P] {
			squares[i] += f.Alpha[of[p]] * v * v
		}
	}
	return squares, true
}
