// Package replay takes windows of recorded flights to predictors: the state that a
// window starts from, the input over it, and what was measured after it.
package replay

import (
	"iter"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Window is one window of a flight, as a predictor reads it.
type Window struct {
	Number   int // place among the windows that are replayed
	Flight   *window.Flight
	Start    int          // sample
	X0       []float64    // K, measured at the start; a view of the flight
	Input    window.Input // recorded from the start on
	Times    []float64    // T, s after the start
	Measured []float64    // T×K, displacement from X0; NaN = not measured
}

// New takes the memory for windows of K states, of which the displacement at the times
// (s after the start) is asked for.
func New(K int, times []float64) *Window {
	return &Window{Times: times, Measured: make([]float64, len(times)*K)}
}

// Read sets the window that begins at sample start of a flight.
func (w *Window) Read(f *window.Flight, start int) {
	w.Flight, w.Start, w.X0 = f, start, f.State(start)
	w.Input = window.Input{Flight: f, Start: start}
	for i, t := range w.Times {
		f.Displacement(w.Measured[i*f.K:(i+1)*f.K], start, t)
	}
}

// Query writes to q the query of the window: its start, and, where the model has
// inputs, the input at the start or, for Plan, the means over so many equal rows of the
// horizon. The memory of q's plan is used again.
func (w *Window) Query(q *estimator.Query, m *model.Model, readout model.Readout, rows int) {
	plan := q.Plan
	*q = estimator.Query{X0: w.X0}
	if m.P == 0 {
		return
	}
	q.U = w.Flight.Input(w.Start)
	if readout != model.Plan {
		return
	}
	if q.Plan = plan; len(plan) != rows*m.P {
		q.Plan = make([]float64, rows*m.P)
	}
	for r := range rows {
		from := w.Flight.T[w.Start] + m.Horizon*float64(r)/float64(rows)
		w.Flight.InputMean(q.Plan[r*m.P:(r+1)*m.P], from, from+m.Horizon/float64(rows))
	}
}

// Each yields the windows one by one. The value is used again: it is good until the
// next one.
func Each(flights []window.Flight, windows []window.Window, times []float64) iter.Seq[*Window] {
	return func(yield func(*Window) bool) {
		if len(windows) == 0 {
			return
		}
		w := New(flights[0].K, times)
		for i, at := range windows {
			w.Number = i
			w.Read(&flights[at.Flight], at.Start)
			if !yield(w) {
				return
			}
		}
	}
}
