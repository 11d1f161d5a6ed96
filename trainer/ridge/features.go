package ridge

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// blocks of the horizon over each of which the mean of the plan is a column.
const blocks = 5

// mostSquared is the number of columns up to which their products are columns, too.
const mostSquared = 24

// features makes the columns of the regressions from windows.
type features struct {
	K, P     int
	lift     channel.Lift
	mean     []float64 // P, of the inputs
	std      []float64 // P
	interval float64   // Δ, s
	plan     bool

	state []float64 // K
}

// newFeatures standardises the columns by the starts of the windows.
func newFeatures(flights []window.Flight, windows []window.Window, task window.Task, readout model.Readout) *features {
	f := &features{
		K: len(task.States), P: task.Inputs, lift: channel.NewLift(task.States), interval: window.Interval(flights),
		plan: readout == model.Plan, state: make([]float64, len(task.States)),
	}
	f.mean, f.std = window.InputScale(flights, f.P)
	var starts []float64
	for _, w := range windows {
		starts = append(starts, flights[w.Flight].State(w.Start)...)
	}
	f.lift.Standardise(starts, f.K)
	return f
}

// base is the number of columns without history and products.
func (f *features) base() int {
	n := f.lift.Dim() + f.P
	if f.plan {
		n += blocks * f.P
	}
	return n
}

// linear is the number of columns of degree 1 with n samples of history.
func (f *features) linear(n int) int { return f.base() + n*(f.K+f.P) }

// columns is the number of all columns with n samples of history.
func (f *features) columns(n int) int {
	if b := f.base(); b <= mostSquared {
		return f.linear(n) + b*(b+1)/2
	}
	return f.linear(n)
}

// history writes the samples before the start of a window to dst (n×(K+P)), the latest
// first, and returns how many of at most n there are without a gap.
func (f *features) history(dst []float64, w *replay.Window, n int) int {
	t0 := w.Flight.T[w.Start]
	for j := range n {
		t := t0 - float64(j+1)*f.interval
		if !w.Flight.StateAt(f.state, t) {
			return j
		}
		to := dst[j*(f.K+f.P) : (j+1)*(f.K+f.P)]
		for k, x := range f.state {
			to[k] = x - w.X0[k]
		}
		w.Flight.InputAt(to[f.K:], t)
		for _, u := range to[f.K:] {
			if math.IsNaN(u) { // not known yet
				return j
			}
		}
	}
	return n
}

// write writes the columns of a window over the horizon h to dst (columns(n)), past being
// its n samples of history.
func (f *features) write(dst []float64, w *replay.Window, h float64, past []float64) {
	f.lift.Apply(dst, w.X0)
	at := f.lift.Dim()
	if f.P > 0 {
		w.Input.At(dst[at:], 0)
		f.standardise(dst[at : at+f.P])
		at += f.P
		for b := 0; f.plan && b < blocks; b++ {
			w.Input.Mean(dst[at:at+f.P], h*float64(b)/blocks, h*float64(b+1)/blocks)
			f.standardise(dst[at : at+f.P])
			at += f.P
		}
	}
	base := dst[:at]
	at += copy(dst[at:], past)
	if len(dst) == at {
		return
	}
	for i, a := range base {
		for _, b := range base[i:] {
			dst[at] = a * b
			at++
		}
	}
}

func (f *features) standardise(u []float64) {
	for p := range u {
		u[p] = (u[p] - f.mean[p]) / f.std[p]
	}
}
