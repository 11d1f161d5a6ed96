// Package reference compares what a reader of the bridge returns with what an
// independent reader, in Python, returns for the same log. It is for tests only.
//
// An independent reader is a script in the testdata of the package under test. It
// writes one JSON document to standard output, with a list of topics, and the
// values of all fields as little-endian float64 to a file, column after column.
//
// testdata holds one small recording of each format with the answer of its
// script, so that the comparison needs neither Python nor recordings of real
// robots; testdata/make.py makes them. Where DGM_RECORD is set
// the tests run the scripts and rewrite the answers.
package reference

import (
	"bytes"
	"compress/gzip"
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

// record makes the tests run the independent readers on the committed recordings and
// write what they return.
var record = os.Getenv("DGM_RECORD") != ""

// Topic is what an independent reader read of a topic.
type Topic struct {
	Name     string
	Instance int
	Count    int
	Fields   []string
	Units    []string // (optional) of the fields
	Older    bool     // the independent reader may know fewer fields than there are
	Cut      bool     // the independent reader has zeros where a field is in no message so far
}

// committed is the folder of the committed recordings, seen from bridge/FORMAT.
var committed = filepath.Join("..", "internal", "reference", "testdata")

// Committed returns the committed recording of a name, such as flight.ulg.
func Committed(name string) string { return filepath.Join(committed, name) }

// Shared returns the recordings of real robots that match a pattern in
// parser-samples, or skips the test.
func Shared(t testing.TB, pattern string) []string {
	t.Helper()
	all := shared(t, pattern)
	if len(all) == 0 {
		t.Skip("the shared recordings are not here: parser-samples/" + pattern)
	}
	return all
}

// Samples returns the committed recording of a name and the recordings of real
// robots that match a pattern in parser-samples, as far as they are here.
func Samples(t testing.TB, name, pattern string) []string {
	t.Helper()
	return append([]string{Committed(name)}, shared(t, pattern)...)
}

func shared(t testing.TB, pattern string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "data", "parser-samples", pattern))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Ask returns what an independent reader reads of a log: it decodes the document
// into doc and returns the columns. For a committed recording that is the
// committed answer. For others it runs a script of the calling package's testdata
// with the interpreter named in DGM_PYTHON or python3, and skips the test where
// the module is missing.
func Ask(t *testing.T, module, script, path string, doc any) (columns []byte) {
	t.Helper()
	known := filepath.Dir(path) == committed
	var text []byte
	if known && !record {
		text, columns = answer(t, path)
	} else {
		text, columns = run(t, module, script, path)
	}
	if known && record {
		keep(t, path, text, columns)
	}
	if err := json.Unmarshal(text, doc); err != nil {
		t.Fatal(err)
	}
	return columns
}

func run(t *testing.T, module, script, path string) (text, columns []byte) {
	t.Helper()
	python := os.Getenv("DGM_PYTHON")
	if python == "" {
		python = "python3"
	}
	if err := exec.Command(python, "-c", "import "+module).Run(); err != nil {
		t.Skip(module, " is not here: install it, and name its interpreter in DGM_PYTHON")
	}
	file := filepath.Join(t.TempDir(), "columns")
	text, err := exec.Command(python, filepath.Join("testdata", script), path, file).Output()
	if err != nil {
		t.Fatal(err)
	}
	columns, err = os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text, columns
}

// answer reads the committed answer for a committed recording.
func answer(t *testing.T, path string) (text, columns []byte) {
	t.Helper()
	text, err := os.ReadFile(path + ".json")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path + ".columns.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if columns, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return text, columns
}

// keep writes an answer beside its recording.
func keep(t *testing.T, path string, text, columns []byte) {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write(columns)
	err = errors.Join(err, z.Close(), os.WriteFile(path+".columns.gz", packed.Bytes(), 0o666), os.WriteFile(path+".json", text, 0o666))
	if err != nil {
		t.Fatal(err)
	}
}

// key names a topic.
type key struct {
	name     string
	instance int
}

// table is what the reader under test returned for a topic.
type table struct {
	count   int
	fields  []string
	units   []string
	columns [][]float64 // fields × count
}

