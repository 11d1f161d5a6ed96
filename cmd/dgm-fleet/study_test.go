package main

import (
	"context"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

func TestSpanOfSeeds(t *testing.T) {
	for text, want := range map[string]span{"1-100": {1, 100}, "7": {7, 7}, "0-0": {}} {
		var s span
		if err := s.Set(text); err != nil || s != want {
			t.Errorf("%s: %v, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "-", "1-", "-1", "5-4", "0-99999", "a", "1-2-3"} {
		if err := new(span).Set(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// A study becomes jobs, workers run them, and dgm-bench reads what is fetched; asked for again, nothing runs again.
func TestAStudyByWorkers(t *testing.T) {
	url, dir := listen(t), t.TempDir()
	if code, _, errs := call("setup", "--nats", url); code != cli.Done {
		t.Fatal(errs)
	}
	for _, args := range [][]string{
		{"report", "--seeds", "1"}, {"lambda"}, {"lambda", "--seeds", "1", "--sets", "x"}, {"trajectories", "--seeds", "1"},
		{"lambda", "--seeds", "1", "--", "--out", "/x"}, {"lambda", "--seeds", "1", "--", "--sets=lo1"}, {"lambda", "--seeds", "1", "--", "--x"}, {"lambda", "--seeds", "1", "--", "x"},
	} {
		if code, out, _ := call(append([]string{"study", "paper", "--nats", url}, args...)...); code != cli.Wrong {
			t.Errorf("%v: exit %d, %s", args, code, out)
		}
	}
	queue := func(want string) {
		t.Helper()
		code, out, errs := call("study", "paper", "lambda", "--seeds", "3-5", "--sets", "lv1", "--nats", url, "--", "--steps", "5", "--powers", "0,1")
		if code != cli.Done || !strings.Contains(out, want) {
			t.Fatalf("exit %d, %s%s; expected %s", code, out, errs, want)
		}
	}
	queue("3 jobs of lambda: 3 queued")
	ctx, cancel := context.WithCancel(t.Context())
	worked := make(chan int)
	for range 2 {
		go func() {
			c := root()
			c.SetArgs([]string{"worker", "--nats", url, "--dir", dir})
			c.SetErr(&strings.Builder{})
			worked <- cli.Run(ctx, c)
		}()
	}
	results := t.TempDir()
	fetched := ""
	for !strings.Contains(fetched, "jobs: 3 done") {
		code, out, errs := call("fetch", "--study", "lambda", "--out", results, "--nats", url)
		if code != cli.Done || strings.Contains(out, "skipped") || strings.Contains(out, "failed") {
			t.Fatalf("exit %d, %s%s", code, out, errs)
		}
		fetched = out
	}
	cancel()
	for range 2 {
		<-worked
	}
	queue("3 jobs of lambda: 3 done")
	if _, out, _ := call("fetch", "--study", "lambda", "--out", results, "--nats", url); !strings.HasPrefix(out, "0 rows added") {
		t.Error(out)
	}
	store, err := study.Open(results)
	if err != nil || len(store.Rows("lambda")) != 6 {
		t.Fatalf("%d rows, %v", len(store.Rows("lambda")), err)
	}
	for _, r := range store.Rows("lambda") {
		if r.Set != "lv1" || r.Seed < 3 || r.Seed > 5 || r.Settings != "--steps 5" || !r.Has("loglik") {
			t.Errorf("%+v", r)
		}
	}
}
