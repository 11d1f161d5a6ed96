package model_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
)

// A file over the limit is refused without its whole content in memory more than once.
func TestLongFilesAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long.dgm")
	b, err := artificial.New(artificial.Size{K: 1, Features: 2, Points: 2, Horizon: 1}, 1).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 300<<20); err != nil { // a hole
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = model.ReadFile(path)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, model.ErrNotModel) || !strings.Contains(err.Error(), "more than 32 MiB") {
		t.Error(err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 70<<20 {
		t.Errorf("%d MiB were allocated", used>>20)
	}
}

// Models that share all of their parts are encoded at once: encoding does not write to them, as the race detector sees.
func TestEncodingWritesNothing(t *testing.T) {
	m := artificial.New(artificial.Size{K: 3, P: 2, Features: 20, Basis: 1, Members: 2, Points: 20, Horizon: 0.5, Equation: 2, Nets: 1, History: []float64{0.01, 0.02}}, 1)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			one := *m
			if _, err := one.Encode(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
