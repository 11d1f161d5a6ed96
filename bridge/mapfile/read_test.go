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
	var m struct{ Vehicle string }
	if err := mapfile.Read(path, &m); err != nil || m.Vehicle != "v1" {
		t.Errorf("%+v, %v", m, err)
	}
	// A recording given as the map: longer than memory, for all that is known.
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Fatal(err)
	}
	var bad *mapfile.Error
	if err := mapfile.Read(path, &m); !errors.As(err, &bad) || bad.File != path || !strings.Contains(bad.Remedy, "map.toml") {
		t.Errorf("a file of a terabyte: %v", err)
	}
	if err := mapfile.Read(filepath.Dir(path), &m); err == nil {
		t.Error("a folder is no map")
	}
	if err := mapfile.Read(path+"x", &m); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
