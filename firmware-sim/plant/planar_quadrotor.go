package plant

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// PlanarQuadrotor is a small quadrotor in the vertical plane x, z whose attitude controller
// follows a commanded pitch, as it was identified for the attitude-tracking task of
// safe-control-gym (branch benchmark of middleyuan/safe-control-gym, quadrotor_2D_attitude_tracking.yaml,
// quad_type 4, physics dyn_si):
//
//	dvx/dt = a sin θ    dvz/dt = a cos θ − g    a = (β1 T + β2) m0/m
//	dω/dt  = α1 θ + α2 ω + α3 θc
//
// with the inputs collective thrust T and commanded pitch θc. m is the mass and m0 = 0.033 kg
// that of the identification, so a payload divides the acceleration of the rotors. It is
// commanded 60 times a second; white noise is added to what is commanded. Wind is an
// acceleration along x and z.
func PlanarQuadrotor() Plant {
	const b1, b2, a1, a2, a3, m, g = 0, 1, 2, 3, 4, 5, 6
	const m0 = 0.033
	const x, vx, z, vz, theta, omega = 0, 1, 2, 3, 4, 5
	rotors := func(u, p []float64) float64 { return (p[b1]*u[0] + p[b2]) * m0 / p[m] }
	return withNoise(Plant{
		Name: "planar-quadrotor",
		Text: "a quadrotor in the vertical plane with a pitch controller, 6 states, 2 inputs",
		States: []channel.Channel{
			derivative(position("x", ""), "vx"), state("vx", "m/s", ""),
			derivative(position("z", ""), "vz"), state("vz", "m/s", ""),
			derivative(state("theta", "rad", ""), "omega"), state("omega", "rad/s", ""),
		},
		Inputs: []channel.Channel{input("thrust", "N"), input("pitch", "rad")},
		Params: []Param{
			{"beta1", "m/(N·s²)", 17.7903}, {"beta2", "m/s²", 4.2209},
			{"alpha1", "1/s²", -149.740766}, {"alpha2", "1/s", -16.755920}, {"alpha3", "1/s²", 129.041538},
			{"m", "kg", m0}, {"g", "m/s²", 9.8},
		},
		Noise:      []float64{1.05e-5, 4.38e-4, 1.29e-5, 5.37e-4, 1.13e-3, 4.34e-2},
		InputNoise: []float64{0.03116, 0.03450},
		Commands:   60,
		Duration:   11,
		X0:         []float64{0, 0, 1, 0, 0, 0},
		Low:        []float64{-0.5, -0.5, 0.7, -0.5, -0.1, -0.5},
		High:       []float64{0.5, 0.5, 1.3, 0.5, 0.1, 0.5},
		U0:         []float64{(9.8 - 4.2209) / 17.7903, 0}, // hovering
		Mass:       "m",
		F: func(dst, s, u, p []float64) {
			sin, cos := math.Sincos(s[theta])
			a := rotors(u, p)
			dst[x], dst[vx] = s[vx], a*sin
			dst[z], dst[vz] = s[vz], a*cos-p[g]
			dst[theta], dst[omega] = s[omega], p[a1]*s[theta]+p[a2]*s[omega]+p[a3]*u[1]
		},
		VJP: func(dx, du, dp, s, u, p, adj []float64) {
			sin, cos := math.Sincos(s[theta])
			a := rotors(u, p)
			along := adj[vx]*sin + adj[vz]*cos // ∂/∂a
			if dx != nil {
				dx[vx] += adj[x]
				dx[vz] += adj[z]
				dx[theta] += a*(adj[vx]*cos-adj[vz]*sin) + p[a1]*adj[omega]
				dx[omega] += adj[theta] + p[a2]*adj[omega]
			}
			if du != nil {
				du[0] += along * p[b1] * m0 / p[m]
				du[1] += p[a3] * adj[omega]
			}
			if dp != nil {
				dp[b1] += along * u[0] * m0 / p[m]
				dp[b2] += along * m0 / p[m]
				dp[a1] += adj[omega] * s[theta]
				dp[a2] += adj[omega] * s[omega]
				dp[a3] += adj[omega] * u[1]
				dp[m] -= along * a / p[m]
				dp[g] -= adj[vz]
			}
		},
		Disturbances: []Param{{Name: "ax", Unit: "m/s²"}, {Name: "az", Unit: "m/s²"}},
		Push: func(dst, _, d, _ []float64) {
			dst[vx] += d[0]
			dst[vz] += d[1]
		},
	})
}
