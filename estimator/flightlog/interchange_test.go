package flightlog_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// A stranger with FORMAT.md and any msgpack library reads the golden log.
func TestAnotherLibraryReads(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "v1.msgpack"))
	if err != nil {
		t.Fatal(err)
	}
	dec := msgpack.NewDecoder(bytes.NewReader(raw))
	head, err := dec.DecodeMap()
	if err != nil {
		t.Fatal(err)
	}
	channels, _ := head["channels"].([]any)
	if head["magic"] != "dgm.flightlog" || head["version"] != int8(1) || head["vehicle"] != "pend1" || len(channels) != 5 {
		t.Errorf("header %v", head)
	}
	if first := channels[0].(map[string]any); first["name"] != "theta" || first["derivative"] != "omega" || first["period"] != 2*math.Pi {
		t.Errorf("first channel %v", first)
	}
	var kinds []int
	var x []float64
	for range 9 {
		n, err := dec.DecodeArrayLen()
		if err != nil || n != 3 {
			t.Fatalf("a record of %d elements, %v", n, err)
		}
		kind, err := dec.DecodeInt()
		if err != nil {
			t.Fatal(err)
		}
		crc, err := dec.DecodeUint32()
		if err != nil {
			t.Fatal(err)
		}
		payload, err := dec.DecodeBytes()
		if err != nil {
			t.Fatal(err)
		}
		if got := crc32c(append([]byte{byte(kind)}, payload...)); got != crc {
			t.Errorf("record of kind %d: checksum %x, computed %x", kind, crc, got)
		}
		kinds = append(kinds, kind)
		if kind == 3 {
			var fields []any
			if err := msgpack.Unmarshal(payload, &fields); err != nil {
				t.Fatal(err)
			}
			for b := fields[1].([]byte); len(b) > 0; b = b[8:] {
				x = append(x, math.Float64frombits(binary.LittleEndian.Uint64(b)))
			}
		}
	}
	if diff := cmp.Diff([]int{1, 2, 3, 4, 3, 5, 2, 3, 3}, kinds); diff != "" {
		t.Error(diff)
	}
	if len(x) != 12 || x[0] != 0.1 || !math.IsNaN(x[4]) || x[11] != 4 {
		t.Errorf("states %v", x)
	}
}

// A log written by a stranger in the plainest way, with vectors as arrays,
// numbers as they come and no copy of the header, is read here.
func TestAnotherLibraryWrites(t *testing.T) {
	var buf bytes.Buffer
	enc := msgpack.NewEncoder(&buf)
	put := func(v any) {
		t.Helper()
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	must(t, enc.EncodeMapLen(4))
	for _, v := range []any{
		"magic", "dgm.flightlog", "version", 1, "channels",
		[]map[string]any{{"name": "a", "role": "state", "colour": "red"}, {"name": "b", "role": "input"}},
		"vehicle", "toy",
	} {
		put(v)
	}
	record := func(kind int, fields ...any) {
		payload, err := msgpack.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		put([]any{kind, crc32c(append([]byte{byte(kind)}, payload...)), payload})
	}
	record(2, "s", nil)
	record(3, 5, []float64{1.5}, []float64{0}, []float64{})
	record(3, 2.5e9, []any{nil}, []int{-3}, nil, "more")
	record(77, "later")
	record(4, 5, 1000, 2, []float32{1, 2})
	log, err := flightlog.ReadFile(onDisk(t, buf.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	want := flightlog.Log{
		Header: flightlog.Header{Vehicle: "toy", Channels: []channel.Channel{{Name: "a", Role: channel.State}, {Name: "b", Role: channel.Input}}},
		Segments: []flightlog.Segment{{
			Name: "s", T: []int64{5, 2_500_000_000}, X: []float64{1.5, nan}, U: []float64{0, -3},
			Plans: []flightlog.Plan{{T: 5, Step: 1000, U: []float64{1, 2}}},
		}},
		Unknown: 1,
	}
	if diff := same(&want, log); diff != "" || log.Damage != nil {
		t.Errorf("damage %v, -want +got:\n%s", log.Damage, diff)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
