package estimator_test

import (
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
)

// BenchmarkNewFast is what a model of a quadrotor with inputs is loaded for, its file
// and its checks of itself apart: most of it is triangulariser 24 factors.
func BenchmarkNewFast(b *testing.B) {
	m := artificial.New(artificial.Size{K: 12, P: 4, Features: 100, Basis: 2, Members: 3, D: 6, Core: []int{32, 32}, Points: 100, Horizon: 0.5, Equation: 2}, 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := estimator.NewFast(m, nil); err != nil {
			b.Fatal(err)
		}
	}
}
