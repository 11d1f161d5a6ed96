package estimator

import (
	"math"
	"slices"
)

// score sets Distance and the out-of-distribution score of a query: the largest of the
// distance of the start from the training states, the distance of the input from its
// range, the leverage of state, history and plan, and posterior over prior variance at the last of the predicted times, each over
// the value at which held-out data begin to be out of distribution. The predicted states
// do not enter: predictions stay near what was learned.
func (p *Predictor) score(dst *Prediction) {
	m, r := p.m, &p.m.OOD
	dst.Distance, dst.InputScore, dst.OOD = 0, 0, 0
	if len(r.Points) > 0 {
		r.Whiten(p.white, p.x0)
		if !slices.Equal(p.white, p.nearest) { // plans of one start have one distance
			copy(p.nearest, p.white)
			p.distance = r.Nearest(p.white)
		}
		dst.Distance = p.distance
		if r.Distance > 0 {
			dst.OOD = dst.Distance / r.Distance
		}
	}
	if int(dst.Readout) < len(r.Low) {
		block := m.Horizon / float64(max(1, m.Inputs.Knots))
		for j := range max(1, m.Inputs.Knots) {
			p.plan.Mean(p.scratch, float64(j)*block, float64(j+1)*block)
			dst.InputScore = math.Max(dst.InputScore, r.InputScore(p.scratch, int(dst.Readout)))
		}
		dst.OOD = math.Max(dst.OOD, dst.InputScore/math.Max(r.Input, 1))
	}
	if r.Leverage > 0 {
		dst.OOD = math.Max(dst.OOD, dst.Leverage/r.Leverage)
	}
	if r.Variance > 0 {
		ratio := p.ratio / float64(p.variances*m.K)
		dst.OOD = math.Max(dst.OOD, ratio/r.Variance)
	}
	dst.OutOfDistribution = dst.OOD > 1
}

// startRMS prepares Motion, by the base that was started last.
func (p *Predictor) startRMS(dst *Prediction) {
	if len(dst.RMSRatio) == 0 {
		return
	}
	displacement := p.dmean[:p.m.K] // as scratch
	for q, tau := range p.m.NoiseKnots {
		p.prior.At(displacement, nil, tau*p.m.Horizon)
		p.rms.Knot(q, displacement)
	}
}

// intervalFactor returns the factor of all intervals at time i, by distance and running
// RMS displacement, and sets RMSRatio there; displacement (K, state units) is that of the
// prior dynamics. Held-out data do not show how errors grow out of distribution:
// intervals of models with an OOD exponent grow with the root of the score there.
func (p *Predictor) intervalFactor(dst *Prediction, i int, displacement []float64) float64 {
	factor := 1.0
	if len(dst.RMSRatio) > 0 {
		dst.RMSRatio[i] = p.rms.Ratio(p.times[i]/p.m.Horizon, displacement)
		factor = p.m.RMSDisplacement.Factor(dst.RMSRatio[i], int(dst.Readout))
	}
	if int(dst.Readout) < len(p.m.OODExponent) {
		factor *= p.m.OOD.DistanceFactor(dst.Distance, p.m.OODExponent[dst.Readout])
		factor *= math.Min(math.Sqrt(math.Max(dst.OOD, 1)), maxOODFactor)
	}
	return factor
}

// maxOODFactor bounds the growth of intervals with the score.
const maxOODFactor = 10
