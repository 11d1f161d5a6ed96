package paper

import (
	"errors"
	"math"
)

// Bounds by which a fit has collapsed. Matching has a trivial solution: a flat smoother under
// large noise, whose derivative every dynamics explains. A fit that falls into it gives up most
// of the likelihood that it had before: its data term is above the lowest on its way by more
// than collapse, nats per scalar measurement. One that was never out of it has noise of the
// standard deviation of the data: the mean over channels of its logarithm, standardised, is
// above −explained.
const (
	collapse  = 0.3
	explained = 0.05
)

// reruns is how often a fit that collapsed is run again from another start.
const reruns = 2

var errCollapsed = errors.New("the fit collapsed from every start: the smoother is flat and the noise explains the data; lower the weight of the matching (Lambda), begin it later (From), take more steps or give more data")

// collapsed reports whether the fit is the trivial solution.
func (f *Fit) collapsed() bool {
	b, K, n, noise := f.batch, f.Params.Map.K, 0.0, 0.0
	for _, y := range b.Y[:b.Obs.N*K] {
		if !math.IsNaN(y) {
			n++ // scalar measurements
		}
	}
	for k := range K {
		noise += f.Params.LogSigma[k*noiseKnots] / float64(K)
	}
	return f.Parts.Data > f.Least+collapse*n || noise > -explained
}
