package objective

import "github.com/dgm-robotics/dgm/estimator/feature"

// Batch is the data of one step: n observations, and the support points at which
// derivatives are matched.
type Batch struct {
	Obs   *feature.Rows // n rows
	Y     []float64     // n×K targets in output units; NaN = not measured
	Base  []float64     // n×K, the part of the prior mean that is not learned
	Noise []float64     // n×Q, weights of the noise knots: log σ_i = Σ_q Noise_iq log σ_q
	C     float64       // c, the likelihood temperature times N/n

	Sup    *feature.Rows // support points; the same pointer as Obs where they are the observations
	SBase  []float64     // Ns×K, as Base
	SDBase []float64     // Ns×K, its derivative by standardised time
	Origin []float64     // Ns×K, state units
	U      []float64     // Ns×P, standardised input of the dynamics
	Match  float64       // weight of W; 0 leaves matching out
}

// NewBatch takes the memory for n observations and ns support points (0: the
// observations are the support).
func NewBatch(m *feature.Map, in *feature.Inputs, noiseKnots, n, ns int) *Batch {
	k, p := m.K, len(in.InputMean)
	b := &Batch{
		Obs: feature.NewRows(n, in, m.Basis), Y: make([]float64, n*k), Base: make([]float64, n*k),
		Noise: make([]float64, n*noiseKnots), C: 1,
	}
	b.Sup, b.SBase = b.Obs, b.Base
	if ns > 0 {
		b.Sup, b.SBase = feature.NewRows(ns, in, m.Basis), make([]float64, ns*k)
	} else {
		ns = n
	}
	b.SDBase, b.Origin, b.U = make([]float64, ns*k), make([]float64, ns*k), make([]float64, ns*p)
	return b
}
