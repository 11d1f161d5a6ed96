// Package witness compares what a reader of the bridge gives with what an
// independent program, in Python, reads of the same log. It is for tests only,
// which skip by the name of the module where that is not installed.
//
// A witness is a script in a package's testdata. It writes one JSON document to
// standard output, with a list of topics, and the values of all fields as
// little-endian float64 to a file, column after column.
package witness

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Topic is what a witness read of a topic.
type Topic struct {
	Name     string
	Instance int
	Count    int
	Fields   []string
	Units    []string // (optional) of the fields
	Older    bool     // the witness may know fewer fields than there are
}

// Samples returns the shared recordings that match a pattern in parser-samples,
// or skips the test.
func Samples(t testing.TB, pattern string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "data", "parser-samples", pattern))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Skip("the shared recordings are not here: parser-samples/" + pattern)
	}
	return all
}

// Ask runs a script of the calling package's testdata on a log, with the
// interpreter named in DGM_PYTHON or python3, and returns the columns; the
// document is decoded into doc. It skips the test where the module is not there.
func Ask(t *testing.T, module, script, path string, doc any) (columns []byte) {
	t.Helper()
	python := os.Getenv("DGM_PYTHON")
	if python == "" {
		python = "python3"
	}
	if err := exec.Command(python, "-c", "import "+module).Run(); err != nil {
		t.Skip(module, " is not here: install it, and name its interpreter in DGM_PYTHON")
	}
	file := filepath.Join(t.TempDir(), "columns")
	out, err := exec.Command(python, filepath.Join("testdata", script), path, file).Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, doc); err != nil {
		t.Fatal(err)
	}
	if columns, err = os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	return columns
}

// key names a topic.
type key struct {
	name     string
	instance int
}

// Compare reads a source to its end, all fields of it, and fails where a topic,
// a count, a field or a value differs. It returns the numbers of messages and
// values that are equal. open is called with what is wanted.
func Compare(t *testing.T, open func(telemetry.Wants) (telemetry.Source, error), text func(int64, string), want []Topic, raw []byte) (s telemetry.Source, messages, values int) {
	t.Helper()
	columns, counts := map[key][][]float64{}, map[key]int{}
	fields, units := map[key][]string{}, map[key][]string{}
	s, err := open(telemetry.Wants{Text: text, Select: func(t *telemetry.Topic) (paths []string) {
		k := key{t.Name, t.Instance}
		for _, f := range t.Fields() {
			paths = append(paths, f.Path)
			units[k] = append(units[k], f.Unit)
		}
		fields[k] = paths
		return paths
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for {
		m, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		k := key{m.Topic.Name, m.Topic.Instance}
		if columns[k] == nil {
			columns[k] = make([][]float64, len(m.Values))
		}
		for i, v := range m.Values {
			columns[k][i] = append(columns[k][i], v)
		}
		counts[k]++
		messages++
	}
	if len(counts) != len(want) {
		t.Errorf("%d topics, the witness read %d", len(counts), len(want))
	}
	var own, others uint32
	for _, topic := range want {
		k := key{topic.Name, topic.Instance}
		if counts[k] != topic.Count {
			t.Fatalf("%v: %d messages, the witness read %d", k, counts[k], topic.Count)
		}
		if !slices.Equal(fields[k], topic.Fields) && !(topic.Older && contains(fields[k], topic.Fields)) {
			t.Fatalf("%v: fields %v, the witness read %v", k, fields[k], topic.Fields)
		}
		if topic.Units != nil && !slices.Equal(units[k], topic.Units) {
			t.Errorf("%v: units %q, the witness read %q", k, units[k], topic.Units)
		}
		for _, f := range topic.Fields {
			for n, v := range columns[k][slices.Index(fields[k], f)] {
				w := math.Float64frombits(binary.LittleEndian.Uint64(raw[8*n:]))
				if v != w && !(math.IsNaN(v) && math.IsNaN(w)) {
					t.Fatalf("%v.%s, message %d: %v, the witness read %v", k, f, n, v, w)
				}
				own, others = sum(own, v), sum(others, w)
				values++
			}
			raw = raw[8*topic.Count:]
		}
	}
	if len(raw) != 0 {
		t.Errorf("%d bytes of the witness's columns are left over", len(raw))
	}
	t.Logf("%d values have the checksum %08x, the witness's %08x (CRC-32C of float64, little-endian)", values, own, others)
	return s, messages, values
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum goes on with a checksum; every NaN counts as the same.
func sum(crc uint32, v float64) uint32 {
	if math.IsNaN(v) {
		v = math.NaN()
	}
	return crc32.Update(crc, castagnoli, binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
}

// contains says whether all has each of some.
func contains(all, some []string) bool {
	for _, f := range some {
		if !slices.Contains(all, f) {
			return false
		}
	}
	return true
}
