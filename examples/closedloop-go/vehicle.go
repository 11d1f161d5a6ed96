package main

import (
	"math"

	"github.com/dgm-robotics/dgm/examples/mpc-go/planning"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
)

// vehicle is the planar quadrotor as the benchmark flies it: channels 0 and 2 are its position, 4 its pitch.
var vehicle = plant.PlanarQuadrotor()

// starts are the standard deviations of the first state around that at rest.
var starts = []float64{0.00116, 0.00364, 0.00250, 0.0102, 0.00241, 0.0239}

// config is what is planned in so many rows. Weights of positions and velocities are those of the benchmark's cost;
// those of pitch, its rate and the commands are not: with 0.05, 0.0001 and 3 the true model itself tracks with 0.11 m,
// and its own planners use others. Bounds of thrust are those of its motors, those of pitch 25 degrees.
func config(rows int) planning.Config {
	const pitch = 25 * math.Pi / 180
	return planning.Config{
		K: 6, P: 2, T: rows, R: rows,
		State: []float64{12, 0.1, 12, 0.1, 1e-4, 1e-4}, Input: []float64{0.2, 0.2},
		Rest: vehicle.U0, Low: []float64{0.1126, -pitch}, High: []float64{0.5933, pitch},
	}
}
