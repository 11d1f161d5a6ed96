package npz_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/npz"
)

// swing.npz is written by testdata/make.py.
func TestArrays(t *testing.T) {
	table, err := npz.Open(filepath.Join("testdata", "swing.npz"))
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	names, units := table.Columns()
	if got := strings.Join(names, " "); got != "t theta rates[0] rates[1] tau robot" || units[0] != "ns" || units[1] != "" {
		t.Fatal(got, units)
	}
	for i := range 60 {
		cells, err := table.Next()
		if err != nil {
			t.Fatal(err)
		}
		at := 0.02 * float64(i)
		theta, _ := strconv.ParseFloat(cells[1], 64)
		rate, _ := strconv.ParseFloat(cells[2], 64)
		tau := map[bool]string{true: "1", false: "0"}[at > 0.5]
		if cells[0] != fmt.Sprint(int64(1_700_000_000_000_000_000)+int64(i)*20_000_000) || math.Abs(theta-math.Sin(2*at)) > 1e-15 || math.Abs(rate-math.Cos(2*at)) > 1e-7 || cells[4] != tau || cells[5] != []string{"a", "bö"}[i%2] {
			t.Fatalf("row %d: %q", i, cells)
		}
	}
	if _, err := table.Next(); !errors.Is(err, io.EOF) || table.Consumed() != table.Size() {
		t.Error(err)
	}
}

// No bytes make the reader fail in another way than by an error.
func FuzzArchive(f *testing.F) {
	whole, err := os.ReadFile(filepath.Join("testdata", "swing.npz"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	path := filepath.Join(f.TempDir(), "a.npz")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		table, err := npz.Open(path)
		if err != nil {
			if strings.Count(err.Error(), "\n") > 0 {
				t.Errorf("%q", err)
			}
			return
		}
		defer table.Close()
		for range 1000 {
			if _, err := table.Next(); err != nil {
				return
			}
		}
	})
}
