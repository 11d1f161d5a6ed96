package realtime

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

func TestASleeperDoesNotWakeEarly(t *testing.T) {
	done := make(chan []int64)
	go func() {
		const zero = int64(5e9) // the caller's clock need not begin at 0
		start := time.Now()
		s := NewSleeper(zero, 0)
		defer s.Close()
		var early []int64
		for i := range int64(50) {
			due := i * 200_000
			s.Until(zero + due)
			if at := int64(time.Since(start)); at < due {
				early = append(early, due-at)
			}
		}
		s.Until(zero - 1e9) // past: at once
		done <- early
	}()
	if early := <-done; len(early) > 0 {
		t.Errorf("woke early by %v ns", early)
	}
}

func TestWhatCannotBeIsRefused(t *testing.T) {
	for _, s := range []Settings{{Priority: 90}, {Priority: -1}, {Collect: -1}, {Memory: -1}, {CPUs: []int{4096}}} {
		if s.Check() == nil {
			t.Errorf("%+v was accepted", s)
		}
	}
	if err := (&Settings{Priority: 50, LockMemory: true, CPUs: []int{0}, Collect: 400, Memory: 1 << 30}).Check(); err != nil {
		t.Error(err)
	}
}

func TestTheCollectorIsSet(t *testing.T) {
	before, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	defer func() { debug.SetGCPercent(before); debug.SetMemoryLimit(limit) }()
	if err := (&Settings{Collect: 400, Memory: 1 << 40}).Apply(); err != nil {
		t.Fatal(err)
	}
	if got := debug.SetGCPercent(100); got != 400 {
		t.Errorf("the heap grows by %d %%", got)
	}
	if got := debug.SetMemoryLimit(-1); got != 1<<40 {
		t.Errorf("the limit is %d", got)
	}
}

func TestProcessorsThatAreNotThere(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processors can be chosen on Linux only")
	}
	err := (&Settings{CPUs: []int{1023}}).Apply()
	if err == nil || !strings.Contains(err.Error(), "name existing ones") {
		t.Errorf("bound to processor 1023: %v", err)
	}
}

func TestAvailableMemory(t *testing.T) {
	if most := Available(); most < 1<<20 {
		t.Errorf("%d bytes are available to a process that runs", most)
	}
}
