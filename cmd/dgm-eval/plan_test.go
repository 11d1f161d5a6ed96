package main

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/report"
)

// A model that is better than the baselines with a plan only is not a green one.
func TestVerdictWithoutAPlan(t *testing.T) {
	dir := t.TempDir()
	driven := []channel.Channel{shaft[1], {Name: "u", Unit: "A", Role: channel.Input}}
	writeModelOf(t, filepath.Join(dir, "a.dgm"), driven, 0.5)
	writeDriven(t, filepath.Join(dir, "b.msgpack"), driven)
	plan, errs := evaluated(t, dir, "--model", "a.dgm", "--log", "b.msgpack", "--horizons", "0.5s")
	hold, _ := evaluated(t, dir, "--model", "a.dgm", "--log", "b.msgpack", "--horizons", "0.5s", "--inputs", "hold")
	if errs != "" || plan.WithoutPlan == nil || hold.WithoutPlan != nil || hold.Level != report.No {
		t.Fatalf("%q, %+v, %+v", errs, plan.Verdict, hold.Verdict)
	}
	if a, b := plan.WithoutPlan.Geo, hold.Geo; a != b || plan.Geo.Model > 0.5*a.Model {
		t.Errorf("with a plan %+v, without %+v and %+v", plan.Geo, a, b)
	}
	if plan.Level != report.Care || !strings.Contains(plan.Reason, "only with a plan") || !strings.Contains(plan.Next, "Send a plan with every state") {
		t.Errorf("%+v", plan.Verdict)
	}
	if plan.Origin() != evaluate.Evaluated || plan.Segments != 1 {
		t.Errorf("%s, %d segments", plan.Origin(), plan.Segments)
	}
}

// writeDriven writes a log of a shaft whose rate is the integral of an input that is ±30 for
// 0.3 s each.
func writeDriven(t *testing.T, path string, channels []channel.Channel) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 1))
	f, err := flightlog.CreateFile(path, flightlog.Header{Vehicle: "shaft", Channels: channels})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	if err := f.BeginSegment("one", nil); err != nil {
		t.Fatal(err)
	}
	rate := 0.0
	for i := range 4000 {
		u := 30.0
		if (i/60)%2 > 0 {
			u = -30
		}
		if err := f.Sample(int64(i)*5_000_000, []float64{rate + 0.014*rng.NormFloat64()}, []float64{u}, nil); err != nil {
			t.Fatal(err)
		}
		rate += 0.005 * u
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
}
