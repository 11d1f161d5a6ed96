package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// The status shows a plan without times as an alarm with what to do, in text, as data and,
// once, on the console.
func TestStatusForPeople(t *testing.T) {
	url, client := natsServer(t)
	var out, messages buffer
	stop := estimate(t, &out, &messages, "--model", modelFile(t), "--vehicle", "pend1", "--nats", url)
	awaitPrediction(t, client, "dgm.predict.pend1", "a prediction", func(*wire.Prediction) bool { return true })
	planner, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer planner.Close()
	sub, err := planner.SubscribeSync("dgm.state.pend1")
	if err != nil {
		t.Fatal(err)
	}
	m, err := sub.NextMsg(patience)
	if err != nil {
		t.Fatal(err)
	}
	var s wire.State
	if err := s.Decode(m.Data, 2, 1); err != nil {
		t.Fatal(err)
	}
	awaitPrediction(t, client, "dgm.predict.pend1", "a warning", func(p *wire.Prediction) bool {
		s.Seq, s.T, s.Plan = p.Seq+1, p.T+1, []float64{1, 2}
		_ = planner.Publish("dgm.state.pend1", s.Append(nil))
		return p.Flags&wire.PlanUnused != 0
	})
	// shown waits for longer where no status comes, on a busy computer.
	shown := func(args ...string) (code int, text, failed string) {
		for _, wait := range []string{"2500ms", "1m"} {
			if code, text, failed = execute(append([]string{"status", "--nats", url, "--wait", wait}, args...)...); code == cli.Done {
				break
			}
		}
		return code, text, failed
	}
	code, text, failed := shown()
	if code != cli.Done || !strings.Contains(text, "pend1: model ") || !strings.Contains(text, "! plans_unused: ") || !strings.Contains(text, "plan_dt") {
		t.Errorf("code %d: %s%s", code, text, failed)
	}
	code, text, failed = shown("--vehicle", "pend1", "--json")
	var all []struct {
		Vehicle  string
		Channels []string
		Unused   uint64 `json:"plans_unused"`
		Alarms   []wire.Alarm
	}
	if err := json.Unmarshal([]byte(text), &all); err != nil || code != cli.Done {
		t.Fatalf("%v, code %d: %s", err, code, failed)
	}
	if len(all) != 1 || all[0].Vehicle != "pend1" || all[0].Unused == 0 || len(all[0].Channels) != 2 || len(all[0].Alarms) == 0 {
		t.Errorf("%+v", all)
	}
	if stop(); strings.Count(messages.String(), "plans without plan_dt") != 1 {
		t.Errorf("on the console: %s", messages.String())
	}
	for _, args := range [][]string{{"--vehicle", "nobody", "--wait", "100ms"}, {"--nats", "nats://127.0.0.1:1", "--wait", "100ms"}} {
		if code, _, failed := execute(append([]string{"status", "--nats", url}, args...)...); code != cli.Failed || !strings.Contains(failed, "within 100ms") {
			t.Errorf("%v: code %d, %s", args, code, failed)
		}
	}
	if code, _, _ := execute("status", "--vehicle", "a.b"); code != cli.Wrong {
		t.Errorf("code %d", code)
	}
}

// A status without predictions since the last one has no latency.
func TestLatencyOfASilentInput(t *testing.T) {
	for latency, want := range map[float64]string{0: "p50 -, p99 -, at most -", 0.002: "p50 2.00 ms, p99 2.00 ms, at most 2.00 ms"} {
		var out strings.Builder
		writeStatus(&out, &wire.Status{Input: wire.InputStale, LatencyP50: latency, LatencyP99: latency, LatencyMax: latency})
		if !strings.Contains(out.String(), want+"\n") {
			t.Errorf("latency %v s: %s", latency, out.String())
		}
	}
}

// What adaptation has learned, or why it learns nothing, is a line of the status.
func TestAdaptationForPeople(t *testing.T) {
	changes := []wire.Amount{{Name: "bias vz", Unit: "m/s²", Value: 0.1, Std: 0.2}, {Name: "gain m1", Unit: "%", Value: -20, Std: 3}}
	for _, c := range []struct {
		s    wire.Status
		want string
	}{
		{wire.Status{}, ""},
		{wire.Status{Adapt: wire.AdaptOff}, ""},
		{wire.Status{Adapt: wire.AdaptOn, AdaptNote: "no rates"}, "on, and nothing is learned: no rates"},
		{wire.Status{Adapt: wire.AdaptOn, AdaptShare: 0.1, Amounts: changes[:1]}, "on, counts 10 %: no change is significant"},
		{wire.Status{Adapt: wire.AdaptWatch, AdaptShare: 0.8, Amounts: changes}, "watch, would count 80 %: gain m1 −20 ± 3 %"},
	} {
		var out strings.Builder
		writeStatus(&out, &c.s)
		if !strings.Contains(out.String(), "  adaptation   "+c.want+"\n") != (c.want == "") {
			t.Errorf("want %q: %s", c.want, out.String())
		}
	}
}

// Without a server its address is named, and no password of it.
func TestNoServerIsNamed(t *testing.T) {
	for _, args := range [][]string{{"status", "--wait", "50ms"}, {"reset", "--vehicle", "pend1"}} {
		code, _, failed := execute(append(args, "--nats", "nats://pilot:secret@127.0.0.1:1")...)
		if code != cli.Failed || !strings.Contains(failed, "no server answers at nats://…@127.0.0.1:1") || strings.Contains(failed, "secret") {
			t.Errorf("%v: code %d, %s", args, code, failed)
		}
	}
}

// reset reaches the estimator, which has nothing to forget here; without a server or an
// estimator it says what is missing.
func TestResetOfAdaptation(t *testing.T) {
	url, client := natsServer(t)
	var out, messages buffer
	stop := estimate(t, &out, &messages, "--model", modelFile(t), "--vehicle", "pend1", "--adapt", "on", "--nats", url)
	defer stop()
	awaitPrediction(t, client, "dgm.predict.pend1", "a prediction", func(*wire.Prediction) bool { return true })
	for want, args := range map[string][]string{
		"nothing is learned": {"--vehicle", "pend1", "--nats", url},
		"no estimator":       {"--vehicle", "pend2", "--nats", url},
		"no server answers":  {"--vehicle", "pend1", "--nats", "nats://127.0.0.1:1"},
	} {
		if code, _, failed := execute(append([]string{"reset"}, args...)...); code != cli.Failed || !strings.Contains(failed, want) {
			t.Errorf("want %q: code %d, %s", want, code, failed)
		}
	}
}
