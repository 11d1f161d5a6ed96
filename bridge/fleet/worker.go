package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// MostTries is how often a job is begun before it counts as failed.
const MostTries = 3

// A Training is what a worker hands to the function that trains.
type Training struct {
	Job      Job
	Logs     []string                           // files
	Out      string                             // the model file, or the file of rows, to write
	Progress func(phase string, share float64)  // safe for concurrent use
	Log      func(format string, values ...any) // one line; safe for concurrent use
}

// Worker trains the jobs of a fleet, one at a time.
type Worker struct {
	Name    string // unique among workers
	Version string // of the program
	Logs    *Logs
	Queue   *Queue
	Models  *Models
	Dir     string            // (optional) for temporary files; defaults to that of the system
	Longest time.Duration     // (optional) of the work on a job, after which it has failed; defaults to 12 h
	Log     func(line string) // for what an operator should read

	// Train writes a model and returns ID, scores and units of its entry. When the context ends, its result is
	// dropped.
	Train func(ctx context.Context, t Training) (Model, error)
}

// Reasons why a training ends early that are no failure of the job.
var (
	errReleased = errors.New("the job was cancelled, or its lease went to another worker")
	errStopping = errors.New("the worker is being stopped")
)

// errTooLong is that a job took longer than jobs may: it is not tried again.
var errTooLong = errors.New("it took longer than a job may")

const usualLongest = 12 * time.Hour

// Run works until the context ends: then the job in hand is returned to the queue at once, and this try
// is not counted.
func (w *Worker) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := w.next(ctx); err != nil && ctx.Err() == nil {
			w.Log(fmt.Sprintf("worker %s: %v; trying again", w.Name, err))
			pause(ctx, time.Second)
		}
	}
	return nil
}

// pause waits until the duration or the context has ended.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// next takes a job, waiting a few seconds for one, and works on it. More than one would be held
// without work on it until its lease has passed.
func (w *Worker) next(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	batch, err := w.Queue.consumer.Fetch(1, jetstream.FetchContext(waiting))
	if err != nil {
		return explained(err)
	}
	for msg := range batch.Messages() {
		if err := w.handle(ctx, msg); err != nil {
			return err
		}
	}
	if err := batch.Error(); !errors.Is(err, nats.ErrTimeout) && !errors.Is(err, context.DeadlineExceeded) {
		return explained(err)
	}
	return nil
}

