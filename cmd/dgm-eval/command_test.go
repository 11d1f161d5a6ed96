package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/mlp"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
)

var shaft = []channel.Channel{
	{Name: "angle", Unit: "rad", Role: channel.State, Period: channel.Angle, Derivative: "rate"},
	{Name: "rate", Unit: "rad/s", Role: channel.State},
}

// writeModel writes a model that predicts x0 + v0 t with a known noise.
func writeModel(t *testing.T, path string) {
	t.Helper()
	m := &model.Model{
		Vehicle: "shaft", Channels: shaft, Horizon: 0.5, Points: 10, Displacement: true, Velocity: true,
		Inputs: feature.Inputs{Horizon: 0.5, TimeMean: 0.25, TimeStd: 0.5 / math.Sqrt(12), Lift: channel.NewLift(shaft)},
		Scale:  []float64{1, 1}, NoiseKnots: []float64{0}, Sensor: []float64{1e-4, 1e-4},
	}
	I := m.Inputs.Dim()
	e := model.Member{Map: feature.NewMap(I, 2, 1, 0, []int{1}, []mlp.Activation{mlp.Linear}, feature.Basis{Terms: 1}, true)}
	inverse := make([]float64, I*(I+1)/2)
	e.Posterior = []model.Posterior{{
		Weights: [][]float64{make([]float64, I), make([]float64, I)}, InverseFactor: [][]float64{inverse, inverse},
		LogSigma: []float64{math.Log(0.02), math.Log(0.02)},
	}}
	m.Members = []model.Member{e}
	m.Dynamics.Net = mlp.New([]int{m.Inputs.Lift.Dim(), 4}, []mlp.Activation{mlp.Linear})
	if err := model.WriteFile(path, m); err != nil {
		t.Fatal(err)
	}
}

