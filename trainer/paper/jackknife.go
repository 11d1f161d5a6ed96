package paper

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/cores"
)

// jackknife sets the factor of the flows' variances by the delete-a-group jackknife (Busing,
// Meijer & van der Leeden 1999; Shao & Wu 1989): trajectories are dealt to r.Refits groups,
// the flows are refined, priors and noise with them, without each of these in turn, and
//
//	(G − 1)/G Σ (said without group g − mean of these)²
//
// is by how much what is said varies. Unlike data drawn from the flows this does not take for
// granted that the field is of their form, nor what the noise is like; and the flows are
// nearly refined already. A mean square error is this and the square of a bias. Parameters
// are drawn towards zero wherever they are, so no part of the data tells the bias; the prior
// does (pull). The sum relative to the variance that the flows claim is the factor.
func (m *Model) jackknife(ctx context.Context, d *Data, r Recipe, seed uint64) error {
	G := r.Refits
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(d.Trajectories))
	without := make([]*Model, G)
	cores.Each(G, func(g int) {
		rest := &Data{K: d.K}
		for i, j := range order {
			if i%G != g {
				rest.Trajectories = append(rest.Trajectories, d.Trajectories[j])
			}
		}
		again := &Model{K: m.K, VarianceInflation: 1}
		for _, f := range m.Flows {
			f = f.copy()
			if !f.refineFurther(ctx, rest) {
				return
			}
			again.Flows = append(again.Flows, f)
		}
		without[g] = again
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	scatter, ok := m.jackknifeVariance(without, d)
	pull, fine := m.priorBias(d)
	if ok && fine {
		m.VarianceInflation = math.Min(math.Max(leastInflation, scatter+pull), mostInflation)
	}
	return nil
}

// priorBias returns the mean over channels of the square of the flows' bias, as the prior lets
// one expect it, over their variance, at observations of some trajectories.
func (m *Model) priorBias(d *Data) (ratio float64, ok bool) {
	K := d.K
	squares, variances := make([]float64, K), make([]float64, K)
	for _, tr := range d.someTrajectories() {
		size := len(tr.T) * K
		mean, variance := make([]float64, size), make([]float64, size)
		if !m.mixture(mean, variance, tr.X0, tr.T) {
			return 0, false
		}
		for i, v := range variance {
			variances[i%K] += v
		}
		for _, f := range m.Flows {
			bias, ok := f.squaredBias(tr.X0, tr.T)
			if !ok {
				return 0, false
			}
			for i, v := range bias {
				squares[i%K] += v / float64(len(m.Flows))
			}
		}
	}
	return meanRatio(squares, variances)
}

// squaredBias returns the expected square of how far the prior draws the states at times (rising)
// after x0 from the truth (len(times)×K, raw units). The posterior's mean is off by −H⁻¹αθ,
// H being the posterior's precision and θ what is true, of which the prior expects the
// square α⁻¹: the part H⁻¹αH⁻¹ of the posterior's covariance H⁻¹. The other part,
// H⁻¹JᵀJH⁻¹, is what noise makes of it.
func (f *Flow) squaredBias(x0, times []float64) (squares []float64, ok bool) {
	R, P := len(times)*f.Dim(), len(f.Theta)
	mean := make([]float64, R)
	U, ok := f.covarianceFactor(mean, x0, times)
	if !ok {
		return nil, false
	}
	var w matmul.Work
	W := make([]float64, R*P) // the states' derivatives times H⁻¹
	w.Mul(matmul.Matrix(R, P, W), 1, false, matmul.Matrix(R, P, U), false, matmul.Matrix(P, P, f.Inv), 0)
	of, _ := f.groups()
	for i := range mean {
		mean[i] = 0
		for p, v := range W[i*P : (i+1)*P] {
			mean[i] += f.Alpha[of[p]] * v * v
		}
	}
	return mean, true
}

// copy returns a flow with memory of its own, which believes nothing yet.
func (f *Flow) copy() *Flow {
	c := &Flow{
		Inputs: f.Inputs, Known: f.Known, Net: f.Net, part: f.part, Theta: f.Theta,
		Alpha: append([]float64(nil), f.Alpha...), Sigma: append([]float64(nil), f.Sigma...),
	}
	c.Net.Layers = append([]mlp.Layer(nil), f.Net.Layers...)
	if f.Poly != nil {
		p := *f.Poly
		c.Poly = &p
	}
	c.bind()
	return c
}

// refineFurther refines a flow that was refined on much the same data: twice priors and noise follow.
func (f *Flow) refineFurther(ctx context.Context, d *Data) (ok bool) {
	n := newNewton(f, d)
	for range 2 {
		if !n.iterate(ctx, 12) || !n.updateHyperparameters() {
			return false
		}
	}
	return n.iterate(ctx, 15)
}

// jackknifeVariance returns the mean over channels of the jackknife's variance over that of the flows,
// at observations of some trajectories. Groups that could not be refined are nil; ok is false
// where most are.
func (m *Model) jackknifeVariance(without []*Model, d *Data) (ratio float64, ok bool) {
	K := d.K
	squares, variances := make([]float64, K), make([]float64, K)
	for _, tr := range d.someTrajectories() {
		size := len(tr.T) * K
		variance, mean := make([]float64, size), make([]float64, size)
		if !m.mixture(mean, variance, tr.X0, tr.T) {
			return 0, false
		}
		var said [][]float64
		clear(mean)
		for _, w := range without {
			one := make([]float64, size)
			if w == nil || !w.mixture(one, nil, tr.X0, tr.T) {
				continue
			}
			said = append(said, one)
			for i, v := range one {
				mean[i] += v
			}
		}
		n := float64(len(said))
		if 2*len(said) <= len(without) {
			return 0, false
		}
		for i, v := range variance {
			variances[i%K] += v
			for _, one := range said {
				e := one[i] - mean[i]/n
				squares[i%K] += (n - 1) / n * e * e
			}
		}
	}
	return meanRatio(squares, variances)
}
