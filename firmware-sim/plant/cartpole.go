package plant

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Cartpole is a cart of mass M, pushed by a force F, that carries a mass m on a
// massless pole of length l; θ = 0 stands upright, θ > 0 leans towards +x:
//
//	(M + m) dv/dt + m l (dω/dt cos θ − ω² sin θ) = F − c v
//	m l² dω/dt + m l dv/dt cos θ − m g l sin θ   = −b ω
//
// c is the cart's friction, b the joint's. Wind is a horizontal force on m.
func Cartpole() Plant {
	return withNoise(Plant{
		Name: "cartpole",
		Text: "a cart that balances a pole, 4 states, 1 input",
		States: []channel.Channel{
			derivative(position("pos", ""), "vel"), state("vel", "m/s", ""),
			derivative(angle("theta"), "omega"), state("omega", "rad/s", ""),
		},
		Inputs: []channel.Channel{input("force", "N")},
		Params: []Param{
			{"g", "m/s²", 9.81}, {"M", "kg", 1}, {"m", "kg", 0.2}, {"l", "m", 0.5},
			{"c", "N·s/m", 0.1}, {"b", "N·m·s", 0.005},
		},
		Noise:    []float64{0.005, 0.02, 0.005, 0.03},
		Duration: 60,
		X0:       []float64{0, 0, 0.05, 0},
		Low:      []float64{-0.3, -0.1, -0.1, -0.2},
		High:     []float64{0.3, 0.1, 0.1, 0.2},
		U0:       []float64{0},
		F:        cartpole,
		VJP:      cartpoleVJP,

		Disturbances: []Param{{Name: "force", Unit: "N"}},
		Push: func(dst, x, d, p []float64) {
			M, m, l := p[1], p[2], p[3]
			s, c := math.Sincos(x[2])
			acc := d[0] * s * s / (M + m*s*s)
			dst[1] += acc
			dst[3] += (d[0]/m - acc) * c / l
		},
	})
}

// cartpole solves the two equations of motion for dv/dt, then dω/dt.
func cartpole(dst, x, u, p []float64) {
	g, M, m, l, fr, b := p[0], p[1], p[2], p[3], p[4], p[5]
	v, w := x[1], x[3]
	s, c := math.Sincos(x[2])
	push := u[0] - fr*v + m*l*w*w*s - m*g*s*c + b*w*c/l
	acc := push / (M + m*s*s)
	dst[0] = v
	dst[1] = acc
	dst[2] = w
	dst[3] = (g*s-acc*c)/l - b*w/(m*l*l)
}

func cartpoleVJP(dx, du, dp, x, u, p, a []float64) {
	g, M, m, l, fr, b := p[0], p[1], p[2], p[3], p[4], p[5]
	v, w := x[1], x[3]
	s, c := math.Sincos(x[2])
	mass := M + m*s*s
	acc := (u[0] - fr*v + m*l*w*w*s - m*g*s*c + b*w*c/l) / mass
	joint := 1 / (m * l * l)

	accBar := a[1] - a[3]*c/l
	pushBar := accBar / mass
	massBar := -pushBar * acc
	if dx != nil {
		dx[1] += a[0] - fr*pushBar
		dx[2] += pushBar*(m*l*w*w*c-m*g*(c*c-s*s)-b*w*s/l) + massBar*2*m*s*c + a[3]*(g*c+acc*s)/l
		dx[3] += a[2] + pushBar*(2*m*l*w*s+b*c/l) - a[3]*b*joint
	}
	if du != nil {
		du[0] += pushBar
	}
	if dp != nil {
		dp[0] += -pushBar*m*s*c + a[3]*s/l
		dp[1] += massBar
		dp[2] += pushBar*(l*w*w*s-g*s*c) + massBar*s*s + a[3]*b*w*joint/m
		dp[3] += pushBar*(m*w*w*s-b*w*c/(l*l)) + a[3]*(-(g*s-acc*c)/(l*l)+2*b*w*joint/l)
		dp[4] -= pushBar * v
		dp[5] += pushBar*w*c/l - a[3]*w*joint
	}
}
