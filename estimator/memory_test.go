package estimator_test

import (
	"runtime"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
)

// The memory that admission counts on is that which predictors allocate, within a factor of 2.
func TestMemoryIsWhatPredictorsAllocate(t *testing.T) {
	for _, s := range []artificial.Size{
		{K: 12, P: 4, Features: 100, Basis: 2, Members: 3, D: 6, Core: []int{32, 32}, Points: 400, Horizon: 0.5, Equation: 2},
		{K: 2, P: 1, Features: 700, Basis: 1, Points: 1000, Horizon: 1},
		{K: 2, P: 1, Features: 20, Basis: 1, Points: 1000, Horizon: 1, Core: []int{500, 1000}},
		{K: 2, P: 1, Features: 500, Basis: 8, Points: 100, Horizon: 1},
	} {
		m := artificial.New(s, 1)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := estimator.NewFast(m, nil); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		got, want := estimator.Memory(m, m.Points), int64(after.TotalAlloc-before.TotalAlloc)
		t.Logf("%+v: %d kB, allocated %d kB", s, got>>10, want>>10)
		if got < want/2 || got > 2*want {
			t.Errorf("%+v: %d kB are reported, %d kB were allocated", s, got>>10, want>>10)
		}
	}
}
