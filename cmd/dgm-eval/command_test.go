package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

var shaft = []channel.Channel{
	{Name: "angle", Unit: "rad", Role: channel.State, Period: channel.Angle, Derivative: "rate"},
	{Name: "rate", Unit: "rad/s", Role: channel.State},
}

// writeModel writes a model of the shaft that predicts x0 + v0 t with a known noise.
func writeModel(t *testing.T, path string) {
	t.Helper()
	writeModelOf(t, path, shaft, 0.5)
}

// writeModelOf writes a model that predicts x0 + v0 t, and adds the mean of its inputs times
// the time to the last state.
func writeModelOf(t *testing.T, path string, channels []channel.Channel, horizon float64) {
	t.Helper()
	states := channel.Select(channels, channel.State)
	K, P := len(states), len(channels)-len(states)
	m := &model.Model{
		Vehicle: "shaft", Channels: channels, Horizon: horizon, Points: 10, Displacement: true, Stack: []model.Component{{Kind: model.Velocity}},
		Inputs: feature.Inputs{Horizon: horizon, TimeMean: horizon / 2, TimeStd: horizon / math.Sqrt(12), Lift: channel.NewLift(states)},
		Scale:  slices.Repeat([]float64{1}, K), NoiseKnots: []float64{0}, Sensor: slices.Repeat([]float64{1e-4}, K),
	}
	if P > 0 {
		m.Inputs.Knots, m.Inputs.Causal = 2, true
		m.Inputs.InputMean, m.Inputs.InputStd = make([]float64, P), slices.Repeat([]float64{1}, P)
	}
	I := m.Inputs.Dim()
	e := model.Member{Map: feature.NewMap(I, K, 1, 0, []int{1}, []mlp.Activation{mlp.Linear}, feature.Basis{Terms: 1}, true)}
	inverse := make([]float64, I*(I+1)/2)
	post := model.Posterior{}
	for range K {
		post.Weights, post.InverseFactor = append(post.Weights, make([]float64, I)), append(post.InverseFactor, inverse)
		post.LogSigma = append(post.LogSigma, math.Log(0.02))
	}
	for j := range m.Inputs.Knots * P {
		post.Weights[K-1][I-1-j] = horizon / 2
	}
	e.Posterior = []model.Posterior{post}
	m.Members = []model.Member{e}
	m.Dynamics.Net = mlp.New([]int{m.Inputs.Lift.Dim() + P, 2 * K}, []mlp.Activation{mlp.Linear})
	if err := model.WriteFile(path, m); err != nil {
		t.Fatal(err)
	}
}

// writeLog writes n samples of a shaft that turns at a constant rate.
func writeLog(t *testing.T, path string, channels []channel.Channel, n int) {
	t.Helper()
	writeSlowLog(t, path, channels, n, 1)
}

