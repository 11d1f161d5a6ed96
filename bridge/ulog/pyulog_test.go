package ulog_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/ulog"
)

// samples returns the shared recordings.
func samples(t testing.TB) []string {
	all, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "data", "parser-samples", "ulg", "*.ulg"))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Skip("the shared recordings are not here: parser-samples/ulg")
	}
	return all
}

// python returns an interpreter that has a module: that of DGM_PYTHON, or python3.
func python(t *testing.T, module string) string {
	name := os.Getenv("DGM_PYTHON")
	if name == "" {
		name = "python3"
	}
	if err := exec.Command(name, "-c", "import "+module).Run(); err != nil {
		t.Skip(module, " is not here: install it, and name the interpreter in DGM_PYTHON")
	}
	return name
}

// witness is what pyulog read.
type witness struct {
	Topics []struct {
		Name            string
		Instance, Count int
		Fields          []string
	}
	Corrupt     bool
	Dropouts    []int
	Logged      []string
	Syncs       int
	Parameters  map[string]float64
	Changes     [][]any
	Information map[string]string
	Multi       map[string][][]int
}

// Every topic, field, value, text, parameter and information of every sample is
// the same as pyulog's, bit for bit in float64.
func TestSameAsPyulog(t *testing.T) {
	all := samples(t)
	py := python(t, "pyulog")
	for _, path := range all {
		t.Run(filepath.Base(path), func(t *testing.T) {
			columns := filepath.Join(t.TempDir(), "columns")
			out, err := exec.Command(py, filepath.Join("testdata", "pyulog_columns.py"), path, columns).Output()
			if err != nil {
				t.Fatal(err)
			}
			var want witness
			if err := json.Unmarshal(out, &want); err != nil {
				t.Fatal(err)
			}
			raw, err := os.ReadFile(columns)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, path, &want, raw)
		})
	}
}

func compare(t *testing.T, path string, want *witness, raw []byte) {
	type key struct {
		name     string
		instance int
	}
	columns := map[key][][]float64{} // by topic, one for each field
	fields := map[key][]string{}
	var texts []string
	r, err := ulog.Open(path, telemetry.Wants{
		Select: func(t *telemetry.Topic) (paths []string) {
			for _, f := range t.Fields() {
				paths = append(paths, f.Path)
			}
			fields[key{t.Name, t.Instance}] = paths
			return paths
		},
		Text: func(_ int64, text string) { texts = append(texts, text) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	messages, values := 0, 0
	for {
		m, err := r.Next()
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
		messages++
		values += len(m.Values)
	}
	if len(columns) != len(want.Topics) {
		t.Errorf("%d topics, pyulog reads %d", len(columns), len(want.Topics))
	}
	for _, topic := range want.Topics {
		k := key{topic.Name, topic.Instance}
		if !slices.Equal(fields[k], topic.Fields) {
			t.Fatalf("%v: fields %v, pyulog reads %v", k, fields[k], topic.Fields)
		}
		for i, f := range topic.Fields {
			got := columns[k][i]
			if len(got) != topic.Count {
				t.Fatalf("%v: %d messages, pyulog reads %d", k, len(got), topic.Count)
			}
			for n, v := range got {
				w := math.Float64frombits(binary.LittleEndian.Uint64(raw[8*n:]))
				if v != w && !(math.IsNaN(v) && math.IsNaN(w)) {
					t.Fatalf("%v.%s, message %d: %v, pyulog reads %v", k, f, n, v, w)
				}
			}
			raw = raw[8*len(got):]
		}
	}
	t.Logf("%d topics, %d messages, %d values equal; problems %v", len(columns), messages, values, r.Problems().All())
	if want.Corrupt || r.Problems().Count() != len(want.Dropouts) {
		t.Errorf("problems %v; pyulog: corrupt %v, dropouts %v", r.Problems().All(), want.Corrupt, want.Dropouts)
	}
	if c := r.Counts(); c.Dropouts != len(want.Dropouts) || c.Syncs != want.Syncs || c.Logged != len(want.Logged) {
		t.Errorf("%+v; pyulog reads %d dropouts, %d synchronisations, %d texts", c, len(want.Dropouts), want.Syncs, len(want.Logged))
	}
	if d := cmp.Diff(want.Logged, texts, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("texts (-pyulog +here):\n%s", d)
	}
	parameters := map[string]float64{}
	for _, e := range r.Parameters() {
		v, ok := e.Number()
		if !ok {
			t.Errorf("parameter %s of type %s", e.Key, e.Type)
		}
		parameters[e.Key] = v
	}
	if d := cmp.Diff(want.Parameters, parameters); d != "" {
		t.Errorf("parameters (-pyulog +here):\n%s", d)
	}
	if len(r.Changes()) != len(want.Changes) {
		t.Errorf("%d parameters changed, pyulog reads %d", len(r.Changes()), len(want.Changes))
	}
	information := map[string]string{}
	for _, e := range r.Information() {
		if len(e.Type) > 4 && e.Type[:5] == "char[" {
			information[e.Key] = e.Text()
		}
	}
	if d := cmp.Diff(want.Information, information); d != "" {
		t.Errorf("information (-pyulog +here):\n%s", d)
	}
	parts := map[string][]int{} // how many in each group, by key
	for _, e := range r.MultiInformation() {
		all := parts[e.Key]
		if e.Continued && len(all) > 0 {
			all[len(all)-1]++
		} else {
			all = append(all, 1)
		}
		parts[e.Key] = all
	}
	theirs := map[string][]int{}
	for k, groups := range want.Multi {
		for _, g := range groups {
			theirs[k] = append(theirs[k], len(g))
		}
	}
	if d := cmp.Diff(theirs, parts); d != "" {
		t.Errorf("multi information (-pyulog +here):\n%s", d)
	}
}
