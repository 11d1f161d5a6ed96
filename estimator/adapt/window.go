package adapt

import "github.com/dgm-robotics/dgm/estimator/model"

// every is of how many windows one is read in a bucket, by readouts.
var every = [model.Readouts][Buckets]int{{1, 1, 2, 2, 4}, {4, 4, 4, 4, 4}}

// window is a prediction whose end has not come.
type window struct {
	t          int64
	number     int
	next       int       // bucket that it waits for
	x          []float64 // K
	u          []float64 // P, that was held when it began
	rows       []float64 // history
	n          int       // numbers of rows
	theta      []float64 // q, when it began
	covariance []float64 // q×q
	errors     []float64 // S×F, S series
	rests      []float64 // S×F
	weights    []float64 // S×experts, of the gate
	past       []float64 // S, the history's part of Δ
	pastBy     []float64 // S×q, its sensitivities
}

// reads reports whether bucket b is read of a window under readout r.
func (w *window) reads(b, r int) bool { return w.number%every[r][b] == 0 }
