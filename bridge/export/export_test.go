package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	foxglove "github.com/foxglove/mcap/go/mcap"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dgm-robotics/dgm/bridge/export"
	"github.com/dgm-robotics/dgm/bridge/internal/reference"
	"github.com/dgm-robotics/dgm/bridge/mcap"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
)

var update = flag.Bool("update", false, "write the layouts anew")

// made is a model of two states and an input, with a horizon of 1 s, and a log of
// the same robot: n samples in two segments, 100 per second, one of them not
// measured whole.
func made(t *testing.T, n int) (*model.Model, string) {
	t.Helper()
	m := artificial.New(artificial.Size{K: 2, P: 1, Features: 8, Points: 5, Horizon: 1}, 1)
	path := filepath.Join(t.TempDir(), "flight.msgpack")
	channels := append([]channel.Channel{}, m.Channels...)
	channels = append(channels, channel.Channel{Name: "Temp. 1", Unit: "K", Role: channel.Aux})
	w, err := flightlog.CreateFile(path, flightlog.Header{Vehicle: "v1", Channels: channels})
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.BeginSegment("a", nil))
	for i := range n {
		if i == n/2 {
			must(w.BeginSegment("b", nil))
		}
		x := []float64{math.Sin(0.01 * float64(i)), math.Cos(0.01 * float64(i))}
		if i == 3 {
			x[1] = math.NaN()
		}
		must(w.Sample(1e9+int64(i)*1e7, x, []float64{0.001 * float64(i)}, []float64{300}))
	}
	must(w.Note(2e9, "a \"note\" with ü"))
	must(w.Commit())
	return m, path
}

func exported(t *testing.T, path string, o export.Options) (string, *export.Summary) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "flight.mcap")
	s, err := export.MCAP(context.Background(), path, out, o)
	if err != nil {
		t.Fatal(err)
	}
	return out, s
}

