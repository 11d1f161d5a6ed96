package priordynamics

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Plain returns a linear difference equation, regressed alone: what adaptation changes where the
// prior dynamics have none. Its step is a tenth of the horizon.
func Plain(flights []window.Flight, task window.Task, body priordynamics.Body) (*priordynamics.Model, error) {
	dt := window.ShortestInterval(flights)
	return Regress(flights, task, Shape{Step: math.Max(1, math.Round(task.Horizon/10/dt)) * dt, Degree: 1, Ridge: 1e-5, Body: body})
}

// Rates returns the rms rate of each of K states under a difference equation at the starts of
// windows, state units per second: the unit of what adaptation adds.
func Rates(e *priordynamics.Model, K int, flights []window.Flight, windows []window.Window) []float64 {
	field, rate, out := priordynamics.NewField(e, K), make([]float64, K), make([]float64, K)
	for _, w := range windows {
		f := &flights[w.Flight]
		field.At(rate, f.State(w.Start), f.Input(w.Start))
		for k, v := range rate {
			out[k] += v * v / float64(len(windows))
		}
	}
	for k, v := range out {
		out[k] = math.Sqrt(v)
	}
	return out
}
