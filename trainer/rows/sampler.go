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
}

// Draw fills the batch with n windows and returns the number of rows.
func (s *Sampler) Draw(b *objective.Batch, n int, rng *rand.Rand) int {
	rows := 0
	for range n {
		rows = s.window(b, rows, s.Windows[rng.IntN(len(s.Windows))], rng)
	}
	b.Obs.N = rows
	return rows
}

// Take fills the batch with the given windows, in order.
func (s *Sampler) Take(b *objective.Batch, windows []window.Window, rng *rand.Rand) int {
	rows := 0
	for _, w := range windows {
		rows = s.window(b, rows, w, rng)
	}
	b.Obs.N = rows
	return rows
}

func (s *Sampler) window(b *objective.Batch, row int, w window.Window, rng *rand.Rand) int {
	fl := &s.Flights[w.Flight]
	from, to := fl.Samples(w.Start, s.Frame.Inputs.Horizon)
	s.Frame.Start(fl, w.Start, s.Readout)
	// One point at random in each of Points−1 equal parts, then the end.
	inner := min(s.Points, to-from) - 1
	for j := range inner {
		a := from + j*(to-1-from)/inner
		z := from + (j+1)*(to-1-from)/inner
		s.Frame.Fill(b, row, fl, w.Start, a+rng.IntN(max(1, z-a)))
		row++
	}
	s.Frame.Fill(b, row, fl, w.Start, to-1)
	return row + 1
}
