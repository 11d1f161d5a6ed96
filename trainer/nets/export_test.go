package nets

import (
	"slices"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// ConditionUnkept is Condition with rows that are made again by every pass.
func ConditionUnkept(net *Net, d Data, readout model.Readout, set Conditioning) (model.Posterior, error) {
	c := newConditioner(net, d, readout, set, slices.Clone(net.Params.LogSigma))
	c.pieces = nil
	return c.posterior()
}
