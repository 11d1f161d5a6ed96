// Package ood describes where the states and inputs of training lie, and from how far
// away on a state is out of distribution.
package ood

import (
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
