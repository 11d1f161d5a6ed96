package plant

import "github.com/dgm-robotics/dgm/estimator/channel"

// LotkaVolterra is the paper's predator-prey system,
//
//	dx/dt = αx − βxy      dy/dt = δxy − γy
//
// with initial conditions as in LV 1 (the default) and LV 100 (the box).
func LotkaVolterra() Plant {
	return withNoise(Plant{
		Name:   "lotka-volterra",
		Text:   "predator and prey, 2 states, no inputs (the paper's)",
		States: []channel.Channel{state("x", "", ""), state("y", "", "")},
		Params: []Param{
			{"alpha", "1/s", 1}, {"beta", "1/s", 1}, {"gamma", "1/s", 1}, {"delta", "1/s", 1},
		},
		Noise:    []float64{0.1, 0.1},
		Duration: 10,
		X0:       []float64{1, 2},
		Low:      []float64{0.5, 0.5},
		High:     []float64{1.5, 1.5},
		F: func(dst, x, _, p []float64) {
			xy := x[0] * x[1]
			dst[0] = p[0]*x[0] - p[1]*xy
			dst[1] = p[3]*xy - p[2]*x[1]
		},
		VJP: func(dx, _, dp, x, _, p, g []float64) {
			xy := x[0] * x[1]
			gxy := p[3]*g[1] - p[1]*g[0] // adjoint of the product xy
			if dx != nil {
				dx[0] += p[0]*g[0] + gxy*x[1]
				dx[1] += -p[2]*g[1] + gxy*x[0]
			}
			if dp != nil {
				dp[0] += x[0] * g[0]
				dp[1] -= xy * g[0]
				dp[2] -= x[1] * g[1]
				dp[3] += xy * g[1]
			}
		},
	})
}
