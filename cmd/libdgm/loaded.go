//go:build cgo

package main

import (
	"sync"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/adapt"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// loaded is an open model. It is safe for concurrent use.
type loaded struct {
	m    *model.Model
	fast *estimator.Fast // of the model's own times

	lock     sync.Mutex
	sets     []*predictors // the one used last first, at most mostSets
	document document      // the last one that was asked for

	learned   learning
	estimated estimation
}

// mostSets is how many combinations of times and workers keep their memory.
const mostSets = 8

// predictors are those for the same times by the same number of workers.
type predictors struct {
	times   []float64
	workers int
	free    []*predictor
}

// predictor answers one call at a time.
type predictor struct {
	times        []float64 // nil = the model's own
	workers      int
	batch        *estimator.Batch
	dst          estimator.Predictions
	noHistory    []bool
	ood          []float64
	mean, std    []float64 // where samples are wanted without them
	trajectories *estimator.Trajectories
	state        *adapt.State // that its answers are corrected by; nil = they are not
}
