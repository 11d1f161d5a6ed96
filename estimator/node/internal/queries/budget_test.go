package queries

import (
	"math"
	"testing"
	"time"
)

func TestWorkersOfProcessors(t *testing.T) {
	for processors, want := range map[int]int{1: 1, 2: 1, 3: 1, 4: 2, 16: 2} {
		workers, share := workersOf(processors)
		if all := float64(workers) * share; workers != want || all > float64(processors)/4+1e-12 || !(share > 0 && share <= 1) {
			t.Errorf("%d processors: %d workers of %v", processors, workers, share)
		}
	}
}

// A worker that has always something to do takes its share of the time, after a burst, and
// earns the burst again while it has nothing to do.
func TestABudgetBoundsTheShare(t *testing.T) {
	var now, slept int64
	b := newBudget(0.5, func() (unix, steady int64) { return 0, now })
	b.sleep = func(d time.Duration) { now += int64(d); slept += int64(d) }
	work := func(n int, question int64) (share float64) {
		from, before := now, slept
		for range n {
			now += question
			b.rest()
		}
		return 1 - float64(slept-before)/float64(now-from)
	}
	if share := work(50, 200e3); share != 1 {
		t.Errorf("of the burst it takes %v", share)
	}
	work(50, 200e3)
	for _, question := range []int64{20e3, 200e3, 3e6} {
		if share := work(1000, question); math.Abs(share-0.5) > 0.01 {
			t.Errorf("with questions of %v it takes %v", time.Duration(question), share)
		}
	}
	now += 1e9
	b.begin()
	if share := work(50, 200e3); share != 1 {
		t.Errorf("after a rest it takes %v", share)
	}
}
