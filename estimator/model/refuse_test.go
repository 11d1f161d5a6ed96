package model_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// body returns the body of a golden file as any msgpack library reads it.
func body(t testing.TB, name string) map[string]any {
	t.Helper()
	var outer []any
	if err := msgpack.Unmarshal(goldenFile(t, name), &outer); err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := msgpack.Unmarshal(outer[2].([]byte), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func pack(t testing.TB, v any) []byte {
	t.Helper()
	b, err := msgpack.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestUnknownFieldsAreSkipped(t *testing.T) {
	m := body(t, "v3")
	m["later"] = map[string]any{"deep": []any{1, "two", nil}}
	m["members"].([]any)[0].(map[string]any)["later"] = 3.5
	if _, err := model.Decode(wrap(pack(t, m))); err != nil {
		t.Error(err)
	}
	b := wrap(pack(t, m))
	b[0]++ // an array of six
	if _, err := model.Decode(msgbin.Append(b, func(w *msgbin.Writer) { w.String("more") })); err != nil {
		t.Error(err)
	}
}

// leaf is one place in a body.
type leaf struct {
	path string
	set  func(v any)
	cut  func() func() // removes the field and returns the way back
	v    any
}

// leaves lists every field of a body, at all depths.
func leaves(path string, v any, out []leaf) []leaf {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			at := strings.TrimPrefix(path+"."+key, ".")
			out = append(out, leaf{at, func(x any) { v[key] = x }, func() func() {
				delete(v, key)
				return func() { v[key] = inner }
			}, inner})
			out = leaves(at, inner, out)
		}
	case []any:
		for i, inner := range v {
			at := fmt.Sprintf("%s[%d]", path, i)
			if _, vector := inner.([]byte); vector { // a row of a matrix
				out = append(out, leaf{at, func(x any) { v[i] = x }, nil, inner})
			}
			out = leaves(at, inner, out)
		}
	}
	return out
}

// refused decodes the body and asserts that the error names the field or the
// part that the field belongs to.
func refused(t *testing.T, m map[string]any, what, path string) {
	t.Helper()
	_, err := model.Decode(wrap(pack(t, m)))
	var field *model.FieldError
	if !errors.As(err, &field) {
		t.Errorf("%s %s: %v", path, what, err)
		return
	}
	if !strings.HasPrefix(path, field.Field) && !strings.HasPrefix(field.Field, path) {
		t.Errorf("%s %s: the error names another field: %v", path, what, err)
	}
}

// freeLength are the vectors that may have any length, and what follows from
// them elsewhere.
func freeLength(path string, v any) bool {
	switch {
	case strings.HasSuffix(path, ".times"): // seen in the mean, which has other points
		return true
	case strings.HasSuffix(path, ".plan"): // any number of rows
		return true
	case path == "noise_knots", path == "history.edges": // seen in what has a number for each knot, or reads rows
		return true
	}
	return len(v.([]byte)) == 0
}

// TestEveryFieldIsChecked leaves out, shortens and poisons every field of both
// golden files, one after the other.
func TestEveryFieldIsChecked(t *testing.T) {
	for name := range goldenShapes {
		m := body(t, name)
		all := leaves("", m, nil)
		if len(all) < 100 {
			t.Fatalf("only %d fields", len(all))
		}
		for _, l := range all {
			if l.cut != nil && !strings.HasSuffix(l.path, ".chain") && !strings.HasSuffix(l.path, ".plain_sensor") && !strings.HasSuffix(l.path, ".input_range") { // optional; seen in the self-checks
				back := l.cut()
				refused(t, m, "left out", l.path)
				back()
			}
			l.set(map[string]any{"of": "another type"})
			refused(t, m, "of another type", l.path)
			l.set(l.v)
			switch v := l.v.(type) {
			case float64:
				for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
					l.set(bad)
					refused(t, m, "set to "+fmt.Sprint(bad), l.path)
				}
			case []byte:
				if !freeLength(l.path, v) {
					// Eight bytes are one double number, and no whole number of others.
					l.set(v[:len(v)-8])
					refused(t, m, "shortened", l.path)
					l.set(append(bytes.Clone(v), v[:8]...))
					refused(t, m, "lengthened", l.path)
					l.set(v[:len(v)-1])
					refused(t, m, "cut within a number", l.path)
				}
				for _, bad := range poison(v, name == "v3" && strings.Contains(l.path, "inverse_factor")) {
					l.set(bad)
					refused(t, m, "poisoned", l.path)
				}
			}
			l.set(l.v)
		}
		if _, err := model.Decode(wrap(pack(t, m))); err != nil {
			t.Fatalf("the body was not put back: %v", err)
		}
	}
}

