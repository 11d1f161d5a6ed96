package priordynamics

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Grid returns the horizons, s, at which candidates are compared.
func Grid(H float64) []float64 {
	times := []float64{0.05, 0.1, 0.2, 0.4, 0.7, 1}
	for i := range times {
		times[i] *= H
	}
	return times
}

// mostCompared is how many windows candidates are compared in at most, those of ten minutes with a horizon of 1 s.
const mostCompared = 6000

// compared returns the windows of flights in which candidates are compared, so many in a horizon.
func compared(flights []window.Flight, H, perHorizon float64) []window.Window {
	return window.Thin(window.Cut(flights, H, H/perHorizon), mostCompared)
}

// Errors returns the errors of the roll-outs of a model in windows of flights, at the horizons of the grid and of each state
// (grid×K).
func Errors(m *priordynamics.Model, flights []window.Flight, task window.Task) [][]float64 {
	K, times := len(task.States), Grid(task.Horizon)
	out, roll, got := make([][]float64, len(times)*K), priordynamics.New(m, K, task.Horizon), make([]float64, K)
	for w := range replay.Each(flights, compared(flights, task.Horizon, 5), times) {
		roll.Run(w.X0, &w.Input)
		for i, t := range times {
			roll.At(got, nil, t)
			for k, v := range w.Measured[i*K : (i+1)*K] {
				if !math.IsNaN(v) {
					out[i*K+k] = append(out[i*K+k], got[k]-v)
				}
			}
		}
	}
	return out
}

// LogError returns the mean logarithm of the error of the roll-outs of a model in windows of flights over that of holding.
func LogError(m *priordynamics.Model, flights []window.Flight, task window.Task) float64 {
	windows := compared(flights, task.Horizon, 5)
	score, _ := rolloutError(m, flights, windows, task.Horizon, rmsDisplacement(flights, windows, task.Horizon))
	return score
}

// rmsDisplacement returns the rms displacement over windows, at the horizons of the
// grid (grid×K): the error of holding the last value.
func rmsDisplacement(flights []window.Flight, windows []window.Window, H float64) []float64 {
	size := len(Grid(H)) * flights[0].K
	square, n := make([]float64, size), make([]float64, size)
	for w := range replay.Each(flights, windows, Grid(H)) {
		for j, v := range w.Measured {
			if !math.IsNaN(v) {
				square[j] += v * v
				n[j]++
			}
		}
	}
	for j := range square {
		square[j] = math.Sqrt(square[j]/math.Max(n[j], 1)) + 1e-300
	}
	return square
}

// rolloutError returns the error of the roll-outs over windows: the mean over flights,
// weighed by their windows, of the mean over horizons and channels of log(RMSE/scale);
// and the number of windows. A model that diverges on one stretch, as one of many terms
// does where the rest of the data did not prepare it, is worse on that stretch, not on
// all.
func rolloutError(m *priordynamics.Model, flights []window.Flight, windows []window.Window, H float64, scale []float64) (score, n float64) {
	K, times := flights[0].K, Grid(H)
	square, count := make([]float64, len(scale)), make([]float64, len(scale))
	roll := priordynamics.New(m, K, H)
	got := make([]float64, K)
	for from := 0; from < len(windows); {
		to := from
		for to < len(windows) && windows[to].Flight == windows[from].Flight {
			to++
		}
		clear(square)
		clear(count)
		for w := range replay.Each(flights, windows[from:to], times) {
			roll.Run(w.X0, &w.Input)
			for i, t := range times {
				roll.At(got, nil, t)
				for k, v := range w.Measured[i*K : (i+1)*K] {
					if !math.IsNaN(v) {
						square[i*K+k] += (got[k] - v) * (got[k] - v)
						count[i*K+k]++
					}
				}
			}
		}
		sum := 0.0
		for j, s := range square {
			sum += 0.5 * math.Log(s/math.Max(count[j], 1)/(scale[j]*scale[j])+floor) / float64(len(square))
		}
		score += sum * float64(to-from)
		n += float64(to - from)
		from = to
	}
	return score / math.Max(n, 1), n
}
