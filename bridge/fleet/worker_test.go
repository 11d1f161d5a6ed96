package fleet

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A worker whose process is killed while it trains: another one does the job, once.
func TestAKilledWorker(t *testing.T) {
	ns := serve(t, Settings{})
	c := client(t, ns)
	j := submitted(t, c, "drone-1")
	victim := exec.Command(os.Args[0])
	victim.Env = append(os.Environ(), hangs+"="+ns.ClientURL())
	out, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	if lines := bufio.NewScanner(out); !lines.Scan() || lines.Text() != "training" {
		t.Errorf("%q", lines.Text())
	}
	if err := errors.Join(victim.Process.Kill(), func() error { _ = victim.Wait(); return nil }()); err != nil {
		t.Fatal(err)
	}
	start(t, ns, "b", copyLog)
	s := await(t, c.Queue, j.ID, Done)
	if s.Worker != "b" || s.Tries != 2 || !slices.Contains(s.Lines, "worker hanging ended during try 1") {
		t.Errorf("%+v", s)
	}
	if models, _, err := c.Models.List(t.Context()); err != nil || len(models) != 1 {
		t.Errorf("%+v, %v", models, err)
	}
}

// While a worker extends its lease, its job stays with it for longer than the lease.
func TestALongTraining(t *testing.T) {
	ns := serve(t, Settings{})
	c := client(t, ns)
	j := submitted(t, c, "drone-1")
	var begun sync.Map
	slow := func(ctx context.Context, tr Training) (Model, error) {
		if _, twice := begun.LoadOrStore(tr.Job.ID, true); twice {
			t.Error("the job is begun twice")
		}
		tr.Progress("nets", 0.5)
		for seen := 0; seen < 8; { // extensions: two leases
			s, err := c.Queue.Get(ctx, j.ID)
			if err != nil {
				return Model{}, err
			}
			if s.Progress == 0.5 {
				seen++
			}
			pause(ctx, lease/4)
		}
		return copyLog(ctx, tr)
	}
	start(t, ns, "a", slow)
	start(t, ns, "b", slow)
	if s := await(t, c.Queue, j.ID, Done); s.Tries != 1 {
		t.Errorf("%+v", s)
	}
}

// A job that cannot be trained ends after three tries, and its reason is kept; the queue
// goes on.
func TestAPoisonousJob(t *testing.T) {
	ns := serve(t, Settings{})
	c := client(t, ns)
	j := submitted(t, c, "drone-1")
	good := submitted(t, c, "drone-2")
	train := func(ctx context.Context, t Training) (Model, error) {
		if t.Job.Vehicle == "drone-1" {
			panic("the log contains poison")
		}
		return copyLog(ctx, t)
	}
	start(t, ns, "a", train)
	start(t, ns, "b", train)
	s := await(t, c.Queue, j.ID, Failed)
	if s.Tries != MostTries || s.Reason != "the training panicked: the log contains poison" {
		t.Errorf("%+v", s)
	}
	await(t, c.Queue, good.ID, Done)
	eventually(t, "an empty queue", func() bool { return queued(t, c.Queue) == 0 })
	if s, err := c.Queue.Submit(t.Context(), j, false); err != nil || s.State != Failed {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := c.Queue.Submit(t.Context(), j, true); err != nil || s.State != Queued || s.Tries != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	await(t, c.Queue, j.ID, Failed)
}

// A worker that is stopped returns its job at once and uncounted.
func TestAStoppedWorker(t *testing.T) {
	ns := serve(t, Settings{})
	c := client(t, ns)
	j := submitted(t, c, "drone-1")
	begun := make(chan bool)
	stop := start(t, ns, "a", func(ctx context.Context, _ Training) (Model, error) {
		close(begun)
		<-ctx.Done()
		return Model{}, ctx.Err()
	})
	closed(t, begun, "the training begins")
	stop()
	if s, err := c.Queue.Get(t.Context(), j.ID); err != nil || s.State != Queued || s.Tries != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	start(t, ns, "b", copyLog)
	if s := await(t, c.Queue, j.ID, Done); s.Tries != 1 || s.Worker != "b" {
		t.Errorf("%+v", s)
	}
}

// A job that takes too long has failed, and is not tried again.
func TestAJobTakesTooLong(t *testing.T) {
	ns := serve(t, Settings{})
	c := client(t, ns)
	j := submitted(t, c, "drone-1")
	w := client(t, ns)
	w.Name, w.Dir, w.Log, w.Longest = "a", t.TempDir(), func(line string) { t.Log(line) }, 200*time.Millisecond
	w.Train = func(ctx context.Context, _ Training) (Model, error) {
		<-ctx.Done()
		return Model{}, ctx.Err()
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	if s := await(t, c.Queue, j.ID, Failed); s.Tries != 1 || !strings.Contains(s.Reason, "longer than a job may, 200ms") {
		t.Errorf("%+v", s)
	}
	cancel()
	<-ended
}
