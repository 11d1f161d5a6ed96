package priordynamics

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Companion returns the shape of the plain equation that is blended into the
// chosen one: linear in the lifted state, fitted by regression alone, its step one
// or five samples, whichever follows the flights better. Shooting weighs a whole
// horizon; over its first few samples such an equation is hard to beat.
func Companion(flights []window.Flight, states []channel.Channel, body priordynamics.Body, p int, H float64) (Shape, error) {
	dt := sampling(flights)
	windows := window.Cut(flights, H, H/10)
	scale := moves(flights, windows, H)
	best, lowest := Shape{}, math.Inf(1)
	var last error
	for _, samples := range []float64{1, 5} {
		// Errors of hundreds of tiny steps add up, and the robot pays for each.
		shape := Shape{Step: math.Min(H, dt*math.Max(samples, math.Ceil(H/dt/companionSteps))), Degree: 1, Ridge: 1e-9, Body: body}
		m, err := regress(flights, states, p, shape)
		if err != nil {
			last = err
			continue
		}
		if score, n := follow(m, flights, windows, H, scale); n > 0 && score < lowest {
			best, lowest = shape, score
		}
	}
	if math.IsInf(lowest, 1) {
		return Shape{}, last
	}
	return best, nil
}

// companionSteps is the largest number of steps that a companion makes over a
// horizon.
const companionSteps = 200

// FitCompanion fits a companion by regression.
func FitCompanion(flights []window.Flight, states []channel.Channel, p int, shape Shape) (*priordynamics.Model, error) {
	return regress(flights, states, p, shape)
}

// sampling returns the shortest mean interval between samples of the flights, s.
func sampling(flights []window.Flight) float64 {
	dt := math.Inf(1)
	for i := range flights {
		dt = math.Min(dt, flights[i].Duration()/float64(flights[i].N()-1))
	}
	return dt
}