// writeLog writes n samples of a shaft that turns at a constant rate.
func writeLog(t *testing.T, path string, channels []channel.Channel, n int) {
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

// Stamps that jitter past each other and a burst of nonsense: named, not scored.
func TestGarbageIsNamedAndNotScored(t *testing.T) {
	dir := folder(t)
	rng := rand.New(rand.NewPCG(5, 6))
	f, err := flightlog.CreateFile(filepath.Join(dir, "g.msgpack"), flightlog.Header{Vehicle: "shaft", Channels: shaft})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	if err := f.BeginSegment("one", nil); err != nil {
		t.Fatal(err)
	}
	for i := range 2000 {
		at := i
		if i%20 < 2 { // two change places
			at = i + 1 - 2*(i%20)
		}
		x := []float64{math.Remainder(0.02*float64(at), channel.Angle) + 0.01*rng.NormFloat64(), 4 + 0.01*rng.NormFloat64()}
		if i >= 1005 && i < 1011 {
			x[1] = 900
		}
		if err := f.Sample(int64(at)*5_000_000, x, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	code, out, errs := eval(t, dir, "--model", "a.dgm", "--log", "g.msgpack", "--json")
	var clean, raw evaluate.Table
	if err := json.Unmarshal([]byte(out), &clean); code != 0 || err != nil {
		t.Fatalf("code %d, %v: %s", code, err, errs)
	}
	for _, want := range []string{"data check: backwards: segment \"one\"", "data check: outlier: segment \"one\", 5.02"} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q is missing in %s", want, errs)
		}
	}
	code, out, errs = eval(t, dir, "--model", "a.dgm", "--log", "g.msgpack", "--json", "--raw")
	if err := json.Unmarshal([]byte(out), &raw); code != 0 || err != nil || errs != "" {
		t.Fatalf("code %d, %v: %s", code, err, errs)
	}
	if clean.LeftOut <= raw.LeftOut || raw.LeftOut <= 0 || clean.LeftOut > 0.2 {
		t.Errorf("left out: %v, raw %v", clean.LeftOut, raw.LeftOut)
	}
	if a, b := clean.Horizons[0].Channels[1].RMSE, raw.Horizons[0].Channels[1].RMSE; a > 0.1 || b < 10 {
		t.Errorf("error of the rate: %v, with the garbage %v", a, b)
	}
}

// writeTwins writes a log of the shaft with noise of 0.01 and the exact one beside it.
func writeTwins(t *testing.T, noisy, exact string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	var logs [2]bytes.Buffer
	var writers [2]*flightlog.Writer
	for i := range logs {
		w, err := flightlog.NewWriter(&logs[i], flightlog.Header{Vehicle: "shaft", Channels: shaft})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.BeginSegment("one", nil); err != nil {
			t.Fatal(err)
		}
		writers[i] = w
	}
	for i := range 4000 {
		x, at := []float64{0.02 * float64(i), 4}, int64(i)*5_000_000
		y := []float64{math.Remainder(x[0]+0.01*rng.NormFloat64(), channel.Angle), x[1] + 0.01*rng.NormFloat64()}
		err := writers[1].Sample(at, x, nil, nil)
		if err == nil && i%50 != 7 { // the sensors lose some
			err = writers[0].Sample(at, y, nil, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, path := range []string{noisy, exact} {
		if err := writers[i].Flush(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, logs[i].Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTruthIsComparedWithWhatStartsMeasured(t *testing.T) {
	dir := folder(t)
	writeTwins(t, filepath.Join(dir, "noisy.msgpack"), filepath.Join(dir, "exact.msgpack"))
	score := func(args ...string) (std, rmse, coverage float64, log string) {
		t.Helper()
		code, out, errs := eval(t, dir, append([]string{"--model", "a.dgm", "--json", "--horizons", "0.1s"}, args...)...)
		var doc struct {
			Log      string
			Truth    bool
			Horizons []struct {
				Channels []struct{ Std, RMSE, Coverage95 float64 }
			}
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 || errs != "" {
			t.Fatalf("%v: code %d, %v, %q", args, code, err, errs)
		}
		c := doc.Horizons[0].Channels[0]
		if want := strings.Contains(strings.Join(args, " "), "--truth"); doc.Truth != want {
			t.Errorf("%v: truth is %v", args, doc.Truth)
		}
		return c.Std, c.RMSE, c.Coverage95, doc.Log
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.03*want {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	// Both ends are measured, one, none.
	std, rmse, _, _ := score("--log", "noisy.msgpack")
	near("obs_std", std, 0.02)
	near("error between measurements", rmse, math.Sqrt(2e-4+1e-6))
	for _, args := range [][]string{{"--truth", "exact.msgpack"}, {"--truth=" + filepath.Join(dir, "exact.msgpack")}} {
		std, rmse, coverage, log := score(append(args, "--log", "noisy.msgpack")...)
		near("std", std, math.Sqrt(3e-4))
		near("error of the state", rmse, math.Sqrt(1e-4+1e-6))
		if coverage < 0.99 || coverage == 1 || !strings.HasSuffix(log, "noisy.msgpack against "+filepath.Join(dir, "exact.msgpack")) {
			t.Errorf("coverage %v of %q", coverage, log)
		}
	}
	std, rmse, _, _ = score("--log", "exact.msgpack", "--truth")
	near("std", std, math.Sqrt(3e-4))
	if rmse > 1e-9 {
		t.Errorf("an exact start leads to an error of %v", rmse)
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

// One absurd sample is named and left out: it must not decide the scores, nor make
// numbers that JSON cannot hold.
func TestAbsurdValuesAreNamedAndLeftOut(t *testing.T) {
	dir := folder(t)
	_, clean, _ := eval(t, dir, "--model", "a.dgm", "--log", "b.msgpack")
	log, err := flightlog.ReadFile(filepath.Join(dir, "b.msgpack"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := flightlog.CreateFile(filepath.Join(dir, "huge.msgpack"), log.Header)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	s := log.Segments[0]
	s.X[2*700+1], s.X[2*900], s.X[2*901] = -1e200, 1e300, 1e16
	if err := f.BeginSegment(s.Name, nil); err != nil {
		t.Fatal(err)
	}
	for i := range s.T {
		if err := f.Sample(s.T[i], s.X[2*i:2*i+2], nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	code, out, errs := eval(t, dir, "--model", "a.dgm", "--log", "huge.msgpack")
	for _, want := range []string{"huge.msgpack: segment 1 (\"one\") at 3.500 s: rate is -1e+200", "1 value of rate", "at 4.500 s: angle is 1e+300", "2 values of angle"} {
		if code != cli.Done || !strings.Contains(errs, want) {
			t.Errorf("code %d, %q, want %q", code, errs, want)
		}
	}
	if strings.Contains(out, "Inf") || strings.Contains(out, "NaN") || strings.Contains(out, "e+") {
		t.Errorf("beside\n%s\nit says\n%s", clean, out)
	}
	code, out, errs = eval(t, dir, "--model", "a.dgm", "--log", "huge.msgpack", "--json")
	if !json.Valid([]byte(out)) || code != cli.Done {
		t.Errorf("code %d, %q, %q", code, errs, out)
	}
}

func TestDamagedLogIsScoredToItsLastRecord(t *testing.T) {
	dir := folder(t)
	path := filepath.Join(dir, "b.msgpack")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw[:len(raw)-5], 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, errs := eval(t, dir, "--model", "a.dgm", "--log", "b.msgpack")
	if code != 0 || !strings.Contains(errs, "warning") || !strings.Contains(out, "angle") {
		t.Errorf("code %d, %q", code, errs)
	}
}

func TestWhatIsWrongIsSaidInOneLine(t *testing.T) {
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
		say  string
		args []string
	}{
		{2, "no model given", []string{"--log", "b.msgpack"}},
		{2, "no log given", []string{"--model", "a.dgm"}},
		{2, "neither plan nor hold", []string{"--model", "a.dgm", "--log", "b.msgpack", "--inputs", "none"}},
		{2, "must be positive", []string{"--model", "a.dgm", "--log", "b.msgpack", "--stride", "0s"}},
		{2, "must be positive", []string{"--model", "a.dgm", "--log", "b.msgpack", "--horizons", "-1s"}},
		{2, "only .svg", []string{"--model", "a.dgm", "--log", "b.msgpack", "--plot", "x.png"}},
		{2, "horizons", []string{"--model", "a.dgm", "--log", "b.msgpack", "--horizons", "half"}},
		{2, "belongs to no flag", []string{"--model", "a.dgm", "--log", "b.msgpack", "c.msgpack"}},
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
		{1, "longest stretch without a gap has 0.245 s", []string{"--model", "a.dgm", "--log", "short.msgpack"}},
		{1, "beyond the model's", []string{"--model", "a.dgm", "--log", "b.msgpack", "--horizons", "2s"}},
		{2, "a.svg is read", []string{"--model", "a.svg", "--log", "b.msgpack", "--plot", "a.svg"}},
		{1, "cannot be written", []string{"--model", "a.dgm", "--log", "b.msgpack", "--plot", "no/such/p.svg"}},
	} {
		code, out, errs := eval(t, dir, c.args...)
		if code != c.code || !strings.Contains(errs, c.say) || strings.Count(errs, "\n") != 1 || out != "" {
			t.Errorf("%v: code %d, %q, %q", c.args, code, errs, out)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}
