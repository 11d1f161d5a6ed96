package main

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/decisionlog"
)

// What a fleet has stored is shown, by credentials that can only read it.
func TestShowsTheFleet(t *testing.T) {
	t.Parallel()
	b := openBrowser(t, 1280, 900)
	s := openSite(t)
	if err := fleet.Setup(t.Context(), s.nc, fleet.Settings{}); err != nil {
		t.Fatal(err)
	}
	queue, err := fleet.OpenQueue(t.Context(), s.nc)
	if err != nil {
		t.Fatal(err)
	}
	job := fleet.NewJob("one", []string{"a"}, "", "v1")
	if _, err := queue.Submit(t.Context(), job, false); err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC()
	s.keep("fleet-model-index", "one."+job.ID, fleet.Model{ID: "m2", Job: job, Trained: now, HeldOut: fleet.HeldOut{Verdict: "USE <b>", Cover95: [2]float64{0.93, 0.96}}})
	s.decide(model.Statement{Purpose: model.ForInstallation, Vehicle: "one"}, fleet.Installation{Vehicle: "one", Flown: &fleet.Ref{Model: "m1"}, Shadow: &fleet.Ref{Model: "m2"}, Changed: now, Reason: "promoted"}, operatorKey)
	s.decide(model.Statement{Purpose: model.ForRollout, Fleet: "all"}, map[string]any{"group": "all", "vehicles": []string{"one", "two"}, "model": fleet.Ref{Model: "m2"}, "stage": "canary", "since": now, "reason": "better", "signed": true}, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize)))
	covered := 0.94
	s.keep("fleet-log-index", "one.l1", fleet.Log{Vehicle: "one", From: 1e9, To: 3e9, Samples: 200, Channels: []string{"a", "b"}, Models: []string{"m1"}, Coverage: &covered, Alarms: []string{"late", "<b>"}, Uploaded: now})
	s.keep("fleet-jobs", "foreign", "not a job")
	b.open(s.url)
	for table, want := range map[string]string{
		"jobs": "one|queued|||0|T ago|", "models": "one|m2|T ago|1|93.0 % to 96.0 %|USE <b>",
		"logs":          "one|T ago|T|200|2|m1|94.0 %|late, <b>",
		"installations": "one|m1|T|m2|||promoted|verified", "rollouts": "",
	} {
		var got string
		b.await(table+" to be "+want, func() bool {
			b.run(fmt.Sprintf("[...document.querySelectorAll('#%s td')].map((e) => e.textContent).join('|')", table), &got)
			return regexp.MustCompile(`[0-9.]+ (µs|ms|s)`).ReplaceAllString(got, "T") == want
		})
	}
	b.await("the log's state", func() bool {
		text := b.text("#decisions")
		return strings.HasPrefix(text, "1 decision, each signed by the operator and following the one before. The last one is ") && strings.HasSuffix(text, "1 message decides nothing, the last: decision 2, rollout.all: it is not signed by the operator.")
	})
	b.picture("fleet", false)
}

// A log of decisions that is not the one which the page has seen is named, while it is open and when it is opened again.
func TestNoticesAnotherLogOfDecisions(t *testing.T) {
	t.Parallel()
	b := openBrowser(t, 1280, 900)
	s := openSite(t)
	if err := fleet.Setup(t.Context(), s.nc, fleet.Settings{}); err != nil {
		t.Fatal(err)
	}
	install := func(id string) {
		s.decide(model.Statement{Purpose: model.ForInstallation, Vehicle: "one"}, fleet.Installation{Vehicle: "one", Flown: &fleet.Ref{Model: id}}, operatorKey)
	}
	js, err := jetstream.New(s.nc)
	if err != nil {
		t.Fatal(err)
	}
	rewrite := func(ids ...string) {
		t.Helper()
		if err := js.DeleteStream(t.Context(), decisionlog.Stream); err != nil {
			t.Fatal(err)
		}
		if err := fleet.Setup(t.Context(), s.nc, fleet.Settings{}); err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			install(id)
		}
	}
	says := func(want string) {
		t.Helper()
		b.await("the log to be: "+want, func() bool { return strings.Contains(b.text("#decisions"), want) })
	}
	for i := range 260 { // more than one request returns
		install(fmt.Sprint("m", i))
	}
	b.open(s.url)
	says("260 decisions, each signed by the operator and following the one before. The last one is ")
	rewrite("m0", "m1")
	says("it has lost its end: decision 260")
	b.open(s.url)
	says("it has lost its end: this browser has seen decision 260, and it ends with number 2")
	var other []string
	for i := range 265 {
		other = append(other, fmt.Sprint("x", i))
	}
	rewrite(other...)
	says("decision 2 is another one than before")
	b.open(s.url)
	says("decision 260 is another one than this browser has seen")
	time.Sleep(6 * time.Second) // looked at again
	says("decision 260 is another one than this browser has seen")
}

// Of a store with many entries the newest are shown.
func TestShowsTheNewestOfManyJobs(t *testing.T) {
	t.Parallel()
	b := openBrowser(t, 1280, 900)
	s := openSite(t)
	if err := fleet.Setup(t.Context(), s.nc, fleet.Settings{}); err != nil {
		t.Fatal(err)
	}
	const jobs = 1100 // more than the server returns by one request for the last of each key
	now := time.Now().UTC()
	for i := range jobs {
		s.keep("fleet-jobs", fmt.Sprintf("j%d", i), map[string]any{"vehicle": fmt.Sprintf("v%d", i), "submitted": now.Add(time.Duration(i-jobs) * time.Minute)})
	}
	b.open(s.url)
	for _, want := range []string{"v1099", "late"} {
		b.await(want+" to be the first", func() bool { return b.text("#jobs td") == want })
		s.keep("fleet-jobs", "late", map[string]any{"vehicle": "late", "submitted": now})
	}
}
