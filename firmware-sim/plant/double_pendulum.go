package plant

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// DoublePendulum is the paper's: two equal uniform rods, angles from the
// vertical and canonical momenta,
//
//	dθ1/dt = 6/(ml²) (2 p1 − 3 cos(θ1−θ2) p2) / (16 − 9 cos²(θ1−θ2))
//	dθ2/dt = 6/(ml²) (8 p2 − 3 cos(θ1−θ2) p1) / (16 − 9 cos²(θ1−θ2))
//	dp1/dt = −½ml² ( θ̇1 θ̇2 sin(θ1−θ2) + 3 g/l sin θ1)
//	dp2/dt = −½ml² (−θ̇1 θ̇2 sin(θ1−θ2) +   g/l sin θ2)
//
// with initial conditions as in DP 1 and the test set of DP 100.
func DoublePendulum() Plant {
	turn := math.Pi // a variable: the doubles of turn/6 are those of the paper's code
	return withNoise(Plant{
		Name: "double-pendulum",
		Text: "two rods, 4 states, no inputs (the paper's)",
		States: []channel.Channel{
			angle("theta1"), angle("theta2"),
			state("p1", "kg·m²/s", ""), state("p2", "kg·m²/s", ""),
		},
		Params:   []Param{{"g", "m/s²", 9.81}, {"m", "kg", 1}, {"l", "m", 1}},
		Noise:    []float64{0.1, 0.1, 0.1, 0.1},
		Duration: 1,
		X0:       []float64{-turn / 6, -turn / 6, 0, 0},
		Low:      []float64{-turn / 6, -turn / 6, 0, 0},
		High:     []float64{turn / 6, turn / 6, 0, 0},
		F:        doublePendulum,
		VJP:      doublePendulumVJP,
	})
}

func doublePendulum(dst, x, _, p []float64) {
	g, m, l := p[0], p[1], p[2]
	s, c := math.Sincos(x[0] - x[1])
	k := 6 / (m * l * l) / (16 - 9*c*c)
	w1 := k * (2*x[2] - 3*c*x[3])
	w2 := k * (8*x[3] - 3*c*x[2])
	h := 0.5 * m * l * l
	dst[0] = w1
	dst[1] = w2
	dst[2] = -h * (w1*w2*s + 3*g/l*math.Sin(x[0]))
	dst[3] = -h * (-w1*w2*s + g/l*math.Sin(x[1]))
}

// doublePendulumVJP is the reverse mode of doublePendulum; xxBar is the adjoint
// of xx.
func doublePendulumVJP(dx, _, dp, x, _, p, a []float64) {
	g, m, l := p[0], p[1], p[2]
	s, c := math.Sincos(x[0] - x[1])
	s1, c1 := math.Sincos(x[0])
	s2, c2 := math.Sincos(x[1])
	den := 16 - 9*c*c
	k := 6 / (m * l * l) / den
	w1 := k * (2*x[2] - 3*c*x[3])
	w2 := k * (8*x[3] - 3*c*x[2])
	h := 0.5 * m * l * l

	coupling := h * (a[3] - a[2]) // of w1 w2 s
	w1Bar := a[0] + coupling*w2*s
	w2Bar := a[1] + coupling*w1*s
	kBar := w1Bar*w1 + w2Bar*w2 // times k
	if dx != nil {
		n1, n2 := k*w1Bar, k*w2Bar // of the two numerators
		denBar := -kBar / den
		cBar := -3*x[3]*n1 - 3*x[2]*n2 - 18*c*denBar
		diff := -s*cBar + c*coupling*w1*w2
		dx[0] += diff - a[2]*h*3*g/l*c1
		dx[1] += -diff - a[3]*h*g/l*c2
		dx[2] += 2*n1 - 3*c*n2
		dx[3] += 8*n2 - 3*c*n1
	}
	if dp != nil {
		hBar := w1 * w2 * s * (a[3] - a[2])
		weight := -1.5*s1*a[2] - 0.5*s2*a[3] // of m g l
		dp[0] += weight * m * l
		dp[1] += -kBar/m + hBar*h/m + weight*g*l
		dp[2] += -2*kBar/l + hBar*2*h/l + weight*g*m
	}
}
