// Package cores spreads independent work over the processors.
package cores

import (
	"runtime"
	"sync"
)

// Each runs f for 0 … n−1, as many at a time as there are processors, and returns
// when all are done. Which runs when is not determined: results must not depend on
// it.
func Each(n int, f func(i int)) {
	var wait sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
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
