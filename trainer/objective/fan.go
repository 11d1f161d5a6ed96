package objective

import (
	"runtime"
	"sync"
)

// fan runs one function for every channel, on as many goroutines as there are
// processors. Each channel writes its own memory, so the result does not depend
// on the order.
type fan struct {
	n      int
	serial bool // one after the other, for tests
	wait   sync.WaitGroup
}

func newFan(n int) *fan { return &fan{n: n} }

func (f *fan) run(each func(k int)) {
	workers := min(f.n, runtime.GOMAXPROCS(0))
	if workers <= 1 || f.serial {
		for k := range f.n {
			each(k)
		}
		return
	}
	next := make(chan int, f.n)
	for k := range f.n {
		next <- k
	}
	close(next)
	f.wait.Add(workers)
	for range workers {
		go func() {
			defer f.wait.Done()
			for k := range next {
				each(k)
			}
		}()
	}
	f.wait.Wait()
}
