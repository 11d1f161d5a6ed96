// Package replay takes windows of recorded flights to predictors: the state that a
// window starts from, what precedes it, the input over it, and what was measured after it.
package replay

import (
	"iter"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/history"
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

	// T×K, where values between samples count as measured, see window.Interpolated.
	Interpolated []bool

	held  Held
	pasts []past // of each history that was asked for
}

// past makes the history of one spec.
type past struct {
	edges  []float64 // of the spec
	buffer *history.Buffer
	rows   []float64
}

// New takes the memory for windows of K states, of which the displacement at the times
// (s after the start) is asked for. Values between samples do not count as measured.
func New(K int, times []float64) *Window {
	return &Window{Times: times, Measured: make([]float64, len(times)*K), Interpolated: make([]bool, len(times)*K)}
}

// Read sets the window that begins at sample start of a flight.
func (w *Window) Read(f *window.Flight, start int) {
	w.Flight, w.Start, w.X0 = f, start, f.State(start)
	w.Input = window.Input{Flight: f, Start: start}
	for i, t := range w.Times {
		f.Displacement(w.Measured[i*f.K:(i+1)*f.K], start, t)
	}
	if f.Exact != nil {
		return
	}
	for j, between := range w.Interpolated {
		if !between && !f.Sampled(j%f.K, f.T[start]+w.Times[j/f.K]) {
			w.Measured[j] = math.NaN()
		}
	}
}

// Signal returns the input over the window as a readout has it, nil without inputs. It is
// good until the next Read.
func (w *Window) Signal(readout model.Readout) channel.Command {
	switch {
	case w.Flight.P == 0:
		return nil
	case readout == model.Hold:
		w.held.Value = w.Flight.Input(w.Start)
		return &w.held
	}
	return &w.Input
}

// History returns the rows of a spec before the start of the window, newest first: fewer
// where the flight begins later, or has a gap. They are those that the estimator makes on
// board of the complete samples, and are good until the next call for the spec; nil = none.
func (w *Window) History(spec history.Spec) []float64 {
	if spec.Rows() == 0 {
		return nil
	}
	f, start := w.Flight.Past(w.Start)
	i := slices.IndexFunc(w.pasts, func(p past) bool { return slices.Equal(p.edges, spec.Edges) })
	if i < 0 {
		i = len(w.pasts)
		// Angles of a flight are continuous.
		w.pasts = append(w.pasts, past{
			edges: slices.Clone(spec.Edges), buffer: history.NewBuffer(make([]channel.Channel, f.K), f.P, spec), rows: make([]float64, spec.Rows()*(f.K+f.P)),
		})
	}
	p := &w.pasts[i]
	first := start
	for begin := f.T[start] - spec.Reach(); first > 0 && (f.T[first] > begin-snap || !f.Known(first)); {
		first--
	}
	p.buffer.Reset()
	for i := first; i < start; i++ {
		p.buffer.Add(nanoseconds(f.T[i]), f.State(i), f.Input(i))
	}
	n := p.buffer.Fill(p.rows, nanoseconds(f.T[start]), w.X0)
	if n == 0 {
		return nil
	}
	return p.rows[:n*(f.K+f.P)]
}

// snap is what rounding moves a time at most, s.
const snap = 1e-9

func nanoseconds(s float64) int64 { return int64(math.Round(s * 1e9)) }

// Query writes to q the query of the window: its start, the history that the model reads,
// and, where the model has inputs, the input at the start or, for Plan, the means over so
// many equal rows of the horizon. The memory of q's plan is used again.
func (w *Window) Query(q *estimator.Query, m *model.Model, readout model.Readout, rows int) {
	plan := q.Plan
	*q = estimator.Query{X0: w.X0, History: w.History(m.History)}
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

// Each yields the windows one by one. Of a channel that is measured more slowly than the
// flights are sampled, only samples are measured, see window.Interpolated. The value is used
// again: it is good until the next one.
func Each(flights []window.Flight, windows []window.Window, times []float64) iter.Seq[*Window] {
	return func(yield func(*Window) bool) {
		if len(windows) == 0 {
			return
		}
		w := New(flights[0].K, times)
		w.Interpolated = window.Interpolated(flights, windows, times)
		for i, at := range windows {
			w.Number = i
			w.Read(&flights[at.Flight], at.Start)
			if !yield(w) {
				return
			}
		}
	}
}

// Held is an input that stays at one value. It implements channel.Signal.
type Held struct {
	Value []float64 // P
}

// Mean writes the value to dst (P).
func (h *Held) Mean(dst []float64, _, _ float64) { copy(dst, h.Value) }

// At writes the value to dst (P).
func (h *Held) At(dst []float64, _ float64) { copy(dst, h.Value) }

// Next returns that there is no other value.
func (h *Held) Next(float64) float64 { return math.Inf(1) }
