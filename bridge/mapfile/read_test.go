package mapfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/mapfile"
)

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "map.toml")
	if err := os.WriteFile(path, []byte(`vehicle = "v1"`), 0o666); err != nil {
		t.Fatal(err)
	}
	if b, err := mapfile.Read(path); err != nil || string(b) != `vehicle = "v1"` {
		t.Errorf("%q, %v", b, err)
	}
	// A recording given as the map: longer than memory, for all that is known.
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Fatal(err)
	}
	var bad *mapfile.Error
	if _, err := mapfile.Read(path); !errors.As(err, &bad) || bad.File != path || !strings.Contains(bad.Mend, "map.toml") {
		t.Errorf("a file of a terabyte: %v", err)
	}
	if _, err := mapfile.Read(filepath.Dir(path)); err == nil {
		t.Error("a folder is no map")
	}
	if _, err := mapfile.Read(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
