package model_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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
