package priordynamics

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// secondarySteps is the largest number of steps of the secondary linear model over a
// horizon.
const secondarySteps = 200

// secondaryShape returns the shape of the secondary linear model, which is blended into
// the prior dynamics: linear in the lifted state, fitted by regression alone, its step
// one or five samples, whichever has the smaller roll-out error. Shooting weighs a whole
// horizon; over its first few samples such a model is hard to beat.
func secondaryShape(flights []window.Flight, task window.Task, body priordynamics.Body) (Shape, error) {
	H, dt := task.Horizon, shortestInterval(flights)
	windows := window.Cut(flights, H, H/10)
	scale := rmsDisplacement(flights, windows, H)
	best, lowest := Shape{}, math.Inf(1)
	var last error
	for _, samples := range []float64{1, 5} {
		// Errors of hundreds of tiny steps add up, and the robot pays for each.
		shape := Shape{Step: math.Min(H, dt*math.Max(samples, math.Ceil(H/dt/secondarySteps))), Degree: 1, Ridge: 1e-9, Body: body}
		m, err := Regress(flights, task, shape)
		if err != nil {
			last = err
			continue
		}
		if score, n := rolloutError(m, flights, windows, H, scale); n > 0 && score < lowest {
			best, lowest = shape, score
		}
	}
	if math.IsInf(lowest, 1) {
		return Shape{}, last
	}
	return best, nil
}