// poison returns copies of a vector, in numbers of three or eight bytes, with its last
// number NaN and infinite.
func poison(v []byte, short bool) [][]byte {
	if len(v) == 0 {
		return nil
	}
	nan, inf := bytes.Clone(v), bytes.Clone(v)
	if short {
		copy(nan[len(v)-3:], []byte{0, 0xc0, 0x7f})
		copy(inf[len(v)-3:], []byte{0, 0x80, 0x7f})
	} else {
		binary.LittleEndian.PutUint64(nan[len(v)-8:], math.Float64bits(math.NaN()))
		binary.LittleEndian.PutUint64(inf[len(v)-8:], math.Float64bits(math.Inf(-1)))
	}
	return [][]byte{nan, inf}
}

// TestContradictionsAreRefused changes whole numbers and lists, which
// TestEveryFieldIsChecked leaves alone.
func TestContradictionsAreRefused(t *testing.T) {
	vec := func(v ...float64) []byte {
		return msgbin.Append(nil, func(w *msgbin.Writer) { w.Floats(v) })[2:]
	}
	for _, c := range []struct {
		path string
		v    any
		want string
	}{
		{"vehicle", 7, "expected a string"},
		{"horizon", -1.0, "must be positive"},
		{"points", 0, "outside 1…"},
		{"points", 1 << 30, "outside"},
		{"displacement", false, "origin"},
		{"channels[0].role", "driver", "role"},
		{"channels[0].role", "aux", "channels"},
		{"channels[2].role", "state", "input_mean"}, // for an input that is none any more
		{"channels[0].derivative", "nothing", "derivative"},
		{"channels[1].name", "angle0", "twice"},
		{"channels", []any{}, "no channel"},
		{"inputs.knots", 4, "members[0].core.layers[0].in"},
		{"inputs.knots", -1, "outside"},
		{"inputs.knots", int64(1 << 40), "outside"},
		{"inputs.input_std", vec(0), "must be positive"},
		{"inputs.lift.of", []any{0, 0, 2}, "state 2 of 2"},
		{"inputs.lift.of", []any{0, 0}, "kind"},
		{"inputs.lift.kind", []any{1, 2, 3}, "unknown reading"},
		{"inputs.lift.kind", []any{1, 2, 256}, "outside 0…3"},
		{"inputs.lift.std", vec(1, 1, 0), "must be positive"},
		{"scale", vec(1, 0), "must be positive"},
		{"sensor", vec(1, -1), "negative"},
		{"noise_knots", vec(0, 0.2, 0.1), "ascend"},
		{"noise_knots", vec(-1, 0.1, 1), "ascend"},
		{"noise_knots", vec(), "0 knots"},
		{"widen[0]", vec(1, 1, 1, 1, 1, 0), "must be positive"},
		{"growth", vec(1), "widen has 2"},
		{"growth", vec(0.5, -0.1), "outside 0…10"},
		{"motion.usual", vec(1), "expected 6"},
		{"motion.usual", vec(1, 1, 1, 1, 1, -1), "negative"},
		{"motion.power", vec(0.5), "widen has 2"},
		{"motion.power", vec(0.5, 11), "outside 0…10"},
		{"motion.least", 0.0, "outside 0…1"},
		{"motion.most", 0.5, "outside 1…"},
		{"region.distance", -1.0, "negative"},
		{"region.points", []any{}, "none"},
		{"region.inverse", vec(1), "expected 6"},
		{"region.low", []any{vec(1, 2)}, "expected 1"},
		{"stack[1].weights[0]", vec(0.5), "expected 6"},
		{"stack[1].weights[0]", vec(0, 0, 0, 0, 0, 1.1), "outside 0…1"},
		{"stack[1].members", []any{}, "0 equations"},
		{"stack[1].members[0].step", 0.0, "must be positive"},
		{"linear_std", vec(1, 1, 1, 1, 1, 0), "must be positive"},
		{"members", []any{}, "none"},
		{"members[0].d", 3, "head"},
		{"members[0].d", 0, "outside 1…"},
		{"members[0].f", 5, "even"},
		{"members[0].f", 6, "omega"},
		{"members[0].basis", 9, "outside 0…8"},
		{"members[0].basis", 2, "weights"},
		{"members[0].gated", false, "displacement"},
		{"members[0].core.layers", []any{}, "layers"},
		{"members[0].core.layers[0].in", 8, "expected 7"},
		{"members[0].core.layers[1].out", 5, "numbers, expected"},
		{"members[0].core.layers[1].out", 0, "outside 1…"},
		{"members[0].core.layers[0].activation", 3, "outside 0…2"},
		{"members[0].core.layers[0].activation", 256, "outside 0…2"},
		{"members[0].posterior", []any{}, "0 readouts"},
		{"members[1].posterior[1].weights", []any{}, "0 channels, expected 2"},
		{"refits[0].posterior[0].weights", []any{}, "0 channels, expected 2"},
		{"members[0].posterior[1].exact", true, "inverse_factor"},
		{"dynamics.layers[1].out", 3, "dynamics"},
		{"baseline.step", 0.0, "must be positive"},
		{"stack[0].members[0].degree", 4, "outside 1…3"},
		{"stack[0].members[0].degree", 2, "weights"},
		{"stack[0].members[0].step", 0.0, "must be positive"},
		{"stack[0].members[0].step", 1e-6, "too short for a horizon"},
		{"stack[0].members[0].bound", vec(1, 1, 1, -1), "must be positive"},
		{"stack[0].members[0].input_std", vec(0), "must be positive"},
		{"stack[0].members[0].lift.of", []any{0, 0, 2}, "state 2 of 2"},
		{"stack[0].members[0].lift.std", vec(1, 0, 1), "must be positive"},
		{"stack[0].members[0].body.attitude", []any{0, 1, 0}, "state 0 is declared twice"},
		{"stack[0].members[0].body.rates", []any{0, 1}, "2 states where three or none"},
		{"stack[0].members[0].body.position", []any{0, 1, 2}, "state 2 of 2"},
		{"stack[0].members[0].body.sign", vec(1), "1 signs, expected 0"},
		{"stack[0].members[0].body.in_body", true, "needs the attitude"},
		{"stack[0].members[0].body.omega", math.NaN(), "is NaN"},
		{"stack[0].weights", []any{vec(0, 0, 0, 0, 0, 0)}, "the first component has none"},
		{"stack[0].far", 1.0, "must be positive"},
		{"stack[1].kind", 3, "outside 0…2"},
		{"stack[1].kind", 1, "belongs to an equation"},
		{"stack[1].weights", []any{vec(0, 0, 0, 0, 0, 0)}, "1 conditions, expected 2…4"},
		{"stack[1].weights[0]", vec(1, 1, 1, 1, 1, 1), "together at condition 0"},
		{"stack[2].members[0].layers", []any{}, "net_scale: 2 numbers, expected 0"},
		{"stack[2].members[0].layers[0].out", 6, "numbers, expected"},
		{"stack[2].members[0].layers[1].activation", 2, "the last linear"},
		{"stack[3].near", 0.0, "must be positive"},
		{"stack[3].far", 0.05, "is not beyond near"},
		{"stack[3].direct.levels", []any{}, "no level without history"},
		{"stack[3].direct.derivative", []any{3, 0}, "state 2 of 2"},
		{"stack[3].direct.blocks", 65, "outside 0…64"},
		{"stack[3].direct.levels[1].rows", 3, "outside 0…2"},
		{"stack[3].direct.lift.of", []any{0, 0, 2}, "state 2 of 2"},
		{"history.edges", vec(0.1, 0.05), "ascend"},
		{"self_checks[0].history", vec(1), "whole number of rows"},
		{"self_checks[0].readout", 2, "outside 0…1"},
		{"self_checks[0].plan", vec(), "none for the readout plan"},
		{"self_checks[0].times", vec(0.1, 0.2), "mean"},
		{"self_checks[0].times", vec(0.1, 0.2, 0.9), "outside the horizon"},
		{"self_checks[0].times", vec(), "0 times, expected 1"},
	} {
		m := body(t, "v3")
		found := false
		for _, l := range leaves("", m, nil) {
			if l.path == c.path {
				l.set(c.v)
				found = true
			}
		}
		if !found {
			t.Errorf("no field %s", c.path)
			continue
		}
		_, err := model.Decode(wrap(pack(t, m)))
		var field *model.FieldError
		if !errors.As(err, &field) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "train again") {
			t.Errorf("%s = %v: %v", c.path, c.v, err)
		}
	}
}

func TestReadoutsOfAMemberAgreeOnTheKernel(t *testing.T) {
	m, err := model.Decode(goldenFile(t, "v3-exact"))
	if err != nil {
		t.Fatal(err)
	}
	e := &m.Members[0]
	e.Posterior = append(e.Posterior, model.Posterior{Weights: e.Posterior[0].Weights, LogSigma: e.Posterior[0].LogSigma})
	var field *model.FieldError
	if err := m.Check(); !errors.As(err, &field) || field.Field != "members[0].posterior[1].exact" {
		t.Error(err)
	}
}
