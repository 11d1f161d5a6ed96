package wire_test

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// A general msgpack library and PROTOCOL.md must be enough to read a prediction.
func TestPredictionIsReadByAnotherLibrary(t *testing.T) {
	var got struct {
		V          int      `msgpack:"v"`
		Vehicle    string   `msgpack:"vehicle"`
		Model      string   `msgpack:"model"`
		Instance   string   `msgpack:"instance"`
		Seq        uint64   `msgpack:"seq"`
		T          int64    `msgpack:"t"`
		ValidUntil int64    `msgpack:"valid_until"`
		Channels   []string `msgpack:"channels"`
		Units      []string `msgpack:"units"`
		Horizon    []byte   `msgpack:"horizon"`
		Mean       []byte   `msgpack:"mean"`
		Std        []byte   `msgpack:"std"`
		ObsStd     []byte   `msgpack:"obs_std"`
		Inputs     string   `msgpack:"inputs"`
		Flags      uint32   `msgpack:"flags"`
		OOD        float64  `msgpack:"ood"`
	}
	want := large(100)
	want.T, want.ValidUntil, want.Flags, want.OOD = -5, math.MaxInt64, wire.Late, 0.25
	if err := msgpack.Unmarshal(want.Append(nil), &got); err != nil {
		t.Fatal(err)
	}
	if got.V != 1 || got.Vehicle != want.Vehicle || got.Model != want.Model || got.Instance != want.Instance ||
		got.T != want.T || got.ValidUntil != want.ValidUntil || len(got.Channels) != 12 || got.Units[3] != "m" ||
		got.Inputs != "plan" || got.Flags != 2 || got.OOD != 0.25 {
		t.Errorf("read %+v", got)
	}
	for field, v := range map[string]struct {
		raw  []byte
		want []float64
	}{"horizon": {got.Horizon, want.Horizon}, "mean": {got.Mean, want.Mean}, "std": {got.Std, want.Std}, "obs_std": {got.ObsStd, want.ObsStd}} {
		if len(v.raw) != 8*len(v.want) {
			t.Errorf("%s: %d bytes for %d numbers", field, len(v.raw), len(v.want))
			continue
		}
		for i, x := range v.want {
			if got := math.Float64frombits(binary.LittleEndian.Uint64(v.raw[8*i:])); got != x {
				t.Errorf("%s: element %d is %v, want %v", field, i, got, x)
			}
		}
	}
}

func TestStatusIsReadByAnotherLibrary(t *testing.T) {
	var got map[string]any
	if err := msgpack.Unmarshal(goldenStatus.Append(nil), &got); err != nil {
		t.Fatal(err)
	}
	reason := got["reasons"].([]any)[0].(map[string]any)
	other := got["others"].([]any)[0].(map[string]any)
	if got["input"] != "live" || got["latency_p99"] != 0.001 || reason["reason"] != "nan" || other["instance"] != "q9" {
		t.Errorf("read %v", got)
	}
}

func TestLaterFieldsAreSkipped(t *testing.T) {
	for name, c := range map[string]struct {
		b      []byte
		first  string // what the first programs of the version wrote: those fields never go
		decode func([]byte) error
	}{
		"prediction": {fullPrediction.Append(nil), "testdata/prediction-v1.msgpack", new(wire.Prediction).Decode},
		"status":     {fullStatus.Append(nil), "testdata/status-v1.msgpack", new(wire.Status).Decode},
	} {
		var first map[string]any
		b, err := os.ReadFile(c.first)
		if err == nil {
			err = msgpack.Unmarshal(b, &first)
		}
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := msgpack.Unmarshal(c.b, &m); err != nil {
			t.Fatal(err)
		}
		m["later"] = []any{1, map[string]any{"a": nil}}
		if err := c.decode(message(t, m)); err != nil {
			t.Errorf("%s with a later field: %v", name, err)
		}
		for field := range m {
			if field == "later" {
				continue
			}
			less := make(map[string]any)
			for k, v := range m {
				if k != field {
					less[k] = v
				}
			}
			err := c.decode(message(t, less))
			if _, always := first[field]; !always {
				if err != nil {
					t.Errorf("%s without the optional %s: %v", name, field, err)
				}
				continue
			}
			if err == nil || !strings.Contains(err.Error(), "field "+field+": is missing") {
				t.Errorf("%s without %s: %v", name, field, err)
			}
		}
		for n := range c.b {
			var e *wire.Error
			if err := c.decode(c.b[:n]); !errors.As(err, &e) {
				t.Errorf("%s cut at %d: %v", name, n, err)
			}
		}
	}
}

func TestPredictionRefused(t *testing.T) {
	for name, change := range map[string]func(p *wire.Prediction){
		"mean too short": func(p *wire.Prediction) { p.Mean = p.Mean[:3] },
		"std too long":   func(p *wire.Prediction) { p.Std = append([]float64{0}, p.Std...) },
		"a unit missing": func(p *wire.Prediction) { p.Units = p.Units[:1] },
		"long name":      func(p *wire.Prediction) { p.Vehicle = strings.Repeat("a", 5000) },
		"many times":     func(p *wire.Prediction) { p.Horizon = make([]float64, wire.MaxTimes+1) },
		"factor":         func(p *wire.Prediction) { p.Factor = []float64{1} },
		"many channels":  func(p *wire.Prediction) { p.Channels = make([]string, wire.MaxChannels+1) },
	} {
		p := smallPrediction
		change(&p)
		var e *wire.Error
		if err := new(wire.Prediction).Decode(p.Append(nil)); !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
