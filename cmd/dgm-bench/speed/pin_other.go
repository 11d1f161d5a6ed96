//go:build !linux

package speed

import (
	"runtime"
	"time"
)

// pin holds the calling goroutine on its thread; the system is not asked for a
// processor.
func pin(int) (unpin func(), err error) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread, nil
}

// Busy stands for how long the calling thread has been at work: the time of day.
func Busy() time.Duration { return time.Duration(time.Now().UnixNano()) }
