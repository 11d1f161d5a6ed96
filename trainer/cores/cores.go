// Package cores spreads independent work over the processors.
package cores

import (
	"runtime"
	"sync"
)

// Each runs f for 0 … n−1, as many at a time as there are processors, and returns
// when all are done. The order is not determined: results must not depend on
// it. On one processor it allocates nothing.
func Each(n int, f func(i int)) {
	processors := runtime.GOMAXPROCS(0)
	if processors == 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var wait sync.WaitGroup
	slots := make(chan struct{}, processors)
	for i := range n {
		wait.Add(1)
		slots <- struct{}{}
		go func() {
			defer wait.Done()
			f(i)
			<-slots
		}()
	}
	wait.Wait()
}
