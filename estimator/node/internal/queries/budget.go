package queries

import (
	"runtime"
	"time"
)

const (
	burst = int64(10e6)  // ns of work that a worker may take at once after a rest: a planner's batch
	slice = int64(500e3) // ns of work between two rests
)

// workersOf returns how many workers so many processors have, and the share of one processor
// that each may take: together a quarter of the processors, an eighth where they are fewer
// than four. Threads of a lower priority would not do: the garbage collector stops the world
// for as long as it waits for one of them.
func workersOf(processors int) (workers int, share float64) {
	if processors < 4 {
		return 1, float64(processors) / 8
	}
	return 2, min(1, float64(processors)/8)
}

// budget is a token bucket of a worker's processor time: it earns a share of the time that
// passes, and sleeps between two questions when it has spent more. It is for one goroutine.
type budget struct {
	share float64
	clock func() (unix, steady int64)
	sleep func(time.Duration)

	tokens int64 // ns, at most burst
	since  int64 // ns, steady, until when they were counted
}

func newBudget(share float64, clock func() (unix, steady int64)) *budget {
	b := &budget{share: share, clock: clock, sleep: time.Sleep, tokens: burst}
	_, b.since = clock()
	return b
}

// begin counts the time since the last work as idle.
func (b *budget) begin() { b.count(0) }

// rest counts the time since the last call as work. It lets other goroutines run and sleeps
// for as long as more was spent than earned. A nil budget has no bounds.
func (b *budget) rest() {
	if b == nil {
		return
	}
	b.count(1)
	if b.tokens < -slice {
		b.sleep(time.Duration(float64(-b.tokens) / b.share))
		b.tokens = 0 // the sleep has paid, whatever the clock shows
		_, b.since = b.clock()
		return
	}
	runtime.Gosched()
}

// count earns for the time that has passed, and spends it times work.
func (b *budget) count(work float64) {
	_, now := b.clock()
	b.tokens = min(burst, b.tokens+int64((b.share-work)*float64(now-b.since)))
	b.since = now
}
