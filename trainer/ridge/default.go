package ridge

import (
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// fine is the number of rows of one sample each, few that of the least history that is read.
const fine, few = 5, 2

// Default describes the fit of a model's direct map to flights: times that are dense where
// predictions change fastest, and rows of history that grow longer backwards, up to most of
// the horizon. On eight flights of a small quadrotor these had 0.93 of the error of five rows of
// one sample, as 25 such rows had 0.95 of it; ten parts of the plan instead of five another
// 0.99.
func Default(flights []window.Flight, task window.Task, readouts int) Config {
	H, interval := task.Horizon, window.Interval(flights)
	c := Config{Blocks: 10, Shorter: 2, Sharpness: 8, Products: 32, Stride: H / 50, Windows: 8000}
	for _, tau := range []float64{0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1} {
		if t := tau * H; t > 0.5*interval {
			c.Times = append(c.Times, t)
		}
	}
	for r := range model.Readout(readouts) {
		c.Readouts = append(c.Readouts, r)
	}
	var edges []float64
	for j := range fine {
		edges = append(edges, float64(j+1)*interval)
	}
	c.Rows = []int{few, fine}
	for e := 2 * fine * interval; e <= 0.8*H; e *= 2 {
		edges = append(edges, e)
	}
	if len(edges) > fine {
		c.Rows = append(c.Rows, len(edges))
	}
	c.History = history.Spec{Edges: edges}
	return c
}