// Compare reads a source to its end, all fields of it, and fails where a topic,
// a count, a field or a value differs. It returns the numbers of messages and
// values that are equal. open is called with what is wanted.
func Compare(t *testing.T, open func(telemetry.Wants) (telemetry.Source, error), text func(int64, string), want []Topic, raw []byte) (s telemetry.Source, messages, values int) {
	t.Helper()
	s, all := readAll(t, open, text)
	with := 0
	for _, x := range all {
		messages += x.count
		if x.count > 0 {
			with++
		}
	}
	if with != len(want) {
		t.Errorf("%d topics, the independent reader read %d", with, len(want))
	}
	var sums [2]uint32
	for _, topic := range want {
		got := all[key{topic.Name, topic.Instance}]
		if got == nil {
			t.Fatalf("topic %s#%d is missing", topic.Name, topic.Instance)
		}
		raw = topic.compare(t, got, raw, &sums)
		values += topic.Count * len(topic.Fields)
	}
	if len(raw) != 0 {
		t.Errorf("%d bytes of the independent reader's columns are left over", len(raw))
	}
	t.Logf("%d values have the checksum %08x, the independent reader's %08x (CRC-32C of float64, little-endian)", values, sums[0], sums[1])
	return s, messages, values
}

func readAll(t *testing.T, open func(telemetry.Wants) (telemetry.Source, error), text func(int64, string)) (telemetry.Source, map[key]*table) {
	t.Helper()
	all := map[key]*table{}
	s, err := open(telemetry.Wants{Text: text, Select: func(topic *telemetry.Topic) []string {
		x := &table{}
		for _, f := range topic.Fields() {
			x.fields, x.units = append(x.fields, f.Path), append(x.units, f.Unit)
		}
		x.columns = make([][]float64, len(x.fields))
		all[key{topic.Name, topic.Instance}] = x
		return x.fields
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
			return s, all
		}
		if err != nil {
			t.Fatal(err)
		}
		x := all[key{m.Topic.Name, m.Topic.Instance}]
		for i, v := range m.Values {
			x.columns[i] = append(x.columns[i], v)
		}
		x.count++
	}
}

// compare compares a topic with what the reader under test returned, cuts its
// columns from raw, and adds to the checksums of both.
func (topic *Topic) compare(t *testing.T, got *table, raw []byte, sums *[2]uint32) (rest []byte) {
	t.Helper()
	name := key{topic.Name, topic.Instance}
	if got.count != topic.Count {
		t.Fatalf("%v: %d messages, the independent reader read %d", name, got.count, topic.Count)
	}
	if !slices.Equal(got.fields, topic.Fields) && !(topic.Older && contains(got.fields, topic.Fields)) {
		t.Fatalf("%v: fields %v, the independent reader read %v", name, got.fields, topic.Fields)
	}
	if topic.Units != nil && !slices.Equal(got.units, topic.Units) {
		t.Errorf("%v: units %q, the independent reader read %q", name, got.units, topic.Units)
	}
	for _, f := range topic.Fields {
		cut := topic.Cut
		for n, v := range got.columns[slices.Index(got.fields, f)] {
			w := math.Float64frombits(binary.LittleEndian.Uint64(raw[8*n:]))
			if cut = cut && math.IsNaN(v); cut && w == 0 {
				v = 0
			}
			if v != w && !(math.IsNaN(v) && math.IsNaN(w)) {
				t.Fatalf("%v.%s, message %d: %v, the independent reader read %v", name, f, n, v, w)
			}
			sums[0], sums[1] = sum(sums[0], v), sum(sums[1], w)
		}
		raw = raw[8*topic.Count:]
	}
	return raw
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum continues a checksum; every NaN counts as the same.
func sum(crc uint32, v float64) uint32 {
	if math.IsNaN(v) {
		v = math.NaN()
	}
	return crc32.Update(crc, castagnoli, binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
}

func contains(all, some []string) bool {
	for _, f := range some {
		if !slices.Contains(all, f) {
			return false
		}
	}
	return true
}