// handle works on the job of a message. An error is of the link: the message then comes again after the lease.
func (w *Worker) handle(ctx context.Context, msg jetstream.Msg) error {
	id := strings.TrimPrefix(msg.Subject(), jobPrefix)
	s, revision, err := w.Queue.get(ctx, id)
	if errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrInvalidKey) || errors.Is(err, errEntry) {
		if !settledReading(msg) {
			return msg.NakWithDelay(w.Queue.lease() / 4)
		}
		w.Log(fmt.Sprintf("worker %s: dropped from the queue: %v", w.Name, err))
		return msg.TermWithReason("the job has no state that can be read")
	}
	if err != nil {
		return err
	}
	if s.State.Ended() {
		if !settledReading(msg) { // it may have been submitted again
			return msg.NakWithDelay(w.Queue.lease() / 4)
		}
		return msg.DoubleAck(ctx)
	}
	if s.State == Running {
		alive, err := w.holderAlive(ctx, msg, &s, revision)
		if err != nil {
			return err
		}
		if alive {
			return msg.NakWithDelay(w.Queue.lease())
		}
		s.Reason = fmt.Sprintf("worker %s ended during try %d", s.Worker, s.Tries)
		s.line(s.Reason)
	}
	result, ok, err := w.Models.Of(ctx, &s.Job)
	switch {
	case errors.Is(err, errEntry): // no try mends that
		s.Tries = MostTries
		return w.conclude(ctx, msg, &s, revision, "", fmt.Errorf("the entry of its model cannot be read: %w", err))
	case err != nil:
		return err
	case ok:
		return w.conclude(ctx, msg, &s, revision, result.ID, nil)
	case s.Tries >= MostTries:
		return w.conclude(ctx, msg, &s, revision, "", errors.New(s.Reason))
	}
	s.State, s.Worker, s.Tries, s.Phase, s.Progress = Running, w.Name, s.Tries+1, "", 0
	s.line(fmt.Sprintf("try %d by worker %s", s.Tries, w.Name))
	revision, err = w.Queue.put(ctx, &s, revision)
	if errors.Is(err, errReplaced) {
		return msg.NakWithDelay(w.Queue.lease() / 4) // cancelled, or taken, since it was read
	}
	if err != nil {
		return err
	}
	w.Log(fmt.Sprintf("worker %s: job %s of %s, try %d", w.Name, s.ID, s.Vehicle, s.Tries))
	h := &hold{queue: w.Queue, msg: msg, status: s, revision: revision}
	model, err := w.work(ctx, h)
	s, revision = h.snapshot(), h.revision
	switch {
	case errors.Is(err, errReleased):
		// An acknowledgement now would end the work of another worker.
		w.Log(fmt.Sprintf("worker %s: job %s: %v", w.Name, id, err))
		return nil
	case errors.Is(err, errStopping):
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		s.State, s.Tries = Queued, s.Tries-1
		s.line(fmt.Sprintf("worker %s was stopped and returned the job", w.Name))
		if _, err := w.Queue.put(ctx, &s, revision); err != nil {
			return err
		}
		return msg.Nak()
	}
	return w.conclude(ctx, msg, &s, revision, model, err)
}

// settledReading reports whether a message was delivered often enough to believe what was read for it: a server that is behind the
// others answers with a state of before.
func settledReading(msg jetstream.Msg) bool {
	m, err := msg.Metadata()
	return err != nil || m.NumDelivered > 2
}

// holderAlive reports whether the worker that holds a running job extends its lease: a
// message can come again because its acknowledgement was lost. No clocks are compared.
func (w *Worker) holderAlive(ctx context.Context, msg jetstream.Msg, s *JobStatus, revision uint64) (bool, error) {
	pause(ctx, w.Queue.lease()/2) // twice the time between two extensions
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err := msg.InProgress(); err != nil {
		return false, err
	}
	_, now, err := w.Queue.get(ctx, s.ID)
	return now != revision, err
}

// conclude stores the outcome of a try and settles the message.
func (w *Worker) conclude(ctx context.Context, msg jetstream.Msg, s *JobStatus, revision uint64, model string, failure error) error {
	switch {
	case failure == nil:
		s.State, s.ModelID, s.Progress, s.Phase, s.Reason = Done, model, 1, "", ""
		s.line("model " + model)
	case s.Tries >= MostTries || errors.Is(failure, errTooLong):
		s.State, s.Reason = Failed, failure.Error()
		s.line(fmt.Sprintf("failed after %d tries: %v", s.Tries, failure))
	default:
		s.State, s.Reason = Queued, failure.Error()
		s.line(fmt.Sprintf("try %d failed: %v", s.Tries, failure))
	}
	w.Log(fmt.Sprintf("worker %s: job %s: %s", w.Name, s.ID, s.Lines[len(s.Lines)-1]))
	_, err := w.Queue.putHeld(ctx, s, revision)
	switch {
	case errors.Is(err, errReplaced): // cancelled meanwhile, or concluded by another worker
		return nil
	case err != nil:
		return err
	case s.State == Done:
		return msg.DoubleAck(ctx)
	case s.State == Failed:
		return msg.TermWithReason(s.Reason)
	}
	return msg.NakWithDelay(w.Queue.lease() / 4)
}

