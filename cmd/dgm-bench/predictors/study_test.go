package predictors

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// here are the recordings and the maps, seen from this folder.
var here = Folders{filepath.Join("..", "..", "..", "..", "shared", "data"), filepath.Join("..", "..", "..", "bridge", "csv", "testdata")}

func named(t *testing.T, name string) *recording {
	t.Helper()
	for _, r := range recordings() {
		if r.name == name {
			return &r
		}
	}
	t.Fatal("there is no recording ", name)
	return nil
}

func TestRecordings(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range recordings() {
		if seen[r.name] || r.title == "" || r.stride <= 0 || len(r.train.files) == 0 || len(r.test.files) == 0 {
			t.Errorf("%+v", r)
		}
		seen[r.name] = true
		if _, err := os.Stat(filepath.Join(here.Maps, r.mapFile)); err != nil {
			t.Error(err)
		}
		for _, f := range r.test.files { // what is predicted is not trained on
			for _, g := range r.train.files {
				if f == g && r.train.segments == nil && r.train.spans == nil && r.test.mapFile == "" {
					t.Errorf("%s: %s is in both", r.name, f)
				}
			}
		}
	}
	if len(seen) != 24 || len(named(t, "circle-slow-2").train.files) != 7 {
		t.Errorf("%d recordings", len(seen))
	}
}

func TestSelection(t *testing.T) {
	log := &flightlog.Log{}
	for i := range 3 {
		seg := flightlog.Segment{Name: string(rune('a' + i))}
		for j := range 100 {
			seg.T = append(seg.T, int64(7e9)+int64(j)*1e7)
			seg.X = append(seg.X, float64(j), float64(-j))
			seg.U = append(seg.U, float64(i))
		}
		log.Segments = append(log.Segments, seg)
	}
	names := func(s selection) (out []string) {
		for _, seg := range s.of(log) {
			out = append(out, seg.Name)
		}
		return out
	}
	if got := names(selection{segments: []int{1}}); !reflect.DeepEqual(got, []string{"b"}) {
		t.Errorf("segment 1: %v", got)
	}
	if got := names(selection{segments: []int{1}, others: true}); !reflect.DeepEqual(got, []string{"a", "c"}) {
		t.Errorf("all others: %v", got)
	}
	if got := names(selection{}); len(got) != 3 {
		t.Errorf("all: %v", got)
	}
	parts := (&selection{segments: []int{2}, spans: []span{{0, 0.25}, {0.5, 9}}}).of(log)
	if len(parts) != 2 || len(parts[0].T) != 25 || len(parts[1].T) != 50 || parts[1].X[0] != 50 || parts[1].X[1] != -50 || len(parts[1].U) != 50 {
		t.Errorf("spans: %d parts", len(parts))
	}
}

func TestMissingRecordingsAreNamed(t *testing.T) {
	var messages bytes.Buffer
	data := t.TempDir()
	o := publicOptions{Folders: Folders{Data: data}, sets: []string{"double", "single", "acrobot"}, predictors: []string{ours, "ridge"}, seed: 3, messages: &messages}
	if _, err := o.units(); err == nil || strings.Count(messages.String(), "left out") != 3 {
		t.Errorf("nothing is here: %v, %q", err, messages.String())
	}
	file := filepath.Join(data, named(t, "single").train.files[0])
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	messages.Reset()
	units, err := o.units()
	if err != nil || len(units) != 2 || units[0].Key != (study.Key{Set: "single", Variant: ours, Seed: 3}) || units[1].Key != (study.Key{Set: "single", Variant: "ridge"}) {
		t.Errorf("one is here: %v, %v", units, err)
	}
	if text := messages.String(); !strings.Contains(text, "double is left out") || !strings.Contains(text, "acrobot is left out") || strings.Contains(text, "single is") {
		t.Errorf("messages %q", text)
	}
	for _, wrong := range []publicOptions{{sets: []string{"nothing"}, predictors: []string{ours}}, {sets: []string{"single"}, predictors: []string{"nothing"}}} {
		if _, err := wrong.units(); err == nil {
			t.Errorf("%+v is no error", wrong)
		}
	}
}

// The scores of errors whose distribution is known.
func TestScoresOfAPlace(t *testing.T) {
	var p place
	for i := range 1000 {
		x := float64(i%20) / 10 // 0 … 1.9
		if err := p.add(x, 0, 1); err != nil {
			t.Fatal(err)
		}
	}
	if math.Abs(p.holdRMSE()-p.RMSE()) > 1e-12 || math.Abs(p.equalWidth()-1.8/1.959964) > 1e-3 {
		t.Errorf("hold %v, error %v, width %v", p.holdRMSE(), p.RMSE(), p.equalWidth())
	}
	if err := p.add(1, 0, 0); err == nil {
		t.Error("a prediction without a width is scored")
	}
}
