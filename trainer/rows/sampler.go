package rows

import (
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/objective"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Sampler draws batches of windows, some points of each. The last sample of a
// window is always among its points: without it the end of the horizon, which
// matters most, is seen least.
type Sampler struct {
	Frame   *Frame
	Flights []window.Flight
	Windows []window.Window
	Readout model.Readout
	Points  int // of each window

	// (optional) Draw takes windows from so many, evenly spread. Each has the same points whenever it is drawn: the prior
	// dynamics, which take most of the time, are evaluated once.
	Pool int

	pool  []window.Window
	drawn map[int]*drawn // of windows of the pool
}

// drawn are the points of a window, with the displacements of the prior dynamics and their derivatives by time, if asked for.
type drawn struct {
	samples []int
	d, dd   []float64 // points×K
}

// Draw fills the batch with n windows and returns the number of rows.
func (s *Sampler) Draw(b *objective.Batch, n int, rng *rand.Rand) int {
	if s.pool == nil {
		s.pool, s.drawn = s.Windows, map[int]*drawn{}
		if s.Pool > 0 && s.Pool < len(s.Windows) {
			s.pool = window.Thin(s.Windows, s.Pool)
		}
	}
	rows := 0
	for range n {
		i := rng.IntN(len(s.pool))
		if s.drawn[i] == nil {
			s.drawn[i] = s.evaluate(s.pool[i], rng, true)
		}
		rows = s.fill(b, rows, s.pool[i], s.drawn[i])
	}
	b.Obs.N = rows
	return rows
}

// Take fills the batch with the given windows, in order.
func (s *Sampler) Take(b *objective.Batch, windows []window.Window, rng *rand.Rand) int {
	rows := 0
	for _, w := range windows {
		rows = s.fill(b, rows, w, s.evaluate(w, rng, b.SDBase != nil))
	}
	b.Obs.N = rows
	return rows
}

// evaluate draws the points of a window.
func (s *Sampler) evaluate(w window.Window, rng *rand.Rand, derivatives bool) *drawn {
	fl := &s.Flights[w.Flight]
	from, to := fl.Samples(w.Start, s.Frame.Inputs.Horizon)
	out := &drawn{}
	// One point at random in each of Points−1 equal parts, then the end.
	inner := min(s.Points, to-from) - 1
	for j := range inner {
		a := from + j*(to-1-from)/inner
		z := from + (j+1)*(to-1-from)/inner
		out.samples = append(out.samples, a+rng.IntN(max(1, z-a)))
	}
	out.samples = append(out.samples, to-1)
	s.Frame.displacements(out, fl, w.Start, s.Readout, derivatives)
	return out
}

// fill fills the rows of a window from one on, and returns the one after them.
func (s *Sampler) fill(b *objective.Batch, row int, w window.Window, of *drawn) int {
	K := s.Frame.K
	s.Frame.read(&s.Flights[w.Flight], w.Start, s.Readout)
	for j, sample := range of.samples {
		var dd []float64
		if of.dd != nil {
			dd = of.dd[j*K : (j+1)*K]
		}
		s.Frame.fill(b, row, &s.Flights[w.Flight], w.Start, sample, of.d[j*K:(j+1)*K], dd)
		row++
	}
	return row
}
