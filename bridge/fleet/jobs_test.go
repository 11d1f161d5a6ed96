package fleet

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// await returns the status of a job when it has a state.
func await(t *testing.T, q *Queue, id string, want State) JobStatus {
	t.Helper()
	var s JobStatus
	eventually(t, "the job is "+string(want), func() (is bool) {
		var err error
		if s, err = q.Get(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if is = s.State == want; !is && s.State.Ended() {
			t.Fatalf("the job is %s, expected %s: %s", s.State, want, strings.Join(s.Lines, "; "))
		}
		return is
	})
	return s
}

// copyLog is a training whose model are the bytes of the first log.
func copyLog(_ context.Context, t Training) (Model, error) {
	b, err := os.ReadFile(t.Logs[0])
	if err != nil {
		return Model{}, err
	}
	t.Log("read %d bytes", len(b))
	return Model{ID: "m1", HeldOut: HeldOut{Verdict: "as good", Windows: 7}}, os.WriteFile(t.Out, b, 0o666)
}

// queued returns how many messages are in the work queue.
func queued(t *testing.T, q *Queue) uint64 {
	t.Helper()
	info, err := q.stream.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return info.State.Msgs
}

func TestJobID(t *testing.T) {
	a := NewJob("v", []string{"1", "2"}, "s", "x")
	if b := NewJob("v", []string{"2", "1", "2"}, "s", "x"); b.ID != a.ID {
		t.Errorf("%+v and %+v", a, b)
	}
	for _, b := range []Job{NewJob("w", []string{"1", "2"}, "s", "x"), NewJob("v", []string{"1"}, "s", "x"), NewJob("v", []string{"1", "2"}, "t", "x"), NewJob("v", []string{"1", "2"}, "s", "y")} {
		if b.ID == a.ID {
			t.Errorf("%+v and %+v", a, b)
		}
	}
}

func TestAJobIsDone(t *testing.T) {
	ns := serve(t, Settings{})
	c := client(t, ns)
	j := submitted(t, c, "drone-1")
	start(t, ns, "a", copyLog)
	s := await(t, c.Queue, j.ID, Done)
	if s.Tries != 1 || s.Worker != "a" || s.ModelID != "m1" || s.Progress != 1 || !slices.ContainsFunc(s.Lines, func(l string) bool { return strings.HasPrefix(l, "read ") }) {
		t.Errorf("%+v", s)
	}
	st, err := ReadStatus(t.Context(), c.Logs, c.Queue, installer(t, ns), nil)
	if err != nil || len(st.Vehicles) != 1 || len(st.Jobs) != 1 {
		t.Fatalf("%+v, %v", st, err)
	}
	v := st.Vehicles[0]
	if v.Logs != 1 || v.Models != 1 || v.Newest.ID != "m1" || v.Newest.Job.ID != j.ID || v.Newest.HeldOut.Windows != 7 {
		t.Errorf("%+v", v)
	}
	if file, err := c.Models.Fetch(t.Context(), *v.Newest); err != nil || int64(len(file)) != v.Bytes {
		t.Errorf("%d bytes, %v", len(file), err)
	}
}

// Jobs whose messages were lost are queued again, once, and done; those that have ended stay so.
func TestLostMessagesAreRestored(t *testing.T) {
	ns := serve(t, Settings{})
	c := client(t, ns)
	ended, lost, there := submitted(t, c, "drone-1"), submitted(t, c, "drone-2"), submitted(t, c, "drone-3")
	if _, err := c.Queue.Cancel(t.Context(), ended.ID); err != nil {
		t.Fatal(err)
	}
	stream, err := c.Queue.js.Stream(t.Context(), jobStream)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range []Job{ended, lost} {
		if err := stream.Purge(t.Context(), jetstream.WithPurgeSubject(jobPrefix+j.ID)); err != nil {
			t.Fatal(err)
		}
	}
	var lines []string
	controller := &Controller{In: installer(t, ns), Queue: c.Queue, Log: func(line string) { lines = append(lines, line) }}
	for range 2 {
		if err := controller.restore(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(lines) != 1 || !strings.Contains(lines[0], lost.ID) {
		t.Errorf("queued again: %q, expected %s once", lines, lost.ID)
	}
	if n := queued(t, c.Queue); n != 2 {
		t.Errorf("%d messages, expected 2", n)
	}
	start(t, ns, "a", copyLog)
	await(t, c.Queue, lost.ID, Done)
	await(t, c.Queue, there.ID, Done)
}

// A job that is submitted many times is in the queue once and is trained once, before and
// after it is done.
func TestDuplicateJobs(t *testing.T) {
	ns := serve(t, Settings{})
	c := client(t, ns)
	j := submitted(t, c, "drone-1")
	for range 5 {
		if s, err := c.Queue.Submit(t.Context(), j, false); err != nil || s.State != Queued {
			t.Fatalf("%+v, %v", s, err)
		}
	}
	if n := queued(t, c.Queue); n != 1 {
		t.Errorf("%d messages", n)
	}
	var mu sync.Mutex
	trained := 0
	count := func(ctx context.Context, t Training) (Model, error) {
		mu.Lock()
		trained++
		mu.Unlock()
		return copyLog(ctx, t)
	}
	start(t, ns, "a", count)
	start(t, ns, "b", count)
	await(t, c.Queue, j.ID, Done)
	if s, err := c.Queue.Submit(t.Context(), j, true); err != nil || s.State != Done {
		t.Errorf("%+v, %v", s, err)
	}
	// The state is lost, the result is not.
	if err := c.Queue.states.Delete(t.Context(), j.ID); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the job is done by its result", func() bool {
		if _, err := c.Queue.Submit(t.Context(), j, false); err != nil {
			t.Fatal(err)
		}
		s, err := c.Queue.Get(t.Context(), j.ID)
		return err == nil && s.State == Done
	})
	mu.Lock()
	defer mu.Unlock()
	if models, _, err := c.Models.List(t.Context()); err != nil || trained != 1 || len(models) != 1 {
		t.Errorf("trained %d times, %d models, %v", trained, len(models), err)
	}
}

// Of two results of one job the first stays.
func TestTheFirstResultStays(t *testing.T) {
	ns := serve(t, Settings{})
	c := client(t, ns)
	path := writeLog(t, "drone-1", 5, 1)
	j := NewJob("drone-1", []string{"1"}, "", "v1")
	for _, id := range []string{"m1", "m2", "m1"} {
		if m, err := c.Models.Put(t.Context(), Model{ID: id, Job: j}, path); err != nil || m.ID != "m1" {
			t.Errorf("%s: %+v, %v", id, m, err)
		}
	}
	store, err := c.Models.js.ObjectStore(t.Context(), modelObjects)
	if err != nil {
		t.Fatal(err)
	}
	all, err := store.List(t.Context())
	if err != nil || len(all) != 1 || all[0].Name != j.ID+"/m1" {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestCancel(t *testing.T) {
	ns := serve(t, Settings{})
	c := client(t, ns)
	waiting := submitted(t, c, "drone-1")
	if s, err := c.Queue.Cancel(t.Context(), waiting.ID); err != nil || s.State != Cancelled || queued(t, c.Queue) != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	begun, ended := make(chan bool), make(chan error, 1)
	start(t, ns, "a", func(ctx context.Context, _ Training) (Model, error) {
		close(begun)
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return Model{ID: "m1"}, nil // as the trainer does: a partial model
	})
	j := submitted(t, c, "drone-2")
	closed(t, begun, "the training begins")
	if _, err := c.Queue.Cancel(t.Context(), j.ID); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the training ends", func() bool { return len(ended) > 0 })
	if err := <-ended; !errors.Is(err, errReleased) {
		t.Errorf("%v", err)
	}
	await(t, c.Queue, j.ID, Cancelled)
	if models, _, err := c.Models.List(t.Context()); err != nil || len(models) != 0 || queued(t, c.Queue) != 0 {
		t.Errorf("%+v, %v", models, err)
	}
}

// A job whose log has expired fails with that reason.
func TestALogThatIsGone(t *testing.T) {
	ns := serve(t, Settings{})
	c := client(t, ns)
	j := submitted(t, c, "drone-1")
	if err := indexed(t, c.Logs).Delete(t.Context(), "drone-1."+j.Logs[0]); err != nil {
		t.Fatal(err)
	}
	start(t, ns, "a", copyLog)
	if s := await(t, c.Queue, j.ID, Failed); !strings.Contains(s.Reason, "older than logs are kept") {
		t.Errorf("%+v", s)
	}
}

// One log that cannot be read costs itself: the job goes on with the others, and says so.
func TestOneBadLogOfThree(t *testing.T) {
	ns := serve(t, Settings{})
	c := client(t, ns)
	var ids []string
	for seed := range 3 {
		log, _, err := c.Logs.Upload(t.Context(), writeLog(t, "drone-1", 50, seed), nil)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, log.ID)
	}
	if err := indexed(t, c.Logs).Delete(t.Context(), "drone-1."+ids[1]); err != nil {
		t.Fatal(err)
	}
	j := NewJob("drone-1", ids, "", "v1")
	if _, err := c.Queue.Submit(t.Context(), j, false); err != nil {
		t.Fatal(err)
	}
	start(t, ns, "a", func(ctx context.Context, of Training) (Model, error) {
		if len(of.Logs) != 2 {
			t.Errorf("%d logs", len(of.Logs))
		}
		return copyLog(ctx, of)
	})
	if s := await(t, c.Queue, j.ID, Done); s.Tries != 1 || !strings.Contains(strings.Join(s.Lines, " "), "left out: log "+ids[1][:12]) {
		t.Errorf("%+v", s)
	}
}

// The server removes the state of a job some time after its end, and of no other; the job can be submitted again.
func TestStatesOfEndedJobsAreRemoved(t *testing.T) {
	ns := serve(t, Settings{KeepJobs: time.Second})
	c := client(t, ns)
	ended, waits := submitted(t, c, "drone-1"), submitted(t, c, "drone-2")
	if _, err := c.Queue.Cancel(t.Context(), ended.ID); err != nil {
		t.Fatal(err)
	}
	eventually(t, "only the job that waits is listed", func() bool {
		all, _, err := c.Queue.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(all) == 1 && all[0].ID == waits.ID
	})
	if s, err := c.Queue.Submit(t.Context(), ended, false); err != nil || s.State != Queued || queued(t, c.Queue) != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	// Another setting holds from then on.
	if err := Setup(t.Context(), connect(t, ns), Settings{KeepJobs: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if q, err := OpenQueue(t.Context(), connect(t, ns)); err != nil || q.keep != time.Hour {
		t.Errorf("%v", err)
	}
}
