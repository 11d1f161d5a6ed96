package priordynamics

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/priordynamics/paths"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// gather takes at most most windows of the flights, evenly spread, in which the nose of a body
// never points nearly straight up or down: angles that jump there would dominate the error.
func gather(flights []window.Flight, task window.Task, step float64, nodes, most int, b *priordynamics.Body) *paths.Paths {
	H := step * float64(nodes)
	windows := window.Cut(flights, H, H/40)
	stride, some := max(1, (len(windows)+most-1)/most), windows[:0]
	for i := 0; i < len(windows); i += stride {
		some = append(some, windows[i])
	}
	return paths.Of(b, flights, some, task, step, nodes)
}

// standardLift returns the states' lifting, with the dry friction of rates where that is asked for, standardised on all whole samples.
func standardLift(flights []window.Flight, states []channel.Channel, dry bool) channel.Lift {
	l := channel.NewLift(states)
	if dry {
		for k, width := range window.Rests(flights, states) {
			if width > 0 {
				l.AddFriction(k, width)
			}
		}
	}
	var all []float64
	for i := range flights {
		f := &flights[i]
		for j := range f.N() {
			if !slices.ContainsFunc(f.State(j), math.IsNaN) {
				all = append(all, f.State(j)...)
			}
		}
	}
	l.Standardise(all, len(states))
	return l
}
