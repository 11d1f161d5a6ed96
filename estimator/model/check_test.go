package model_test

import (
	"sync"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/model/artificial"
)

// Several predictors of one model may be made at a time: under the race detector a write is reported.
func TestCheckOfACompleteModelWritesNothing(t *testing.T) {
	m := artificial.New(artificial.Size{K: 2, P: 1, Features: 4, Basis: 1, Points: 10, Horizon: 1, Core: []int{4}}, 1)
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	var checking sync.WaitGroup
	for range 4 {
		checking.Go(func() {
			if err := m.Check(); err != nil {
				t.Error(err)
			}
		})
	}
	checking.Wait()
}
