package parquet_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	own "github.com/dgm-robotics/dgm/bridge/parquet"
)

// swing.parquet is written by testdata/make.py.
func TestTable(t *testing.T) {
	table, err := own.Open(filepath.Join("testdata", "swing.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	names, units := table.Columns()
	if got := strings.Join(names, " "); got != "time theta omega tau robot n list[0] list[1]" || units[0] != "ns" || units[1] != "" {
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
		if err != nil || cells[0] != fmt.Sprint(int64(1_700_000_000_000_000_000)+int64(i)*20_000_000) || math.Abs(theta-math.Sin(2*at)) > 1e-15 || cells[3] != fmt.Sprint(at > 0.5) || cells[4] != []string{"a", "b"}[i%2] || cells[5] != n || cells[6] != "1" || cells[7] != "2" {
			t.Fatalf("row %d: %q", i, cells)
		}
	}
	if _, err := table.Next(); !errors.Is(err, io.EOF) || table.Consumed() != table.Size() {
		t.Error(err)
	}
}

// Numbers of 16 bits are read, and a table without rows has its columns.
func TestHalvesAndNoRows(t *testing.T) {
	for name, rows := range map[string]int{"halves": 5, "empty": 0} {
		table, err := own.Open(filepath.Join("testdata", name+".parquet"))
		if err != nil {
			t.Fatal(err)
		}
		defer table.Close()
		if names, _ := table.Columns(); !slices.Equal(names, []string{"time", "theta"}) {
			t.Error(names)
		}
		for i := range rows {
			cells, err := table.Next()
			if err != nil {
				t.Fatal(err)
			}
			if theta, err := strconv.ParseFloat(cells[1], 64); err != nil || math.Abs(theta-math.Sin(0.04*float64(i))) > 1e-4 {
				t.Errorf("%s, row %d: %q", name, i, cells)
			}
		}
		if _, err := table.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
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
			table, err := own.Open(path)
			if err != nil {
				if len(b) < len(whole) && i > 1000 && !strings.Contains(err.Error(), "it was cut off: what describes a file of Parquet is at its end") {
					t.Error(i, err)
				}
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

// However a file is damaged, it takes no more memory than pages of a few megabytes do: lengths in it
// are checked before something is made of them.
func TestDamageCostsNothing(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join("testdata", "swing.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.parquet")
	seeds := []uint64{3008, 4458, 5067, 6661, 7049, 8587, 12750, 15693, 16859, 30474} // without the checks 0.3 to 3.9 GB
	for i := range uint64(1100) {
		seeds = append(seeds, i)
	}
	for _, seed := range seeds {
		rng := rand.New(rand.NewPCG(1, seed))
		damaged := slices.Clone(whole)
		for range 1 + rng.IntN(4) {
			i := rng.IntN(len(damaged))
			if rng.IntN(2) == 0 {
				i = len(damaged) - 1 - rng.IntN(min(len(damaged), 3000))
			}
			switch rng.IntN(3) {
			case 0:
				damaged[i] ^= 1 << rng.IntN(8)
			case 1:
				damaged[i] = byte(rng.IntN(256))
			default:
				damaged[i] = 0xff
			}
		}
		if err := os.WriteFile(path, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if table, err := own.Open(path); err == nil {
			for n := 0; err == nil && n < 1000; n++ {
				_, err = table.Next()
			}
			_ = table.Close()
		}
		runtime.ReadMemStats(&after)
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 100 {
			t.Errorf("seed %d: %d MB", seed, mb)
		}
	}
}

// Lists of the same length are columns, decimal numbers and unsigned ones are exact, and of what
// is no column there is the reason.
func TestListsAndTypes(t *testing.T) {
	node := parquet.Group{
		"a.state": parquet.List(parquet.Leaf(parquet.FloatType)), "b": parquet.Decimal(3, 20, parquet.FixedLenByteArrayType(9)), "c": parquet.Uint(32),
		"d": parquet.List(parquet.Leaf(parquet.DoubleType)), "e": parquet.List(parquet.List(parquet.Leaf(parquet.DoubleType))), "t": parquet.Int(64),
	}
	schema := parquet.NewSchema("log", node)
	path := filepath.Join(t.TempDir(), "a.parquet")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := parquet.NewWriter(file, schema, parquet.KeyValueMetadata("pandas", `{"columns": [{"name": null, "field_name": "t", "numpy_type": "timedelta64[us]"}]}`))
	for i := range 100 {
		minus := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, byte(255 - i)} // -1 - i
		row := parquet.Row{
			parquet.ValueOf(float32(i)).Level(0, 1, 0), parquet.ValueOf(float32(-i)).Level(1, 1, 0), parquet.FixedLenByteArrayValue(minus).Level(0, 0, 1), parquet.ValueOf(math.MaxUint32-uint32(i)).Level(0, 0, 2),
			parquet.ValueOf(1.5).Level(0, 1, 3),
		}
		if i%2 == 1 {
			row = append(row, parquet.ValueOf(2.5).Level(1, 1, 3))
		}
		row = append(row, parquet.ValueOf(1.0).Level(0, 2, 4), parquet.ValueOf(int64(1000*i)).Level(0, 0, 5))
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	table, err := own.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	names, units := table.Columns()
	if got := strings.Join(names, " "); got != "a.state[0] a.state[1] b c t" || units[4] != "us" || units[0] != "" {
		t.Fatal(got, units)
	}
	if left := strings.Join(table.LeftOut(), "; "); left != `"d": its lists have 1 to 2 values: write their numbers into columns of their own; "e": lists of lists are not read: write their numbers into columns of their own` {
		t.Error(left)
	}
	for i := range 100 {
		cells, err := table.Next()
		if want := fmt.Sprintf("%d %d %de-3 %d %d", i, -i, -1-i, math.MaxUint32-uint32(i), 1000*i); err != nil || strings.Replace(strings.Join(cells, " "), "-0 ", "0 ", 1) != want {
			t.Fatalf("row %d: %v, %q, want %q", i, err, cells, want)
		}
	}
}

// Pages that the library unpacks wrongly are refused with what converts them.
func TestLZ4(t *testing.T) {
	type row struct{ X, Y float64 }
	path := filepath.Join(t.TempDir(), "a.parquet")
	rows := make([]row, 500)
	for i := range rows {
		rows[i] = row{math.Sin(float64(i)), math.Cos(float64(i))}
	}
	if err := parquet.WriteFile(path, rows, parquet.Compression(&parquet.Lz4Raw)); err != nil {
		t.Fatal(err)
	}
	if _, err := own.Open(path); err == nil || !strings.Contains(err.Error(), "LZ4") || !strings.Contains(err.Error(), "compression='zstd'") {
		t.Error(err)
	}
}
