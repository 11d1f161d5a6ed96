package cli_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

func TestReadSettings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.toml")
	if err := os.WriteFile(path, []byte("seed = 1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if b, err := cli.ReadSettings(path); err != nil || string(b) != "seed = 1\n" {
		t.Errorf("%q, %v", b, err)
	}
	// A log given as settings: larger than memory.
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Fatal(err)
	}
	if _, err := cli.ReadSettings(path); err == nil || !strings.HasPrefix(err.Error(), path+": larger than ") {
		t.Errorf("a file of a terabyte: %v", err)
	}
	if _, err := cli.ReadSettings(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
