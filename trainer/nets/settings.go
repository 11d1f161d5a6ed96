package nets

import (
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/matching"
	"github.com/dgm-robotics/dgm/trainer/rows"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Settings are the choices of one fit. All have defaults that work; see
// DefaultSettings.
type Settings struct {
	Core       []int          // widths of the smoother's core
	Activation mlp.Activation // of core and dynamics
	D          int            // smoother features a channel
	F          int            // random features a channel, even; 0 with Exact
	Exact      bool           // the exact kernel instead of random features
	Dynamics   []int          // widths of the dynamics' hidden layers
	ZeroMean   bool           // no learned prior mean: without data, the prediction is the prior dynamics

	matching.Schedule
	Batch       int     // windows a step
	Points      int     // points a window
	Temperature float64 // κ: share of the samples that the likelihood counts as independent
	NoiseStart  []float64
	Posterior   Conditioning
}

// Conditioning describes how a posterior is conditioned on windows.
type Conditioning struct {
	Temperature float64 // κ of the posterior's likelihood
	Rows        int     // most rows, spread evenly over the windows
	Points      int     // rows of a window
	Passes      int     // that estimate the noise with the nets frozen
	Seed        uint64  // of the points of a window
	NoiseAlone  bool    // weights and variance are zero: the noise is what the prior dynamics leave
}

// DefaultSettings returns the recipe for windows of flights.
func DefaultSettings() Settings {
	return Settings{
		Core: []int{32, 32}, Activation: mlp.Tanh, D: 3, F: 100, Dynamics: []int{20, 20},
		Schedule: matching.Schedule{Steps: 400, Rate: 0.02, Last: 0.0002, WarmUp: 30, ClipNorm: 10, Lambda: 1, From: 0.2, To: 0.5, DecayS: 3, DecayD: 3},
		Batch:    100, Points: 8, Temperature: 1, NoiseStart: []float64{-1.5, -1.2, -1, -0.8, -0.6},
		Posterior: Conditioning{Temperature: 1, Rows: 12000, Points: 12, Passes: 2},
	}
}

// Data is what a net trains on, and what a posterior is conditioned on.
type Data struct {
	Frame   *rows.Frame
	Flights []window.Flight
	Windows []window.Window
	Samples int // distinct samples of the flights
}

// NewData cuts the flights into windows of the frame's horizon, about stride seconds
// apart.
func NewData(frame *rows.Frame, flights []window.Flight, stride float64) Data {
	return Data{Frame: frame, Flights: flights, Windows: window.Cut(flights, frame.Inputs.Horizon, stride), Samples: window.Samples(flights)}
}

// rows returns the number of rows that all windows hold together.
func (d *Data) rows() int {
	n := 0
	for _, w := range d.Windows {
		from, to := d.Flights[w.Flight].Samples(w.Start, d.Frame.Inputs.Horizon)
		n += to - from
	}
	return n
}
