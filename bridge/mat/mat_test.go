package mat_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/mat"
)

// read returns the columns of a file that testdata/make.py has written.
func read(t *testing.T, path string) map[string][]float64 {
	t.Helper()
	table, err := mat.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	names, units := table.Columns()
	if len(units) != len(names) {
		t.Fatal(units)
	}
	out := map[string][]float64{}
	for {
		cells, err := table.Next()
		if errors.Is(err, io.EOF) {
			if table.Consumed() != table.Size() {
				t.Errorf("%d of %d bytes", table.Consumed(), table.Size())
			}
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range cells {
			v, err := strconv.ParseFloat(c, 64)
			if err != nil {
				t.Fatal(err)
			}
			out[names[i]] = append(out[names[i]], v)
		}
	}
}

func TestArrays(t *testing.T) {
	for _, c := range []struct {
		file string
		want map[string]func(at float64) float64
	}{
		{"swing.mat", nil},
		{"plain.mat", nil},
		{"rows.mat", map[string]func(float64) float64{"X[0]": func(at float64) float64 { return at }, "X[1]": func(at float64) float64 { return math.Sin(2 * at) }, "y": func(at float64) float64 { return math.Cos(2 * at) }}},
		{"log.mat", map[string]func(float64) float64{"log.t": func(at float64) float64 { return at }, "log.pose.x": math.Sin}},
	} {
		if c.want == nil {
			c.want = map[string]func(float64) float64{
				"t": func(at float64) float64 { return at }, "theta": func(at float64) float64 { return math.Sin(2 * at) },
				"rates[0]": func(at float64) float64 { return float64(float32(math.Cos(2 * at))) }, "rates[1]": func(at float64) float64 { return float64(float32(at)) },
				"tau": func(at float64) float64 { return map[bool]float64{true: 1}[at > 0.5] }, "count": func(at float64) float64 { return math.Round(at/0.02) - 5 },
			}
		}
		got := read(t, filepath.Join("testdata", c.file))
		if len(got) != len(c.want) {
			t.Errorf("%s: %d columns, want %d", c.file, len(got), len(c.want))
		}
		for name, f := range c.want {
			if len(got[name]) != 60 {
				t.Fatalf("%s: %d rows of %s", c.file, len(got[name]), name)
			}
			for i, v := range got[name] {
				if want := f(float64(i) * 0.02); math.Abs(v-want) > 1e-7 {
					t.Fatalf("%s: row %d of %s is %v, want %v", c.file, i, name, v, want)
				}
			}
		}
	}
}

// Damaged files are errors in one line that say so.
func TestDamaged(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join("testdata", "plain.mat"))
	if err != nil {
		t.Fatal(err)
	}
	for want, data := range map[string][]byte{
		"is cut off or damaged":   whole[:1000],
		"no file of MATLAB":       whole[:100],
		"has no vector or matrix": whole[:128],
		"level 5":                 bytes.Replace(whole, []byte("MATLAB 5.0"), []byte("MATLAB 4.0"), 1),
	} {
		path := filepath.Join(t.TempDir(), "a.mat")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := mat.Open(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "a.mat: ") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A file of level 4 is known by its head.
func TestLevel4(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		var head []byte
		kind := uint32(0)
		if order == binary.AppendByteOrder(binary.BigEndian) {
			kind = 1000
		}
		for _, n := range []uint32{kind, 1000, 1, 0, 6} {
			head = order.AppendUint32(head, n)
		}
		if head = append(head, "theta\x00"...); !mat.IsLevel4(head) || mat.IsLevel4(head[:22]) || mat.IsLevel4(append([]byte("MATL"), head[4:]...)) {
			t.Errorf("%q", head)
		}
	}
}

// What is no column is named with the reason.
func TestArraysThatAreNoColumns(t *testing.T) {
	for file, want := range map[string]string{
		"swing.mat": `"name": it is no array of numbers; "other": it is 1 by 7, and the table has 60 rows: save it with as many, or what has times of its own in a file of its own`,
		"log.mat":   `"cube": it has more than two dimensions`,
	} {
		table, err := mat.Open(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(table.LeftOut(), "; "); got != want {
			t.Errorf("%s: %s", file, got)
		}
		_ = table.Close()
	}
}

// No bytes make the reader fail in another way than by an error.
func FuzzFile(f *testing.F) {
	for _, name := range []string{"swing.mat", "plain.mat", "rows.mat", "log.mat"} {
		whole, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(whole)
		f.Add(whole[:len(whole)/2])
	}
	path := filepath.Join(f.TempDir(), "a.mat")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		table, err := mat.Open(path)
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

// element is a data element of a file, by its description.
func element(kind uint32, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	out := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, kind), uint32(len(body)))
	return append(append(out, body...), make([]byte, (8-len(body)%8)%8)...)
}

// Objects, cells and arrays of structures are named with what to save in place of them, and the vectors beside them are read.
func TestObjects(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join("testdata", "plain.mat"))
	if err != nil {
		t.Fatal(err)
	}
	words := func(all ...uint32) (b []byte) {
		for _, x := range all {
			b = binary.LittleEndian.AppendUint32(b, x)
		}
		return b
	}
	object := func(name, class string) []byte {
		return element(14, element(6, words(17, 0)), element(1, []byte(name)), element(1, []byte("MCOS")), element(1, []byte(class)), element(14, element(6, words(13, 0)), element(5, words(6, 1)), element(1, nil), element(6, words(0xdd000000, 2, 1, 1, 1, 1))))
	}
	of := func(class uint32, name string, n uint32) []byte {
		return element(14, element(6, words(class, 0)), element(5, words(1, n)), element(1, []byte(name)), element(2, make([]byte, n)))
	}
	for _, c := range []struct {
		more []byte
		want string
	}{
		{object("ts", "timeseries"), `"ts": it is an object of class timeseries: save its vectors, as in t = x.Time; v = x.Data`},
		{object("when_it_was_recorded", "datetime"), `"when_it_was_recorded": it is an object of class datetime: save it as numbers, as by datenum`},
		{slices.Concat(object("m", "containers.Map"), of(9, "", 200)), `"m": it is an object of class containers.Map`},
		{of(1, "c", 3), `"c": it is a cell array: save its parts as vectors, as in x = c{1}`},
		{of(0x806, "z", 60), `"z": it is complex: save its real and its imaginary part as two vectors, as in x = real(z)`},
		{of(5, "sp", 3), `"sp": it is sparse: save full(x)`},
		{of(2, "s", 3), `"s": it is an array of structures: save its fields as vectors, as in t = [s.t]`},
	} {
		path := filepath.Join(t.TempDir(), "a.mat")
		if err := os.WriteFile(path, slices.Concat(whole, c.more), 0o600); err != nil {
			t.Fatal(err)
		}
		table, err := mat.Open(path)
		if err != nil {
			t.Error(c.want, err)
			continue
		}
		plain, err := mat.Open(filepath.Join("testdata", "plain.mat"))
		if err != nil {
			t.Fatal(err)
		}
		got, _ := table.Columns()
		want, _ := plain.Columns()
		if left := table.LeftOut(); !slices.Equal(got, want) || len(left) != len(plain.LeftOut())+1 || !slices.Contains(left, c.want) {
			t.Errorf("%q, %q, not %q", got, left, c.want)
		}
	}
}
