package closedloop

import (
	"math"
	"time"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/planning"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
)

// swingUp is the scenario of the pendulum, whose motor gives less than the weight at its arm.
const swingUp = "swing-up"

// The swing-up: a flight has so long, s, and succeeds if the rod is within upright, rad, for the last
// of it.
const (
	swingTime = 10.0
	swingHeld = 2.0
	upright   = 0.3
)

// Outputs of the pendulum that its cost is of: energy over that of the top, −1 hanging at rest and 0 on
// the way to the top; the cosine of half the angle, 0 at the top; the rate near the top.
const (
	energy = iota
	half
	rate
	swingOutputs
)

// pendulum is the pendulum with a torque of at most 1.6 N·m, of the 2.45 that would hold it up.
func pendulum() *vehicle {
	p := plant.Pendulum()
	p.Commands = 60
	return &vehicle{
		plant: p, start: []float64{0.1, 0.1}, substeps: 1, segments: 1, samples: 660, flights: 20,
		config: func(rows int) planning.Config {
			return planning.Config{
				K: swingOutputs, P: 1, T: rows, R: rows,
				State: []float64{1, 0.3, 1e-3}, Input: []float64{1e-3}, Rest: p.U0, Low: []float64{-1.6}, High: []float64{1.6},
				Steps: 2,
			}
		},
	}
}

// swinging gives predictions of the pendulum as the outputs of its cost.
type swinging struct {
	predictor
	plant plant.Plant
	state planning.Prediction // T×2
}

// predict is a planning.Model whose states are the outputs.
func (s *swinging) predict(t int64) planning.Model {
	m := s.predictor.predict(t)
	g, l := s.plant.Params[0].Value, s.plant.Params[2].Value
	return func(dst *planning.Prediction, x, plan []float64) bool {
		T, n := len(dst.Mean)/swingOutputs, len(plan)
		if s.state.Mean == nil {
			s.state = planning.Prediction{Mean: make([]float64, 2*T), Std: make([]float64, 2*T), ByPlan: make([]float64, 2*T*n)}
		}
		d := s.state
		if len(dst.ByPlan) == 0 {
			d.ByPlan = nil
		}
		if !m(&d, x, plan) {
			return false
		}
		for t := range T {
			theta, omega := d.Mean[2*t], d.Mean[2*t+1]
			sin, cos := math.Sincos(theta / 2)
			out := dst.Mean[t*swingOutputs:]
			out[energy] = omega*omega*l/(4*g) - cos*cos
			out[half] = cos
			out[rate] = omega * sin * sin
			for i := range len(dst.ByPlan) / (T * swingOutputs) {
				byTheta, byOmega := d.ByPlan[2*t*n+i], d.ByPlan[(2*t+1)*n+i]
				to := dst.ByPlan[t*swingOutputs*n+i:]
				to[energy*n] = omega*l/(2*g)*byOmega + sin*cos*byTheta
				to[half*n] = -sin / 2 * byTheta
				to[rate*n] = sin*sin*byOmega + omega*sin*cos*byTheta
			}
		}
		return true
	}
}

// swing brings the pendulum up from hanging. late is when it was last not upright, s; held is the root
// of the mean square angle from the top in the last seconds.
func swing(v *vehicle, c *planner, seed uint64) (late, held float64, solves []time.Duration) {
	f := newFlight(v, seed)
	still := make([]float64, rows*swingOutputs)
	for float64(f.steps)*tick < swingTime {
		f.under(c, still)
		now := float64(f.steps) * tick
		angle := math.Remainder(f.x[0]-math.Pi, 2*math.Pi)
		if math.Abs(angle) > upright {
			late = now
		}
		if now > swingTime-swingHeld {
			held += square(angle) * tick / swingHeld
		}
	}
	return late, math.Sqrt(held), f.solves
}
