package priordynamics

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// shots are windows in the form that shooting needs: measured states at the
// nodes of the difference equation and the mean input of every step.
type shots struct {
	n, nodes, k, p int
	x0             []float64 // n×K
	y              []float64 // n×nodes×K, displacement from x0
	u              []float64 // n×nodes×P
	hold           []float64 // nodes×K, rms displacement
}

// gather takes at most most windows of the flights, evenly spread, with every
// state measured at every node, and no node at which the nose of the body b (may be
// nil) points nearly straight up or down: angles that jump there would dominate the error.
func gather(flights []window.Flight, task window.Task, step float64, nodes, most int, b *priordynamics.Body) *shots {
	k, p := len(task.States), task.Inputs
	H := step * float64(nodes)
	windows := window.Cut(flights, H, H/40)
	stride := max(1, (len(windows)+most-1)/most)
	s := &shots{nodes: nodes, k: k, p: p, hold: make([]float64, nodes*k)}
	state, mean := make([]float64, k), make([]float64, p)
	for i := 0; i < len(windows); i += stride {
		w := windows[i]
		f := &flights[w.Flight]
		x0, t0 := f.State(w.Start), f.T[w.Start]
		y, u := make([]float64, 0, nodes*k), make([]float64, 0, nodes*p)
		whole := b == nil || !b.NearGimbalLock(x0)
		for n := range nodes {
			a := t0 + float64(n)*step
			end := math.Min(a+step, f.T[f.N()-1])
			whole = whole && f.StateAt(state, end) && (b == nil || !b.NearGimbalLock(state))
			for c := range k {
				y = append(y, state[c]-x0[c])
			}
			if p > 0 {
				f.InputMean(mean, a, end)
				u = append(u, mean...)
			}
		}
		if !whole {
			continue
		}
		s.n++
		s.x0, s.y, s.u = append(s.x0, x0...), append(s.y, y...), append(s.u, u...)
		for j, v := range y {
			s.hold[j] += v * v
		}
	}
	for j := range s.hold {
		s.hold[j] = math.Sqrt(s.hold[j]/float64(max(s.n, 1))) + 1e-300
	}
	return s
}

// standardLift returns the states' lifting, standardised on all whole samples.
func standardLift(flights []window.Flight, states []channel.Channel) channel.Lift {
	l := channel.NewLift(states)
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

// shortestInterval returns the shortest mean interval between samples of the flights, s.
func shortestInterval(flights []window.Flight) float64 {
	dt := math.Inf(1)
	for i := range flights {
		dt = math.Min(dt, flights[i].Duration()/float64(flights[i].N()-1))
	}
	return dt
}