// work fetches the logs, trains, and stores the model, while the lease is extended.
func (w *Worker) work(ctx context.Context, h *hold) (model string, err error) {
	longest := cmp.Or(w.Longest, usualLongest)
	ctx, end := context.WithTimeoutCause(ctx, longest, fmt.Errorf("%w, %v: give it fewer logs or channels, or the worker a longer time", errTooLong, longest))
	defer end()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var extending sync.WaitGroup
	extending.Go(func() { h.extend(ctx, cancel) })
	defer func() {
		stopped := context.Cause(ctx)
		cancel(nil)
		extending.Wait()
		switch {
		case errors.Is(stopped, errReleased):
			err = errReleased
		case errors.Is(stopped, errTooLong):
			err = stopped
		case stopped != nil:
			err = errStopping
		}
	}()
	dir, err := os.MkdirTemp(w.Dir, "dgm-fleet-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	job := h.status.Job
	t := Training{Job: job, Out: filepath.Join(dir, "model.dgm"), Progress: h.progress, Log: h.log}
	var lost error // what is wrong with the last log that cannot be read
	for _, id := range job.Logs {
		path, err := w.Logs.Fetch(ctx, job.Vehicle, id, dir)
		switch {
		case err == nil:
			t.Logs = append(t.Logs, path)
		case Transient(err) || ctx.Err() != nil:
			return "", err
		default:
			lost = err
			h.log("left out: %v", err)
		}
	}
	if len(t.Logs) == 0 && lost != nil {
		return "", lost
	}
	e, err := w.train(ctx, t)
	if err != nil || ctx.Err() != nil {
		return "", err
	}
	e.Job, e.Version, e.Worker, e.Trained = job, w.Version, w.Name, time.Now().UTC()
	for tries := 1; ; tries++ {
		stored, err := w.Models.Put(ctx, e, t.Out)
		if err == nil {
			return stored.ID, nil
		}
		if tries == 10 || ctx.Err() != nil {
			return "", err
		}
		h.log("%v; trying again", err)
		pause(ctx, w.Queue.lease()/4)
	}
}

// train calls Train and returns a panic as an error.
func (w *Worker) train(ctx context.Context, t Training) (e Model, err error) {
	defer func() {
		if r := recover(); r != nil {
			w.Log(fmt.Sprintf("worker %s: job %s: panic: %v\n%s", w.Name, t.Job.ID, r, debug.Stack()))
			err = fmt.Errorf("the training panicked: %v", r)
		}
	}()
	if e, err = w.Train(ctx, t); err != nil {
		return e, err
	}
	if _, err := json.Marshal(&e); err != nil {
		return e, fmt.Errorf("the scores of the model cannot be stored: %w", err)
	}
	return e, nil
}

// hold is a job in the hands of a worker. Its fields belong to extend until that has ended,
// except those that mu guards.
type hold struct {
	queue    *Queue
	msg      jetstream.Msg
	revision uint64

	mu     sync.Mutex
	status JobStatus // guarded
}

func (h *hold) progress(phase string, share float64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.status.Phase = phase; share >= 0 && share <= 1 {
		h.status.Progress = share
	}
}

func (h *hold) log(format string, values ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status.line(fmt.Sprintf(format, values...))
}

func (h *hold) snapshot() JobStatus {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.status
	s.Lines = append([]string(nil), s.Lines...)
	return s
}

// extend extends the lease until the context ends, and ends it where the job is no longer
// this worker's. A link that is down is no reason to end: the job may still be this worker's when it
// is back.
func (h *hold) extend(ctx context.Context, cancel context.CancelCauseFunc) {
	every := time.NewTicker(h.queue.lease() / 4)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		_ = h.msg.InProgress() // not answered: the state below is the lease that counts
		s := h.snapshot()
		limited, done := context.WithTimeout(ctx, h.queue.lease()/4)
		revision, err := h.queue.putHeld(limited, &s, h.revision)
		done()
		switch {
		case err == nil:
			h.revision = revision
		case errors.Is(err, errReplaced):
			cancel(errReleased)
			return
		}
	}
}
