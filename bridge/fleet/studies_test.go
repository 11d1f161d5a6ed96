package fleet

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
)

// Units of a study are run once each by workers that run studies, and their rows are stored once.
func TestUnitsOfAStudy(t *testing.T) {
	ns := serve(t, Settings{})
	c := client(t, ns)
	var runs atomic.Int32
	run := func(_ context.Context, of Training) (Model, error) {
		runs.Add(1)
		return Model{}, os.WriteFile(of.Out, fmt.Appendf(nil, "row of %s\n", of.Job.Title()), 0o666)
	}
	var jobs []Job
	for seed := range 4 {
		j := NewStudyJob(Unit{Study: "s", Set: "a", Seed: seed}, "--steps 5", "v1")
		jobs = append(jobs, j)
		for range 2 {
			if _, err := c.Queue.Submit(t.Context(), j, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	without := client(t, ns)
	without.Name, without.Studies, without.Train = "without", nil, run
	if err := without.next(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s, err := c.Queue.Get(t.Context(), jobs[0].ID); err != nil || s.State != Queued || s.Tries != 0 || runs.Load() != 0 {
		t.Errorf("%+v, %v: a worker that runs no studies has begun one", s, err)
	}
	for _, name := range []string{"a", "b"} {
		start(t, ns, name, run)
	}
	for _, j := range jobs {
		if s := await(t, c.Queue, j.ID, Done); s.ModelID != "" {
			t.Errorf("%+v", s)
		}
		if s, err := c.Queue.Submit(t.Context(), j, true); err != nil || s.State != Done {
			t.Errorf("%+v, %v", s, err)
		}
	}
	all, unreadable, err := c.Studies.List(t.Context())
	if err != nil || len(all) != len(jobs) || len(unreadable) > 0 || runs.Load() != int32(len(jobs)) {
		t.Errorf("%d results after %d runs, %v, %v", len(all), runs.Load(), unreadable, err)
	}
	for _, r := range all {
		if want := fmt.Sprintf("row of s a %d\n", r.Job.Study.Seed); r.Text != want || r.Version != "test" {
			t.Errorf("%+v", r)
		}
	}
}

func TestJobsThatAreNone(t *testing.T) {
	good := NewStudyJob(Unit{Study: "s", Set: "a"}, "", "v1")
	if err := good.check(); err != nil {
		t.Fatal(err)
	}
	if id := NewJob("v", []string{"2", "1"}, "s", "x").ID; id != "4f92afb0ff31909db60b0a3bc5fa6925" {
		t.Errorf("a training has the ID %s, unlike before there were studies", id)
	}
	for name, change := range map[string]func(j *Job){
		"another seed":  func(j *Job) { j.Study = &Unit{Study: "s", Set: "a", Seed: 1} },
		"a vehicle":     func(j *Job) { j.Vehicle = "v"; *j = j.identified() },
		"no set":        func(j *Job) { j.Study = &Unit{Study: "s"}; *j = j.identified() },
		"a hostile set": func(j *Job) { j.Study = &Unit{Study: "s", Set: "a\x1b[2J"}; *j = j.identified() },
		"a seed below":  func(j *Job) { j.Study = &Unit{Study: "s", Set: "a", Seed: -1}; *j = j.identified() },
		"nothing":       func(j *Job) { j.Study = nil; *j = j.identified() },
	} {
		j := good
		if change(&j); j.check() == nil {
			t.Errorf("%s is accepted: %+v", name, j)
		}
	}
}
