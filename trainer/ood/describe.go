// Package ood describes where the states and inputs of training lie, and from how far
// away on a state is out of distribution.
package ood

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/ood"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Describe returns the detector of the states and inputs of windows, without limits:
// whitened reference states, and the ranges of the inputs as the nets read them, means
// over one of the input knots of a plan, or one sample held. It is empty if the states
// have no finite covariance.
func Describe(lift *channel.Lift, flights []window.Flight, windows []window.Window, horizon float64, inputs, knots int) ood.Detector {
	states := Starts(lift, flights, windows)
	d, ok := states.Detector()
	if !ok {
		return ood.Detector{}
	}
	if inputs > 0 {
		for _, block := range []float64{model.Plan: horizon / float64(max(1, knots)), model.Hold: 0} {
			low, high := Inputs(flights, inputs, block)
			d.Low, d.High = append(d.Low, low), append(d.High, high)
		}
	}
	return d
}

// Inputs returns the least and the largest mean of every input (P) over any so many
// seconds from a sample on; of the samples themselves where block is 0. An input that
// chatters has a wide range of samples and a narrow one of means: a plan is compared with
// the range of what the nets read, which are means.
func Inputs(flights []window.Flight, P int, block float64) (low, high []float64) {
	if P == 0 {
		return nil, nil
	}
	low, high = make([]float64, P), make([]float64, P)
	for p := range P {
		low[p], high[p] = math.Inf(1), math.Inf(-1)
	}
	mean := make([]float64, P)
	for i := range flights {
		f := &flights[i]
		last := f.T[f.N()-1]
		for n, t := range f.T {
			if t+block > last {
				break
			}
			u := f.Input(n)
			if block > 0 {
				f.InputMean(mean, t, t+block)
				u = mean
			}
			for p, v := range u {
				if !math.IsNaN(v) {
					low[p], high[p] = math.Min(low[p], v), math.Max(high[p], v)
				}
			}
		}
	}
	for p := range P {
		if low[p] > high[p] {
			low[p], high[p] = 0, 0
		}
	}
	return low, high
}
