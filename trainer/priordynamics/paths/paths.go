// Package paths gathers what was measured at the nodes of a difference equation, for fits to
// roll-outs.
package paths

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Paths are windows that are measured at the nodes of a difference equation.
type Paths struct {
	N, Nodes, K, P int
	Step           float64   // s
	X0             []float64 // N×K
	Y              []float64 // N×nodes×K, displacement from x0
	U              []float64 // N×nodes×P, mean input of the step
	RMS            []float64 // nodes×K, of the displacement
}

// Gather takes at most most windows of so many steps of length step, s, from the flights, spread
// evenly, see Of.
func Gather(body *priordynamics.Body, flights []window.Flight, task window.Task, step float64, nodes, most int) *Paths {
	return Of(body, flights, window.Thin(window.Cut(flights, step*float64(nodes), 0), most), task, step, nodes)
}

// Of takes the windows of so many steps of length step, s, with every state measured at every
// node, and no node at which measured angles of the body jump near the vertical.
func Of(body *priordynamics.Body, flights []window.Flight, windows []window.Window, task window.Task, step float64, nodes int) *Paths {
	K, P := len(task.States), task.Inputs
	w := &Paths{Nodes: nodes, K: K, P: P, Step: step, RMS: make([]float64, nodes*K)}
	y, u := make([]float64, nodes*K), make([]float64, nodes*P)
	for _, at := range windows {
		f := &flights[at.Flight]
		x0 := f.State(at.Start)
		if !w.read(y, u, body, f, at.Start) {
			continue
		}
		for j := range y {
			y[j] -= x0[j%K]
			w.RMS[j] += y[j] * y[j]
		}
		w.N++
		w.X0, w.Y, w.U = append(w.X0, x0...), append(w.Y, y...), append(w.U, u...)
	}
	for j := range w.RMS {
		w.RMS[j] = math.Sqrt(w.RMS[j]/float64(max(w.N, 1))) + 1e-300
	}
	return w
}

// read writes the states (nodes×K) and mean inputs (nodes×P) of the steps after a sample.
// It reports whether they are whole.
func (w *Paths) read(states, u []float64, body *priordynamics.Body, f *window.Flight, start int) bool {
	if body.NearGimbalLock(f.State(start)) {
		return false
	}
	end := f.T[f.N()-1]
	for n := range w.Nodes {
		state := states[n*w.K : (n+1)*w.K]
		from := f.T[start] + float64(n)*w.Step
		to := math.Min(from+w.Step, end)
		if !f.StateAt(state, to) || body.NearGimbalLock(state) {
			return false
		}
		f.InputMean(u[n*w.P:(n+1)*w.P], from, to)
	}
	return true
}
