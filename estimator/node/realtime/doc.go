// Package realtime asks the operating system for what a loop with deadlines
// needs, and sleeps until absolute times.
//
// [Sleeper] sleeps by clock_nanosleep on a thread of its own, whose timers the kernel
// may not bundle. A real-time priority for the loop's thread alone starves the garbage
// collector's threads while the loop waits for them: [Settings.Apply] raises the whole
// process, and [NewSleeper] the loop above that. With a priority, memory should be
// locked: page faults are in the tail of the latency. docs/notes/node.md has the
// measured effects.
package realtime

import "errors"

// Settings is what a process asks for. The zero value asks for nothing.
type Settings struct {
	Priority   int   // (optional) SCHED_FIFO priority of the whole process, 1 to 89; the loop gets 10 more
	LockMemory bool  // (optional) keep all memory in RAM, now and later
	CPUs       []int // (optional) the processors to run on; defaults to all
	Collect    int   // (optional) heap growth in percent until a collection, as GOGC; defaults to the runtime's
	Memory     int64 // (optional) bytes that the runtime tries to stay below, as GOMEMLIMIT
}

// loopAbove is how much the loop's priority is above the process's.
const loopAbove = 10

// Check returns an error for the first invalid setting.
func (s *Settings) Check() error {
	switch {
	case s.Priority < 0 || s.Priority > 99-loopAbove:
		return errors.New("priority must be within 0 … 89")
	case s.Collect < 0:
		return errors.New("collect must not be negative")
	case s.Memory < 0:
		return errors.New("memory must not be negative")
	}
	for _, c := range s.CPUs {
		if c < 0 || c > 1023 {
			return errors.New("processors are numbered from 0 to 1023")
		}
	}
	return nil
}
