package main

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

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
		if err == nil && i%50 != 7 { // lost samples
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

// Exact states of another flight are an error.
func TestTruthOfAnotherFlight(t *testing.T) {
	dir := folder(t)
	rng := rand.New(rand.NewPCG(8, 8))
	for i, name := range []string{"one.msgpack", "same.msgpack", "other.msgpack"} {
		var b bytes.Buffer
		w, err := flightlog.NewWriter(&b, flightlog.Header{Vehicle: "shaft", Channels: shaft})
		if err == nil {
			err = w.BeginSegment("one", nil)
		}
		for j := range 2000 {
			phase := 0.01*float64(j) + []float64{0, 0, 2}[i]
			x := []float64{math.Sin(phase), 4} // the rate does not distinguish them
			if i == 0 {
				x[0] += 0.3 * rng.NormFloat64() // even with a noisy sensor
			}
			if err == nil {
				err = w.Sample(int64(j)*5_000_000, x, nil, nil)
			}
		}
		if err == nil {
			err = w.Flush()
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"--model", "a.dgm", "--horizons", "0.1s", "--log", "one.msgpack", "--truth"}
	if code, _, errs := eval(t, dir, append(args, "same.msgpack")...); code != 0 {
		t.Errorf("the same flight: code %d: %s", code, errs)
	}
	if code, _, errs := eval(t, dir, append(args, "other.msgpack")...); code != 1 || !strings.Contains(errs, "not those of the same flights") || !strings.Contains(errs, "other.msgpack") {
		t.Errorf("another flight: code %d: %s", code, errs)
	}
}
