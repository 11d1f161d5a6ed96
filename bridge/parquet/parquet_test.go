package parquet_test

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

	"github.com/dgm-robotics/dgm/bridge/parquet"
)

// swing.parquet is written by testdata/make.py.
func TestTable(t *testing.T) {
	table, err := parquet.Open(filepath.Join("testdata", "swing.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	names, units := table.Columns()
	if got := strings.Join(names, " "); got != "time theta omega tau robot n" || units[0] != "ns" || units[1] != "" {
		t.Fatal(got, units)
	}
	for i := range 60 {
		cells, err := table.Next()
		if err != nil {
			t.Fatal(err)
		}
		at := 0.02 * float64(i)
		theta, err := strconv.ParseFloat(cells[1], 64)
		if i == 5 {
			if cells[1] != "" {
				t.Errorf("%q", cells)
			}
			theta, err = math.Sin(2*at), nil
		}
		n := strconv.Itoa(i - 1)
		if i == 0 {
			n = ""
		}
		if err != nil || cells[0] != fmt.Sprint(int64(1_700_000_000_000_000_000)+int64(i)*20_000_000) || math.Abs(theta-math.Sin(2*at)) > 1e-15 || cells[3] != fmt.Sprint(at > 0.5) || cells[4] != []string{"a", "b"}[i%2] || cells[5] != n {
			t.Fatalf("row %d: %q", i, cells)
		}
	}
	if _, err := table.Next(); !errors.Is(err, io.EOF) || table.Consumed() != table.Size() {
		t.Error(err)
	}
}

// What is cut off or damaged is refused, or its rows are.
func TestDamage(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join("testdata", "swing.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.parquet")
	for i := 0; i < len(whole); i += 97 {
		damaged := append([]byte(nil), whole...)
		damaged[i] ^= 0xff
		for _, b := range [][]byte{whole[:i], damaged} {
			if err := os.WriteFile(path, b, 0o666); err != nil {
				t.Fatal(err)
			}
			table, err := parquet.Open(path)
			if err != nil {
				continue
			}
			for n := 0; err == nil && n < 1000; n++ {
				_, err = table.Next()
			}
			if err == nil {
				t.Fatal("rows without an end")
			}
			_ = table.Close()
		}
	}
}
