package realtime

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"

	"golang.org/x/sys/unix"
)

// Apply asks for the settings, for every thread that there is and, by
// inheritance, for those to come. It continues after a refusal and returns all
// refusals, each with a remedy.
func (s *Settings) Apply() error {
	if s.Collect > 0 {
		debug.SetGCPercent(s.Collect)
	}
	if s.Memory > 0 {
		debug.SetMemoryLimit(s.Memory)
	}
	var refused []error
	if s.LockMemory {
		// On fault: else all address space that the runtime has reserved would be
		// filled, 150 MB for a process that uses 20.
		if err := unix.Mlockall(unix.MCL_CURRENT | unix.MCL_FUTURE | unix.MCL_ONFAULT); err != nil {
			refused = append(refused, fmt.Errorf("memory cannot be locked (%w): raise LimitMEMLOCK, or turn lock_memory off", err))
		}
	}
	if len(s.CPUs) > 0 {
		var set unix.CPUSet
		for _, c := range s.CPUs {
			set.Set(c)
		}
		if err := everyThread(func(tid int) error { return unix.SchedSetaffinity(tid, &set) }); err != nil {
			refused = append(refused, fmt.Errorf("the process cannot be bound to processors %v (%w): name existing ones", s.CPUs, err))
		}
	}
	if s.Priority > 0 {
		if err := everyThread(func(tid int) error { return fifo(tid, s.Priority) }); err != nil {
			refused = append(refused, fmt.Errorf("real-time priority %d is not permitted (%w): raise LimitRTPRIO, or set priority = 0", s.Priority, err))
		}
	}
	return errors.Join(refused...)
}

// fifo gives a thread a real-time priority.
func fifo(tid, priority int) error {
	return unix.SchedSetAttr(tid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: uint32(priority)}, 0)
}

// everyThread calls f for the threads of the process until none is new.
func everyThread(f func(tid int) error) error {
	done := map[int]bool{}
	for fresh := true; fresh; {
		fresh = false
		entries, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		for _, e := range entries {
			tid, err := strconv.Atoi(e.Name())
			if err != nil || done[tid] {
				continue
			}
			done[tid], fresh = true, true
			// A thread may have ended since it was listed.
			if err := f(tid); err != nil && !errors.Is(err, unix.ESRCH) {
				return err
			}
		}
	}
	return nil
}
