package conformance_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// A file and what a reader must find in it, or why it must refuse it.
type conformanceCase struct {
	File, Kind, About string
	K, P              int
	Expect            map[string]any
	ExpectFile        string `json:"expect_file"`
	Refuse            *struct{ Reason, Field string }
}

// readers read a file of each kind and return what they found by the names of the specification.
var readers = map[string]func(c *conformanceCase, b []byte) (map[string]any, error){
	"state": func(c *conformanceCase, b []byte) (map[string]any, error) {
		var m wire.State
		err := m.Decode(b, c.K, c.P)
		return written(m.Append(nil)), err
	},
	"prediction": func(_ *conformanceCase, b []byte) (map[string]any, error) {
		var m wire.Prediction
		err := m.Decode(b)
		return written(m.Append(nil)), err
	},
	"estimate": func(_ *conformanceCase, b []byte) (map[string]any, error) {
		var m wire.Estimate
		err := m.Decode(b)
		return written(m.Append(nil)), err
	},
	"query": func(_ *conformanceCase, b []byte) (map[string]any, error) {
		var m wire.Query
		err := m.Decode(b)
		return written(m.Append(nil)), err
	},
	"answer": func(_ *conformanceCase, b []byte) (map[string]any, error) {
		var m wire.Answer
		err := m.Decode(b)
		width := m.Dtype
		m.Dtype = "f8"
		found := written(m.Append(nil))
		found["dtype"] = width
		return found, err
	},
	"log": func(_ *conformanceCase, b []byte) (map[string]any, error) { return readLog(b) },
	"model": func(c *conformanceCase, b []byte) (map[string]any, error) {
		m, err := model.Decode(b)
		if err != nil {
			return nil, err
		}
		if _, err := estimator.New(m, nil); err != nil { // evaluates the self-checks
			return nil, err
		}
		return map[string]any{"id": m.ID, "horizon": m.Horizon, "vehicle": m.Vehicle, "self_checks": len(m.Checks)}, nil
	},
}

func TestReadersConform(t *testing.T) {
	raw, err := os.ReadFile("cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []conformanceCase
	exactly(t, raw, &cases)
	for _, c := range cases {
		t.Run(c.File, func(t *testing.T) {
			b, err := os.ReadFile(c.File)
			if err != nil {
				t.Fatal(err)
			}
			found, err := readers[c.Kind](&c, b)
			if c.Refuse != nil {
				if !refusedFor(err, c.Refuse.Reason, c.Refuse.Field) {
					t.Errorf("%s: %v, expected to be refused for %q, field %q", c.About, err, c.Refuse.Reason, c.Refuse.Field)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", c.About, err)
			}
			expected := c.Expect
			if c.ExpectFile != "" {
				expected = fromFile(t, c.ExpectFile)
			}
			got := throughJSON(t, found)
			for name, v := range got {
				if _, asked := expected[name]; !asked && isEmpty(v) {
					delete(got, name) // a codec may write what is absent as empty
				}
			}
			if d := cmp.Diff(expected, got, cmp.Transformer("number", number)); d != "" {
				t.Errorf("%s: expected (-) and found (+):\n%s", c.About, d)
			}
		})
	}
}

// refusedFor reports whether an error has the reason and, unless that is empty, the field.
func refusedFor(err error, reason, field string) bool {
	switch reason {
	case "damaged":
		return errors.Is(err, model.ErrDamaged)
	case "not a model":
		return errors.Is(err, model.ErrNotModel)
	case "not a log":
		return errors.Is(err, flightlog.ErrNotLog)
	}
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e.Reason.String() == reason && (field == "" || e.Field == field || e.Field == "" && strings.Contains(e.Error(), "field "+field+":"))
	}
	return reason == "version" && (errors.Is(err, flightlog.ErrVersion) || errors.Is(err, model.ErrVersion))
}

// written returns the fields of a message that a codec has written, read by a library.
func written(b []byte) map[string]any {
	var fields map[string]any
	if err := msgpack.Unmarshal(b, &fields); err != nil {
		return nil
	}
	for name, v := range fields {
		if bin, ok := v.([]byte); ok {
			numbers := make([]any, len(bin)/8)
			for i := range numbers {
				if x := math.Float64frombits(binary.LittleEndian.Uint64(bin[8*i:])); !math.IsNaN(x) {
					numbers[i] = x
				}
			}
			fields[name] = numbers
		}
	}
	return fields
}

func readLog(b []byte) (map[string]any, error) {
	r, err := flightlog.NewReader(bytes.NewReader(b), "log")
	if err != nil {
		return nil, err
	}
	log, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	var names, segments []any
	var K, P, A int
	for _, c := range log.Channels {
		names = append(names, c.Name)
		switch c.Role {
		case "state":
			K++
		case "input":
			P++
		default:
			A++
		}
	}
	for _, s := range log.Segments {
		samples := []any{}
		for i, t := range s.T {
			samples = append(samples, map[string]any{"t": t, "x": row(s.X, i, K), "u": row(s.U, i, P), "aux": row(s.Aux, i, A)})
		}
		segments = append(segments, map[string]any{"name": s.Name, "samples": samples})
	}
	return map[string]any{"vehicle": log.Vehicle, "channels": names, "damaged": len(log.Damages), "segments": segments}, nil
}

func row(x []float64, i, n int) []any {
	out := make([]any, n)
	for j, v := range x[i*n : (i+1)*n] {
		if !math.IsNaN(v) {
			out[j] = v
		}
	}
	return out
}

// fromFile returns what readers of models return, of a list of a model's numbers.
func fromFile(t *testing.T, path string) map[string]any {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	exactly(t, b, &all)
	checks := 0
	for name := range all {
		if strings.HasPrefix(name, "self_checks[") && strings.HasSuffix(name, ".x0") {
			checks++
		}
	}
	return throughJSON(t, map[string]any{"id": all["id"], "horizon": all["horizon"], "vehicle": all["vehicle"], "self_checks": checks})
}

func throughJSON(t *testing.T, v any) map[string]any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	exactly(t, b, &out)
	return out
}

// exactly reads JSON whose integers have up to 64 bits.
func exactly(t *testing.T, b []byte, dst any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(dst); err != nil {
		t.Fatal(err)
	}
}

// number returns the value of a number of JSON: a float64, or an int64 where that has more digits than a float64.
func number(n json.Number) any {
	if i, err := n.Int64(); err == nil && (i > 1<<53 || i < -1<<53) {
		return i
	}
	x, _ := n.Float64()
	return x
}

// isEmpty reports whether a value is what an absent field has.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case json.Number:
		return v == "0"
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	}
	return false
}