// read reads all numbers of a file by this project's reader: by topic, times and
// rows.
func read(t *testing.T, path string) map[string][][]float64 {
	t.Helper()
	got := map[string][][]float64{}
	r, err := mcap.Open(path, telemetry.Wants{Select: func(t *telemetry.Topic) (paths []string) {
		for _, f := range t.Fields() {
			paths = append(paths, f.Path)
		}
		return paths
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		m, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got[m.Topic.Name] = append(got[m.Topic.Name], append([]float64{float64(m.Time)}, m.Values...))
	}
	if p := r.Problems().All(); len(p) > 0 {
		t.Error(p)
	}
	return got
}

// The file holds the log and the predictions,
// at the times it is about.
func TestMCAPHoldsLogAndBands(t *testing.T) {
	m, path := made(t, 200)
	out, s := exported(t, path, export.Options{Schema: export.ROS2, Model: m, Horizons: []time.Duration{100 * time.Millisecond, time.Second}, Every: 50 * time.Millisecond})
	// 20 of each segment but for the one that begins with the state not measured
	// whole: none does.
	if s.Samples != 200 || s.Predictions != 80 || s.NotMade != 0 {
		t.Errorf("%+v", s)
	}
	got := read(t, out)
	if len(got["/dgm/v1/state"]) != 200 || len(got["/dgm/v1/input"]) != 200 || len(got["/dgm/v1/aux"]) != 200 || len(got["/dgm/v1/status"]) != 40 || len(got["/dgm/v1/note"]) != 1 {
		t.Fatal(len(got["/dgm/v1/state"]), len(got["/dgm/v1/status"]), len(got["/dgm/v1/note"]))
	}
	// stamp.sec, stamp.nanosec, then the states.
	row := got["/dgm/v1/state"][150]
	if d := cmp.Diff([]float64{2.5e9, 2, 5e8, math.Sin(1.5), math.Cos(1.5)}, row); d != "" {
		t.Error(d)
	}
	p, err := estimator.New(m, []float64{0.1, 1})
	if err != nil {
		t.Fatal(err)
	}
	pred := p.NewPrediction()
	for i, label := range []string{"100ms", "1s"} {
		all := got["/dgm/v1/predict/"+label]
		if len(all) != 40 {
			t.Fatalf("%d predictions of %s", len(all), label)
		}
		for n, row := range all {
			at := 5 * n // a state each 50 ms
			h := []int64{1e8, 1e9}[i]
			madeAt := int64(1e9) + int64(at)*1e7
			if int64(row[0]) != madeAt+h || int64(row[3])*1e9+int64(row[4]) != madeAt {
				t.Fatalf("%s: a band at %v of a state at %v", label, row[0], row[3:5])
			}
			if !p.Predict(pred, &estimator.Query{X0: []float64{math.Sin(0.01 * float64(at)), math.Cos(0.01 * float64(at))}, U: []float64{0.001 * float64(at)}}) {
				t.Fatal("no prediction")
			}
			for k := range 2 {
				mean, std := pred.Mean[2*i+k], pred.ObsStd[2*i+k]
				want := []float64{mean, mean - 1.959963984540054*std, mean + 1.959963984540054*std}
				if d := cmp.Diff(want, row[5+3*k:8+3*k], cmpopts.EquateApprox(1e-12, 0)); d != "" {
					t.Fatalf("%s, state %d, channel %d: %s", label, at, k, d)
				}
			}
		}
	}
}

// A state that was not measured whole gives no prediction, and is counted.
func TestUnmeasuredStates(t *testing.T) {
	m, path := made(t, 20)
	out, s := exported(t, path, export.Options{Schema: export.JSON, Model: m})
	if s.NotMade != 1 || s.Predictions != 19*4 {
		t.Errorf("%+v", s)
	}
	counts := map[string]int{}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := foxglove.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	it, err := r.Messages()
	if err != nil {
		t.Fatal(err)
	}
	nulls := 0
	var msg foxglove.Message
	for {
		schema, ch, m, err := it.NextInto(&msg)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		counts[ch.Topic]++
		var doc map[string]any
		if err := json.Unmarshal(m.Data, &doc); err != nil {
			t.Fatalf("%s: %s: %v", ch.Topic, m.Data, err)
		}
		var s map[string]any
		if err := json.Unmarshal(schema.Data, &s); err != nil || schema.Encoding != "jsonschema" {
			t.Fatal(err)
		}
		for name := range doc {
			if _, ok := s["properties"].(map[string]any)[name]; !ok {
				t.Fatalf("%s: %q is not in the schema", ch.Topic, name)
			}
		}
		switch {
		case strings.HasSuffix(ch.Topic, "/state"):
			if doc["x1"] == nil {
				nulls++
			}
		case strings.HasSuffix(ch.Topic, "/predict/500ms"):
			b := doc["x0"].(map[string]any)
			if !(b["lower"].(float64) < b["mean"].(float64) && b["mean"].(float64) < b["upper"].(float64)) || doc["made"] == nil {
				t.Fatal(doc)
			}
		case strings.HasSuffix(ch.Topic, "/note"):
			if doc["data"] != "a \"note\" with ü" {
				t.Error(doc)
			}
		}
	}
	if nulls != 1 || fmt.Sprint(counts) != "map[/dgm/v1/aux:20 /dgm/v1/input:20 /dgm/v1/note:1 /dgm/v1/predict/100ms:19 /dgm/v1/predict/1s:19 /dgm/v1/predict/250ms:19 /dgm/v1/predict/500ms:19 /dgm/v1/state:20 /dgm/v1/status:19]" {
		t.Error(nulls, counts)
	}
}

// ROS 2's own reader, in Python, finds the same numbers.
func TestSameAsROS2(t *testing.T) {
	m, path := made(t, 50)
	out, _ := exported(t, path, export.Options{Schema: export.ROS2, Model: m})
	var want struct{ Topics []reference.Topic }
	script := filepath.Join("..", "..", "mcap", "testdata", "mcap_ros2_columns.py")
	raw := reference.Ask(t, "mcap_ros2", script, out, &want)
	_, messages, values := reference.Compare(t, func(w telemetry.Wants) (telemetry.Source, error) { return mcap.Open(out, w) }, nil, want.Topics, raw)
	t.Logf("%d topics, %d messages, %d values equal", len(want.Topics), messages, values)
}

func TestRefusals(t *testing.T) {
	m, path := made(t, 5)
	dir := t.TempDir()
	other := artificial.New(artificial.Size{K: 3, P: 1, Features: 8, Points: 5, Horizon: 1}, 1)
	for want, o := range map[string]export.Options{
		"model and log are from different robots":          {Schema: export.ROS2, Model: other},
		"give horizons that rise, up to the model's 1s":    {Schema: export.ROS2, Model: m, Horizons: []time.Duration{2 * time.Second}},
		"horizon 100ms: give horizons that rise, up to th": {Schema: export.ROS2, Model: m, Horizons: []time.Duration{200 * time.Millisecond, 100 * time.Millisecond}},
	} {
		if _, err := export.MCAP(context.Background(), path, filepath.Join(dir, "f.mcap"), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := export.MCAP(ctx, path, filepath.Join(dir, "f.mcap"), export.Options{Schema: export.ROS2}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := export.CSV(ctx, path, filepath.Join(dir, "f.csv"), nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
}

// Names that ROS 2 does not allow are turned into ones that it does, each once.
func TestNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flight.msgpack")
	var channels []channel.Channel
	for _, n := range []string{"Theta", "theta", "2nd", "__", "a--b", "ω"} {
		channels = append(channels, channel.Channel{Name: n, Role: channel.State})
	}
	w, err := flightlog.CreateFile(path, flightlog.Header{Vehicle: "v1", Channels: channels})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Sample(1, []float64{1, 2, 3, 4, 5, 6}, nil, nil), w.Commit()); err != nil {
		t.Fatal(err)
	}
	out, _ := exported(t, path, export.Options{Schema: export.ROS2})
	var names []string
	r, err := mcap.Open(out, telemetry.Wants{Select: func(t *telemetry.Topic) []string {
		for _, f := range t.Fields() {
			names = append(names, f.Path)
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"stamp.sec", "stamp.nanosec", "theta", "theta_2", "c_2nd", "c", "a_b", "c_2"}, names); d != "" {
		t.Error(d)
	}
}

// The layouts beside the code fit the pendulum of the demo; every curve of a
// layout is in the file that it is for.
func TestLayouts(t *testing.T) {
	h := &flightlog.Header{Vehicle: "pendulum", Channels: []channel.Channel{
		{Name: "theta", Unit: "rad", Role: channel.State}, {Name: "omega", Unit: "rad/s", Role: channel.State}, {Name: "torque", Unit: "N·m", Role: channel.Input}}}
	for name, text := range map[string][]byte{"foxglove.json": export.FoxgloveLayout(h, export.ROS2, "500ms"), "plotjuggler.xml": export.PlotJugglerLayout(h, export.ROS2, "500ms")} {
		path := filepath.Join("layouts", name)
		if *update {
			if err := os.WriteFile(path, text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		there, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(there, text) {
			t.Errorf("%s is not what is made now (%v): write it anew with -update", path, err)
		}
	}
	m, path := made(t, 20)
	out, _ := exported(t, path, export.Options{Schema: export.ROS2, Model: m})
	there := map[string]bool{}
	r, err := mcap.Open(out, telemetry.Wants{Select: func(t *telemetry.Topic) []string {
		for _, f := range t.Fields() {
			there[t.Name+"."+f.Path] = true
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		if _, err := r.Next(); err != nil {
			break
		}
	}
	log := &flightlog.Header{Vehicle: "v1", Channels: m.Channels}
	var layout struct {
		ConfigByID map[string]struct{ Paths []struct{ Value string } }
		Layout     any
	}
	if err := json.Unmarshal(export.FoxgloveLayout(log, export.ROS2, "500ms"), &layout); err != nil || len(layout.ConfigByID) != 3 {
		t.Fatal(layout, err)
	}
	curves := 0
	for id, c := range layout.ConfigByID {
		if !strings.Contains(fmt.Sprint(layout.Layout), id) {
			t.Errorf("panel %s is nowhere", id)
		}
		for _, p := range c.Paths {
			curves++
			if !there[p.Value] {
				t.Errorf("%s is not in the file", p.Value)
			}
		}
	}
	var juggler struct {
		Curves []struct {
			Name string `xml:"name,attr"`
		} `xml:"tabbed_widget>Tab>Container>DockSplitter>DockArea>plot>curve"`
	}
	if err := xml.Unmarshal(export.PlotJugglerLayout(log, export.ROS2, "500ms"), &juggler); err != nil || len(juggler.Curves) != curves || curves != 2*4+1 {
		t.Errorf("%d and %d curves, %v", len(juggler.Curves), curves, err)
	}
	for _, c := range juggler.Curves {
		// Topic and path follow each other with slashes.
		ok := false
		for name := range there {
			ok = ok || strings.ReplaceAll(name, ".", "/") == c.Name
		}
		if !ok {
			t.Errorf("%s is not in the file", c.Name)
		}
	}
}
