package plant

import "github.com/dgm-robotics/dgm/estimator/channel"

// Lorenz is the paper's chaotic system,
//
//	dx/dt = σ(y − x)      dy/dt = x(ρ − z) − y      dz/dt = xy − τz
//
// (the paper's text has τy in the last equation; z is Lorenz's, and what its
// figures show), with initial conditions as in LO 1 and LO 125.
func Lorenz() Plant {
	return withNoise(Plant{
		Name:     "lorenz",
		Text:     "chaotic convection, 3 states, no inputs (the paper's)",
		States:   []channel.Channel{state("x", "", ""), state("y", "", ""), state("z", "", "")},
		Params:   []Param{{"sigma", "1/s", 10}, {"rho", "", 28}, {"tau", "1/s", 8. / 3}},
		Noise:    []float64{1, 1, 1},
		Duration: 1,
		X0:       []float64{-2.5, 2.5, 2.5},
		Low:      []float64{-5, -5, -5},
		High:     []float64{5, 5, 5},
		F: func(dst, x, _, p []float64) {
			dst[0] = p[0] * (x[1] - x[0])
			dst[1] = x[0]*(p[1]-x[2]) - x[1]
			dst[2] = x[0]*x[1] - p[2]*x[2]
		},
		VJP: func(dx, _, dp, x, _, p, g []float64) {
			if dx != nil {
				dx[0] += -p[0]*g[0] + (p[1]-x[2])*g[1] + x[1]*g[2]
				dx[1] += p[0]*g[0] - g[1] + x[0]*g[2]
				dx[2] += -x[0]*g[1] - p[2]*g[2]
			}
			if dp != nil {
				dp[0] += (x[1] - x[0]) * g[0]
				dp[1] += x[0] * g[1]
				dp[2] -= x[2] * g[2]
			}
		},
	})
}
