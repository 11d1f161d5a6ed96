package main

import (
	"os"
	"runtime"
)

// usage is what a process holds.
type usage struct {
	heap       float64 // MB in use after a collection
	goroutines int
	files      int
}

func measureUsage() usage {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := usage{heap: float64(m.HeapAlloc) / (1 << 20), goroutines: runtime.NumGoroutine()}
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil {
		u.files = len(entries)
	}
	return u
}
