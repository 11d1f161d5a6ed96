package closedloop

import (
	"math"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/planning"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
)

// vehicle is what is flown, and how it is planned for.
type vehicle struct {
	plant    plant.Plant
	start    []float64 // K, standard deviation of the first state around X0
	substeps int       // of the integrator in a tick
	tilts    []int     // channels of angles that end a flight at 85 degrees
	config   func(rows int) planning.Config

	segments, samples int       // of the recording that it is trained on
	shake             []float64 // P, see drive.Shaken

	// Of flights through fields.
	along, across int       // channels of positions: flown along, and the other one of the plane of the discs
	velocity      int       // channel of the velocity along
	still         []float64 // K, the reference of all other channels
	middle        float64   // m, of the field across
	body          float64   // m, radius
	flights       int
	penalty       float64 // of the square of what a plan enters
	blind         int     // times of a prediction by whose end no plan moves the vehicle
	slack         float64 // m, that every planner keeps free: how far the way between two times of a prediction cuts into a disc at 2 m/s, and what the penalty lets in
}

// planar is the planar quadrotor as the benchmark flies it.
func planar() *vehicle {
	p := plant.PlanarQuadrotor()
	return &vehicle{
		plant: p, start: []float64{0.00116, 0.00364, 0.00250, 0.0102, 0.00241, 0.0239}, substeps: 1, tilts: []int{4},
		segments: 1, samples: 660,
		along: 0, across: 2, velocity: 1, still: p.X0, middle: 1, body: 0.06, flights: 200, penalty: 1e5, slack: 0.0035,
		// Weights of positions and velocities are those of the benchmark's cost; those of pitch, its
		// rate and the commands are not: with 0.05, 0.0001 and 3 the true model itself tracks with
		// 0.11 m, and its own planners use others. Bounds of thrust are those of its motors, those of
		// pitch 25 degrees.
		config: func(rows int) planning.Config {
			const pitch = 25 * math.Pi / 180
			return planning.Config{
				K: 6, P: 2, T: rows, R: rows,
				State: []float64{12, 0.1, 12, 0.1, 1e-4, 1e-4}, Input: []float64{0.2, 0.2},
				Rest: p.U0, Low: []float64{0.1126, -pitch}, High: []float64{0.5933, pitch},
			}
		},
	}
}

// flownQuadrotor is the quadrotor that is flown in three dimensions, commanded at 60 Hz like
// the planar one; obstacles are upright cylinders.
func flownQuadrotor() *vehicle {
	p := plant.QuadrotorFlown()
	p.Commands = 60
	return &vehicle{
		plant: p, start: make([]float64, 12), substeps: 4, tilts: []int{6, 7},
		segments: 8, samples: 1200, shake: []float64{0.02, 0.02, 0.02, 0.02},
		along: 9, across: 10, velocity: 0, still: p.X0, middle: 0, body: 0.15, flights: 200, penalty: 1e4, slack: 0.01, blind: 3,
		config: func(rows int) planning.Config {
			c := planning.Config{
				K: 12, P: 4, T: rows, R: rows,
				State: []float64{0.3, 0.3, 0.3, 0.03, 0.03, 0.03, 0.15, 0.15, 0.15, 1, 12, 12},
				Rest:  p.U0,
			}
			// Commands cost so much that plans stay near those of the training.
			for range 4 {
				c.Input, c.Low, c.High = append(c.Input, 20), append(c.Low, 0.05), append(c.High, 0.5)
			}
			return c
		},
	}
}
