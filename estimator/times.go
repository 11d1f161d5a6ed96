package estimator

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// checkTimes returns the times to predict at, the model's own for nil; an error if
// the model cannot predict there, or not in the memory that a robot has.
func checkTimes(m *model.Model, times []float64) ([]float64, error) {
	if times == nil {
		times = make([]float64, m.Points)
		for i := range times {
			times[i] = m.Horizon * float64(i+1) / float64(m.Points)
		}
	}
	if len(times) == 0 {
		return nil, fmt.Errorf("no times to predict at")
	}
	for i, t := range times {
		if !finite(t) {
			return nil, fmt.Errorf("time %d is %g s; times must be finite", i, t)
		}
		if !(t > 0 && t <= m.Horizon*(1+1e-9)) && m.Displacement {
			return nil, fmt.Errorf("time %d is %g s, outside the model's horizon (0, %g] s", i, t, m.Horizon)
		}
	}
	return times, affordable(m, len(times))
}
