package estimation

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/filter"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/plot"
	"github.com/dgm-robotics/dgm/trainer/score"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Charts draws what a filter makes of the rates of a flight that Apply returned, from a time after its first sample on for
// so many seconds: the estimate with its intervals, beside the slope from sample to sample of what was measured.
func Charts(f *window.Flight, spec *model.Filter, states []channel.Channel, from, seconds float64) ([]plot.Chart, error) {
	K := len(states)
	all, p := make([]plot.Prediction, len(spec.Chains)), make([]float64, K*K)
	last := make([]int, len(spec.Chains))
	err := again(f, spec, states, func(i int, k *filter.Filter, y []float64) bool {
		k.Covariance(p)
		for j, c := range spec.Chains {
			before := last[j]
			if !math.IsNaN(y[c.Position]) {
				last[j] = i
			}
			if f.T[i] < from || !k.Settled() {
				continue
			}
			x, std, at := k.Estimate()[c.Rate], math.Sqrt(p[c.Rate*K+c.Rate]), &all[j]
			at.T, at.Mean = append(at.T, f.InSegment(i)), append(at.Mean, x)
			at.Lo50, at.Hi50 = append(at.Lo50, x-score.Z50*std), append(at.Hi50, x+score.Z50*std)
			at.Lo95, at.Hi95 = append(at.Lo95, x-score.Z95*std), append(at.Hi95, x+score.Z95*std)
			if slope := (y[c.Position] - f.Y[before*K+c.Position]) / (f.T[i] - f.T[before]); before < i && !math.IsNaN(slope) {
				at.At, at.Measured = append(at.At, f.InSegment(i)), append(at.Measured, slope)
			}
		}
		return f.T[i] <= from+seconds
	})
	if err != nil {
		return nil, err
	}
	var out []plot.Chart
	for j, c := range spec.Chains {
		at := &all[j]
		at.Channel, at.Unit, at.XLabel, at.MeasuredName = states[c.Rate].Name, states[c.Rate].Unit, "time in the segment, s", "slope of "+states[c.Position].Name
		at.Description = states[c.Rate].Name + " as the filter estimates it, with intervals of 50 and 95 %, and the slope from sample to sample of what was measured."
		out = append(out, at.Chart())
	}
	return out, nil
}
