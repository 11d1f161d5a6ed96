package dynamicsnet

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// windows are measured at the nodes of a difference equation.
type windows struct {
	n, nodes, k, p int
	x0             []float64 // n×K
	y              []float64 // n×nodes×K, displacement from x0
	u              []float64 // n×nodes×P, mean input of the step
	rms            []float64 // nodes×K, of the displacement
}

// gather takes at most most windows of so many steps of m from the flights, spread
// evenly, with every state measured at every node, and no node at which measured angles
// jump near the vertical.
func gather(m *priordynamics.Model, flights []window.Flight, task window.Task, nodes, most int) *windows {
	k, p := len(task.States), task.Inputs
	w := &windows{nodes: nodes, k: k, p: p, rms: make([]float64, nodes*k)}
	y, u := make([]float64, nodes*k), make([]float64, nodes*p)
	for _, at := range window.Thin(window.Cut(flights, m.Step*float64(nodes), 0), most) {
		f := &flights[at.Flight]
		x0 := f.State(at.Start)
		if !read(y, u, m, f, at.Start) {
			continue
		}
		for j := range y {
			y[j] -= x0[j%k]
			w.rms[j] += y[j] * y[j]
		}
		w.n++
		w.x0, w.y, w.u = append(w.x0, x0...), append(w.y, y...), append(w.u, u...)
	}
	for j := range w.rms {
		w.rms[j] = math.Sqrt(w.rms[j]/float64(max(w.n, 1))) + 1e-300
	}
	return w
}

// read writes the states (nodes×K) and mean inputs (nodes×P) of the steps after a sample.
// It reports whether they are whole.
func read(states, u []float64, m *priordynamics.Model, f *window.Flight, start int) bool {
	if m.Body.NearGimbalLock(f.State(start)) {
		return false
	}
	end := f.T[f.N()-1]
	for n := range len(states) / f.K {
		state := states[n*f.K : (n+1)*f.K]
		from := f.T[start] + float64(n)*m.Step
		to := math.Min(from+m.Step, end)
		if !f.StateAt(state, to) || m.Body.NearGimbalLock(state) {
			return false
		}
		f.InputMean(u[n*f.P:(n+1)*f.P], from, to)
	}
	return true
}

// batch is some windows, node by node.
type batch struct {
	n  int
	x0 []float64 // B×K
	y  []float64 // nodes×B×K
	u  []float64 // nodes×B×P
}

func newBatch(w *windows, n int) *batch {
	return &batch{n: n, x0: make([]float64, n*w.k), y: make([]float64, w.nodes*n*w.k), u: make([]float64, w.nodes*n*w.p)}
}

// take copies the windows of the given numbers.
func (b *batch) take(w *windows, numbers []int) {
	for i, at := range numbers {
		copy(b.x0[i*w.k:], w.x0[at*w.k:(at+1)*w.k])
		for n := range w.nodes {
			to, from := n*b.n+i, at*w.nodes+n
			copy(b.y[to*w.k:], w.y[from*w.k:(from+1)*w.k])
			copy(b.u[to*w.p:], w.u[from*w.p:(from+1)*w.p])
		}
	}
}
