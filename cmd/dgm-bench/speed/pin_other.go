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

// Busy returns the time of day: the processor time of a thread is not known here.
func Busy() time.Duration { return time.Duration(time.Now().UnixNano()) }