// writeSlowLog writes one sample out of some of a log of n.
func writeSlowLog(t *testing.T, path string, channels []channel.Channel, n, every int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	w, err := flightlog.NewWriter(&b, flightlog.Header{Vehicle: "shaft", Channels: channels})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.BeginSegment("one", nil); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		x := []float64{math.Remainder(0.02*float64(i), channel.Angle) + 0.01*rng.NormFloat64(), 4 + 0.01*rng.NormFloat64()}
		if i%every != 0 {
			continue
		}
		if err := w.Sample(int64(i)*5_000_000, x, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// writeSegments writes a log of empty segments.
func writeSegments(t *testing.T, path string, n int) {
	t.Helper()
	f, err := flightlog.CreateFile(path, flightlog.Header{Vehicle: "shaft", Channels: shaft})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	for i := range n {
		if err := f.BeginSegment("one", nil); err != nil {
			t.Fatal(err)
		}
		if err := f.Sample(int64(i), []float64{0, 0}, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
}

// eval runs the command in a folder with a model and logs.
func eval(t *testing.T, dir string, args ...string) (code int, out, errors string) {
	t.Helper()
	for i, a := range args {
		if strings.HasPrefix(a, "--") {
			continue
		}
		if strings.HasSuffix(a, ".dgm") || strings.HasSuffix(a, ".msgpack") || strings.HasSuffix(a, ".svg") {
			args[i] = filepath.Join(dir, a)
		}
	}
	c := command()
	var stdout, stderr bytes.Buffer
	c.SetArgs(args)
	c.SetOut(&stdout)
	c.SetErr(&stderr)
	code = cli.Run(context.Background(), c)
	return code, stdout.String(), stderr.String()
}

func folder(t *testing.T) string {
	dir := t.TempDir()
	writeModel(t, filepath.Join(dir, "a.dgm"))
	writeLog(t, filepath.Join(dir, "b.msgpack"), shaft, 2000)
	return dir
}

func TestTableOfALog(t *testing.T) {
	dir := folder(t)
	code, out, errs := eval(t, dir, "--model", "a.dgm", "--log", "b.msgpack", "--plot", "p.svg")
	if code != 0 || errs != "" || !strings.Contains(out, "angle") || !strings.Contains(out, "0.5 s") {
		t.Errorf("code %d, %q\n%s", code, errs, out)
	}
	svg, err := os.ReadFile(filepath.Join(dir, "p.svg"))
	if err != nil || !bytes.Contains(svg, []byte("<svg")) {
		t.Errorf("picture: %v", err)
	}
}

func TestJSONIsAloneAndFinite(t *testing.T) {
	code, out, errs := eval(t, folder(t), "--model", "a.dgm", "--log", "b.msgpack", "--json", "--horizons", "0.1s,500ms", "--stride", "10ms", "--inputs", "hold")
	var doc struct {
		Inputs   string
		Windows  int
		Horizons []struct {
			T        float64
			Channels []struct {
				Name       string
				RMSE, Hold float64
				Coverage95 float64
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 || errs != "" {
		t.Fatalf("code %d, %v, %q", code, err, errs)
	}
	if doc.Inputs != "hold" || doc.Windows != 950 || len(doc.Horizons) != 2 || doc.Horizons[0].T != 0.1 || doc.Horizons[1].T != 0.5 {
		t.Errorf("%+v", doc)
	}
	c := doc.Horizons[1].Channels[0]
	if c.Name != "angle" || c.RMSE > 0.02 || math.Abs(c.Hold-2) > 0.01 || c.Coverage95 < 0.97 {
		t.Errorf("%+v", c)
	}
}

// Noise that is added to the start makes intervals wider if its covariance is given.
func TestStartNoise(t *testing.T) {
	dir := folder(t)
	coverage := func(args ...string) float64 {
		t.Helper()
		code, out, errs := eval(t, dir, append([]string{"--model", "a.dgm", "--log", "b.msgpack", "--json", "--horizons", "0.1s"}, args...)...)
		var doc struct {
			Noise    float64 `json:"start_noise"`
			Given    bool    `json:"start_told"`
			Horizons []struct{ Coverage95 float64 }
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 || errs != "" {
			t.Fatalf("%v: code %d, %v, %q", args, code, err, errs)
		}
		if len(args) > 0 && (doc.Noise != 5 || doc.Given != (len(args) == 2)) {
			t.Errorf("%v: %v times, covariance %v", args, doc.Noise, doc.Given)
		}
		return doc.Horizons[0].Coverage95
	}
	plain, given, hidden := coverage(), coverage("--start-noise", "5"), coverage("--start-noise", "5", "--start-told=false")
	if plain < 0.93 || given < 0.93 || hidden > 0.75 {
		t.Errorf("coverage %v, with a noisy start %v, covariance hidden %v", plain, given, hidden)
	}
}

func TestErrorsAreOneLine(t *testing.T) {
	dir := folder(t)
	other := append([]channel.Channel(nil), shaft...)
	other[1].Unit = "deg/s"
	writeLog(t, filepath.Join(dir, "unit.msgpack"), other, 1000)
	writeLog(t, filepath.Join(dir, "short.msgpack"), shaft, 50)
	writeSegments(t, filepath.Join(dir, "two.msgpack"), 2)
	if err := os.WriteFile(filepath.Join(dir, "text.msgpack"), []byte("time,angle\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	writeModel(t, filepath.Join(dir, "a.svg"))
	if err := os.WriteFile(filepath.Join(dir, "text.dgm"), []byte("no model"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{2, "no model given", []string{"--log", "b.msgpack"}},
		{2, "no log given", []string{"--model", "a.dgm"}},
		{2, "neither plan nor hold", []string{"--model", "a.dgm", "--log", "b.msgpack", "--inputs", "none"}},
		{2, "must be positive", []string{"--model", "a.dgm", "--log", "b.msgpack", "--stride", "0s"}},
		{2, "must be positive", []string{"--model", "a.dgm", "--log", "b.msgpack", "--horizons", "-1s"}},
		{2, "only .svg", []string{"--model", "a.dgm", "--log", "b.msgpack", "--plot", "x.png"}},
		{2, "only .csv", []string{"--model", "a.dgm", "--log", "b.msgpack", "--estimates", "x.svg"}},
		{1, "the model has no filter", []string{"--model", "a.dgm", "--log", "b.msgpack", "--estimates", "x.csv"}},
		{2, "--start-noise -1 must be zero or positive", []string{"--model", "a.dgm", "--log", "b.msgpack", "--start-noise", "-1"}},
		{2, "--start-told=false needs --start-noise", []string{"--model", "a.dgm", "--log", "b.msgpack", "--start-told=false"}},
		{2, "horizons", []string{"--model", "a.dgm", "--log", "b.msgpack", "--horizons", "half"}},
		{2, "unexpected argument", []string{"--model", "a.dgm", "--log", "b.msgpack", "c.msgpack"}},
		{2, "c.msgpack", []string{"--model", "a.dgm", "--log", "b.msgpack", "--truth", "c.msgpack", "d.msgpack"}},
		{1, "none.msgpack", []string{"--model", "a.dgm", "--log", "b.msgpack", "--truth", "none.msgpack"}},
		{1, "unit.msgpack", []string{"--model", "a.dgm", "--log", "b.msgpack", "--truth", "unit.msgpack"}},
		{1, `segment "one": the sample at 300000000 ns`, []string{"--model", "a.dgm", "--log", "b.msgpack", "--truth", "short.msgpack"}},
		{1, "b.msgpack has 1 segment, ", []string{"--model", "a.dgm", "--log", "b.msgpack", "--truth=" + filepath.Join(dir, "two.msgpack")}},
		{1, "none.dgm", []string{"--model", "none.dgm", "--log", "b.msgpack"}},
		{1, "none.msgpack", []string{"--model", "a.dgm", "--log", "none.msgpack"}},
		{1, "text.dgm: not a model file", []string{"--model", "text.dgm", "--log", "b.msgpack"}},
		{1, "text.msgpack", []string{"--model", "a.dgm", "--log", "text.msgpack"}},
		{1, `channel "rate": expected unit "rad/s", found "deg/s"`, []string{"--model", "a.dgm", "--log", "unit.msgpack"}},
		{1, "longest gap-free section has 0.245 s", []string{"--model", "a.dgm", "--log", "short.msgpack"}},
		{1, "beyond the model's", []string{"--model", "a.dgm", "--log", "b.msgpack", "--horizons", "2s"}},
		{2, "a.svg is read", []string{"--model", "a.svg", "--log", "b.msgpack", "--plot", "a.svg"}},
		{1, "cannot be written", []string{"--model", "a.dgm", "--log", "b.msgpack", "--plot", "no/such/p.svg"}},
	} {
		code, out, errs := eval(t, dir, c.args...)
		if code != c.code || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 || out != "" {
			t.Errorf("%v: code %d, %q, %q", c.args, code, errs, out)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}
