package nets

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/objective"
	"github.com/dgm-robotics/dgm/trainer/posterior"
	"github.com/dgm-robotics/dgm/trainer/rows"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// exactRows is how many rows the exact kernel is conditioned on: its file holds
// N² numbers a channel, its prediction costs as much.
const exactRows = 600

// conditionExact is Condition for the exact kernel. Residual and variance at the
// observations follow from the inverse of M = K + diag(1/s):
//
//	e = α/s      v = 1/s − (M⁻¹)_ii/s²
//
// A row that was not measured is a unit row of M, so that its α is zero.
// Its row of L⁻¹ is cleared: it must not explain variance either.
func conditionExact(net *Net, d Data, readout model.Readout, set Conditioning, logSigma []float64) (model.Posterior, error) {
	m, K, Q := &net.Params.Map, net.Params.Map.K, len(d.Frame.NoiseKnots)
	windows := window.Thin(d.Windows, max(1, exactRows/set.Points))
	sampler := &rows.Sampler{Frame: d.Frame, Flights: d.Flights, Windows: d.Windows, Readout: readout, Points: set.Points}
	b := objective.NewBatch(m, &d.Frame.Inputs, Q, len(windows)*set.Points, 0)
	n := sampler.Take(b, windows, rand.New(rand.NewPCG(set.Seed, 0x70617373)))
	eval := feature.NewEval(m, n)
	m.Forward(eval, b.Obs, false)
	c := set.likelihoodWeight(d, n)

	out := model.Posterior{LogSigma: logSigma, Exact: &model.Exact{N: n, Gate: b.Obs.Gate[:n], B: b.Obs.B[:n*m.Basis.Dim(m.Inputs())]}}
	kernel := posterior.NewExact(n, 0)
	r, prec := make([]float64, n), make([]float64, n)
	for k := range K {
		sigma := out.LogSigma[k*Q : (k+1)*Q]
		inverse := make([]float64, n*(n+1)/2)
		for pass := 0; ; pass++ {
			b.Residuals(r, prec, m, eval, k, sigma, c)
			if _, ok := kernel.Condition(m, eval, k, r, prec); !ok {
				return model.Posterior{}, errCondition
			}
			kernel.InverseFactor(inverse)
			if pass == set.Passes {
				break
			}
			exactNoise(sigma, b.Noise, kernel.Alpha(), inverse, prec, c)
		}
		for i, s := range prec {
			if s == 0 {
				clear(inverse[i*(i+1)/2 : (i+1)*(i+2)/2])
			}
		}
		out.Weights = append(out.Weights, slices.Clone(kernel.Alpha()))
		out.InverseFactor = append(out.InverseFactor, inverse)
		z := make([]float64, 0, n*m.D)
		for i := range n {
			zi, _ := m.Z(eval, i, k)
			z = append(z, zi...)
		}
		out.Exact.Z = append(out.Exact.Z, z)
	}
	return out, nil
}

// exactNoise moves log σ by the mean of (e² + v)/σ² near each knot; prec is c/σ².
func exactNoise(sigma, noise, alpha, inverse, prec []float64, c float64) {
	Q, n := len(sigma), len(alpha)
	diagonal := make([]float64, n) // of M⁻¹ = L⁻ᵀL⁻¹
	for j, o := 0, 0; j < n; j++ {
		for i := range j + 1 {
			diagonal[i] += inverse[o+i] * inverse[o+i]
		}
		o += j + 1
	}
	squares, near := make([]float64, Q), make([]float64, Q)
	for i, s := range prec {
		if s == 0 {
			continue
		}
		e := alpha[i] / s
		v := math.Max(0, 1/s-diagonal[i]/(s*s))
		for q := range Q {
			squares[q] += noise[i*Q+q] * (e*e + v) * s / c
			near[q] += noise[i*Q+q]
		}
	}
	moveNoise(sigma, squares, near)
}
