package ridge

import (
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/replay"
)

// Displacement predicts x_k(t0+t) − x_k(t0) from the start x0 (K), t in s.
type Displacement func(k int, x0 []float64, t float64) float64

// ConstantVelocity returns the displacement at the measured derivative of each channel, 0
// where none is measured.
func ConstantVelocity(states []channel.Channel) Displacement {
	derivative := make([]int, len(states))
	for k, c := range states {
		derivative[k] = channel.Index(states, c.Derivative)
	}
	return func(k int, x0 []float64, t float64) float64 {
		if v := derivative[k]; v >= 0 {
			return x0[v] * t
		}
		return 0
	}
}

// Config describes a fit.
type Config struct {
	Horizons []float64     // T, s, ascending, at most the task's horizon
	History  []int         // levels, ascending; 0 is always one
	Readout  model.Readout // Plan or Hold
	Stride   float64       // s between training windows; 0 = every sample
	Folds    int           // (optional) defaults to 4
}

// Model predicts displacements. It has scratch memory of its own and is not safe for
// concurrent use.
type Model struct {
	Horizons []float64 // T, s
	levels   []level   // by history, ascending
	features *features
	velocity Displacement
	past     []float64 // of the most history
	row      []float64 // of the most columns
}

// level is the fit with some samples of history.
type level struct {
	history int
	fits    []horizonFit // T
}

// horizonFit is the fit of one horizon.
type horizonFit struct {
	weights [][]float64 // K, each of the columns of its degree
	offset  []float64   // K
	std     []float64   // K, in the channels' units
}

// History returns the levels that could be fitted, in samples before the start.
func (m *Model) History() []int {
	var out []int
	for _, l := range m.levels {
		out = append(out, l.history)
	}
	return out
}

// Predict writes the displacements from the start of the window at the model's horizons to
// mean (T×K), and their standard deviations about measurements to std (T×K). It reads at
// most so many samples before the start, and returns how many it has read: 0 without
// history.
func (m *Model) Predict(mean, std []float64, w *replay.Window, most int) (history int) {
	f := m.features
	if w.Flight.K != f.K || w.Flight.P != f.P {
		panic(badWindow)
	}
	last := m.levels[len(m.levels)-1].history
	there := f.history(m.past, w, min(most, last))
	use := &m.levels[0]
	for i := range m.levels {
		if m.levels[i].history <= there {
			use = &m.levels[i]
		}
	}
	n := use.history
	row := m.row[:f.columns(n)]
	for i, h := range m.Horizons {
		f.write(row, w, h, m.past[:n*(f.K+f.P)])
		fit := &use.fits[i]
		for k := range f.K {
			sum := fit.offset[k] + m.velocity(k, w.X0, h)
			for j, v := range fit.weights[k] {
				sum += v * row[j]
			}
			mean[i*f.K+k], std[i*f.K+k] = sum, fit.std[k]
		}
	}
	return n
}

const badWindow = "ridge: the flight has other channels than the model"
