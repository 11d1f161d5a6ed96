package npz_test

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
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

// archive writes arrays of doubles, by their names, with the shapes that NumPy writes: each element is its number in the file.
func archive(t *testing.T, arrays map[string]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.npz")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(file)
	for name, head := range arrays {
		w, err := z.Create(name + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(head, "'descr'") {
			head = "'descr': '<f8', " + head
		}
		text := fmt.Sprintf("{%s, }\n", head)
		n := 1
		_, shape, _ := strings.Cut(head, "(")
		for _, part := range strings.Split(strings.TrimSuffix(shape, ")"), ",") {
			if v, err := strconv.Atoi(strings.TrimSpace(part)); err == nil {
				n *= v
			}
		}
		b := append(append([]byte("\x93NUMPY\x01\x00"), byte(len(text)), byte(len(text)>>8)), text...)
		for k := range n {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(k)))
		}
		_, err = w.Write(b)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// Arrays that are no columns are named with the reason, whatever most numbers are in. Those that are stored column by column,
// or have their rows along the second axis, are read.
func TestArraysThatAreNoColumns(t *testing.T) {
	const c = "'fortran_order': False, 'shape': "
	table, err := npz.Open(archive(t, map[string]string{
		"t": c + "(100,)", "tau": c + "(100,)", "x": c + "(2, 100)", "u": c + "(99,)", "cmd": c + "(50, 3)", "f": "'fortran_order': True, 'shape': (100, 2)", "deep": c + "(4, 25, 2)", "dt": c + "()", "y": c + "(3, 900)",
		"log": "'descr': [('t', '<f8'), ('x', '<f4')], " + c + "(100,)", "d": "'descr': '|O', " + c + "()",
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	columns, _ := table.Columns()
	names := slices.Sorted(slices.Values(columns))
	left := table.LeftOut()
	if strings.Join(names, " ") != "f[0] f[1] t tau x[0] x[1]" || table.Rows != 100 || len(left) != 7 {
		t.Error(names, table.Rows, left)
	}
	for row := range 100 { // the second column of what is stored column by column begins behind 100 elements
		cells, err := table.Next()
		for i, name := range columns {
			want := row
			if strings.HasSuffix(name, "[1]") {
				want += 100
			}
			if err != nil || cells[i] != strconv.Itoa(want) {
				t.Fatal(row, name, cells, err)
			}
		}
	}
	for name, want := range map[string]string{
		"u": "it has 99 rows, one less than the table", "cmd": "it has 50 rows, and the table has 100",
		"deep": "its shape is (4, 25, 2): save it with two dimensions", "dt": "it is a single value", "y": "it has 900 rows",
		"log": "it has fields: save each as an array, as by numpy.savez('log.npz', **{n: a[n] for n in a.dtype.names})", "d": "it has objects of Python: save their numbers as arrays",
	} {
		if !slices.ContainsFunc(left, func(l string) bool {
			return strings.HasPrefix(l, strconv.Quote(name)+": ") && strings.Contains(l, want)
		}) {
			t.Errorf("no %s: %s in %q", name, want, left)
		}
	}
	if alone, err := npz.Open(archive(t, map[string]string{"x": c + "(2, 100)"})); err != nil || alone.Rows != 100 {
		t.Error(err)
	}
}
