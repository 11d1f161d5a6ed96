package cores

import (
	"runtime"
	"sync/atomic"
	"testing"
)

func TestEachRunsAllAndNoMoreAtATimeThanProcessors(t *testing.T) {
	var done [100]atomic.Int32
	var now, most atomic.Int32
	Each(len(done), func(i int) {
		for n := now.Add(1); ; {
			m := most.Load()
			if n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		runtime.Gosched()
		done[i].Add(1)
		now.Add(-1)
	})
	for i := range done {
		if n := done[i].Load(); n != 1 {
			t.Errorf("%d was run %d times", i, n)
		}
	}
	if m := most.Load(); m < 1 || int(m) > runtime.GOMAXPROCS(0) {
		t.Errorf("%d at a time", m)
	}
}
