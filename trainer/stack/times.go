package stack

import "github.com/dgm-robotics/dgm/trainer/window"

// taus are the horizons, as shares of H, at which candidates are compared, or the samples next to them: dense where they
// differ.
var taus = []float64{0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1}

// times returns the horizons at which candidates are compared on flights, s.
func (t *Task) times(flights []window.Flight) (out []float64) {
	for _, tau := range taus {
		out = append(out, tau*t.Horizon)
	}
	return window.AtSamples(out, t.Horizon, flights)
}
