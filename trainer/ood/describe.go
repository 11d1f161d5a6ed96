// Package ood describes where the states and inputs of training lie, and from how far
// away on a state is out of distribution.
package ood

import (
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/ood"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Describe returns the detector of the states and inputs of windows: whitened reference
// states with their threshold, and the ranges of the inputs as the nets read them, means
// over one of the input knots of a plan, or one sample held. It is empty if the states
// have no finite covariance.
func Describe(lift *channel.Lift, flights []window.Flight, windows []window.Window, task window.Task, knots int) ood.Detector {
	states := Starts(lift, flights, windows)
	d, ok := states.Detector()
	if !ok {
		return ood.Detector{}
	}
	d.Distance = states.Threshold(task.Horizon)
	if task.Inputs > 0 {
		for _, block := range []float64{model.Plan: task.Horizon / float64(max(1, knots)), model.Hold: 0} {
			low, high := Inputs(flights, task.Inputs, block)
			d.Low, d.High = append(d.Low, low), append(d.High, high)
		}
	}
	return d
}
