package nets

import (
	"slices"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// Condition fits the posterior of a trained net to all windows, for one readout:
// the nets are frozen, the noise is estimated anew from residuals and posterior
// variance, because mini-batches fit their own rows too well and leave it too
// small:
//
//	σ² at a knot ← σ² · mean of (e² + v)/σ²(t) over the rows near it, a few times
//
// Where it comes to rest the likelihood's gradient by log σ is zero. (A mean of
// e² + v alone would put the noise of a whole interval on its knots, and the first
// of them, from which the sensor's variance is read, too high.)
//
// logSigma (K×Q) is where the noise starts from; nil = where training left it.
func Condition(net *Net, d Data, readout model.Readout, set Conditioning, logSigma []float64) (model.Posterior, error) {
	if logSigma == nil {
		logSigma = net.Params.LogSigma
	}
	logSigma = slices.Clone(logSigma)
	if net.Settings.Exact {
		return conditionExact(net, d, readout, set, logSigma)
	}
	return conditionFeatures(net, d, readout, set, logSigma)
}
