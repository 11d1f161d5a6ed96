package plant

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Pendulum is a damped pendulum with a motor at its pivot,
//
//	m l² dω/dt = τ − b ω − m g l sin θ
//
// θ = 0 hangs down. Wind is a torque on the pivot.
func Pendulum() Plant {
	const g, m, l, b = 0, 1, 2, 3
	return withNoise(Plant{
		Name:     "pendulum",
		Text:     "one rod driven by a torque, 2 states, 1 input",
		States:   []channel.Channel{derivative(angle("theta"), "omega"), state("omega", "rad/s", "")},
		Inputs:   []channel.Channel{input("torque", "N·m")},
		Params:   []Param{{"g", "m/s²", 9.81}, {"m", "kg", 0.5}, {"l", "m", 0.5}, {"b", "N·m·s", 0.1}},
		Noise:    []float64{0.01, 0.05},
		Duration: 60,
		X0:       []float64{0, 0},
		Low:      []float64{-1, -2},
		High:     []float64{1, 2},
		U0:       []float64{0},
		Mass:     "m",
		F: func(dst, x, u, p []float64) {
			dst[0] = x[1]
			dst[1] = (u[0]-p[b]*x[1])/(p[m]*p[l]*p[l]) - p[g]/p[l]*math.Sin(x[0])
		},
		VJP: func(dx, du, dp, x, u, p, a []float64) {
			s, c := math.Sincos(x[0])
			inertia := p[m] * p[l] * p[l]
			if dx != nil {
				dx[0] -= p[g] / p[l] * c * a[1]
				dx[1] += a[0] - p[b]/inertia*a[1]
			}
			if du != nil {
				du[0] += a[1] / inertia
			}
			if dp != nil {
				drive := (u[0] - p[b]*x[1]) / inertia
				dp[g] -= s / p[l] * a[1]
				dp[m] -= drive / p[m] * a[1]
				dp[l] += (p[g]*s/p[l] - 2*drive) / p[l] * a[1]
				dp[b] -= x[1] / inertia * a[1]
			}
		},
		Disturbances: []Param{{Name: "torque", Unit: "N·m"}},
		Push: func(dst, _, d, p []float64) {
			dst[1] += d[0] / (p[m] * p[l] * p[l])
		},
	})
}
