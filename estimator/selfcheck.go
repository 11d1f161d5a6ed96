package estimator

import (
	"fmt"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// checkTolerance is how far a self-check may be off, in standard deviations: the
// order of a sum and fused multiply-adds differ between processors, nothing else
// may.
const checkTolerance = 1e-6

// selfCheck predicts what the model file says was predicted when it was made.
func selfCheck(m *model.Model) error {
	var p *Predictor
	for i := range m.Checks {
		c := &m.Checks[i]
		if p == nil || !slices.Equal(p.times, c.Times) {
			p = build(m, c.Times)
		}
		got := p.NewPrediction()
		q := Query{X0: c.X0, U: c.U}
		if c.Readout == Plan && m.P > 0 {
			q.Plan = c.Plan
		}
		if !p.Predict(got, &q) {
			return fmt.Errorf("self-check %d of the model: the prediction is not finite; train again", i)
		}
		for j := range c.Mean {
			for _, v := range [...]struct {
				what      string
				got, want float64
			}{{"mean", got.Mean[j], c.Mean[j]}, {"std", got.Std[j], c.Std[j]}, {"obs_std", got.ObsStd[j], c.ObsStd[j]}} {
				if math.Abs(v.got-v.want) > checkTolerance*c.ObsStd[j]+1e-12*math.Abs(v.want) {
					return fmt.Errorf("self-check %d of the model: %s of channel %q at %g s is %g, and was %g where it was trained: this program does not evaluate the model as its trainer did",
						i, v.what, m.Channels[j%m.K].Name, c.Times[j/m.K], v.got, v.want)
				}
			}
		}
	}
	return nil
}
