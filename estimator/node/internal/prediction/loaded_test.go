package prediction

import (
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/adapt"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/node/journal"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Learning takes the memory of its own predictors beside that of all levels.
func TestMemoryOfLearning(t *testing.T) {
	m := artificial.New(artificial.Size{K: 2, P: 1, Features: 20, Points: 100, Horizon: 1, Equation: 1}, 1)
	one := estimator.Memory(m, 1) - estimator.Memory(m)
	off, on := Memory(&journal.Settings{}, m), Memory(&journal.Settings{Adapt: wire.AdaptOn}, m)
	if on-off != adapt.Buckets*one {
		t.Errorf("%d bytes with adaptation, %d without, and a predictor of one time takes %d", on, off, one)
	}
}

// What a model costs is measured with the covariance that states come with.
func TestWarmPredictsWithACovariance(t *testing.T) {
	clock := func() (unix, steady int64) { return 0, 0 }
	std := func(covariance bool) []float64 {
		l, err := Load(&journal.Settings{Fast: true}, pendulum(), false)
		if err != nil {
			t.Fatal(err)
		}
		l.Warm(clock, covariance)
		return l.levels[0].dst.Std
	}
	if slices.Equal(std(true), std(false)) {
		t.Error("with and without a covariance the deviations are the same")
	}
}
