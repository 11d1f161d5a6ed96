package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Job is a model to train.
type Job struct {
	ID       string   `json:"id"` // of the fields below
	Vehicle  string   `json:"vehicle"`
	Logs     []string `json:"logs"`     // IDs, sorted
	Settings string   `json:"settings"` // of the trainer, TOML
	Version  string   `json:"version"`  // of the program that made the job
}

// NewJob returns a job with its ID, which depends neither on the order of the logs nor on
// duplicates among them.
func NewJob(vehicle string, logs []string, settings, version string) Job {
	return Job{Vehicle: vehicle, Logs: logs, Settings: settings, Version: version}.identified()
}

// identified returns the job with the ID of its contents.
func (j Job) identified() Job {
	j.ID, j.Logs = "", slices.Compact(slices.Sorted(slices.Values(j.Logs)))
	sum := sha256.Sum256(encoded(&j))
	j.ID = hex.EncodeToString(sum[:16])
	return j
}

func (j Job) check() error {
	err := wire.CheckVehicle(j.Vehicle)
	if id := j.identified().ID; err == nil && id != j.ID {
		err = fmt.Errorf("job %.80q has the ID %s by its contents", j.ID, id)
	}
	return err
}

// State of a job.
type State string

// The states. A job that is queued or running has a message in the work queue.
const (
	Queued    State = "queued"
	Running   State = "running"
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Ended reports whether nothing more becomes of the job by itself.
func (s State) Ended() bool { return s == Done || s == Failed || s == Cancelled }

// JobStatus is a job and what became of it.
type JobStatus struct {
	Job
	State     State     `json:"state"`
	Tries     int       `json:"tries"`              // begun
	Worker    string    `json:"worker,omitempty"`   // of the last try
	Phase     string    `json:"phase,omitempty"`    // of the training
	Progress  float64   `json:"progress"`           // share of the training, 0…1
	Lines     []string  `json:"lines,omitempty"`    // the last lines of the workers' logs
	Reason    string    `json:"reason,omitempty"`   // why the last try did not succeed
	ModelID   string    `json:"model_id,omitempty"` // the result
	Submitted time.Time `json:"submitted"`
	Updated   time.Time `json:"updated"`
}

func (s JobStatus) check(key string) error {
	if s.ID != key {
		return fmt.Errorf("it is the state of job %.80q", s.ID)
	}
	return s.Job.check()
}

const (
	mostLines = 20  // of the log of a job
	mostBytes = 400 // of one line, or of the reason
)

// line adds a line to the log of the job.
func (s *JobStatus) line(text string) {
	s.Lines = append(s.Lines, shortened(text))
	if n := len(s.Lines) - mostLines; n > 0 {
		s.Lines = slices.Delete(s.Lines, 0, n)
	}
}

func shortened(text string) string {
	if len(text) > mostBytes {
		return text[:mostBytes] + "…"
	}
	return text
}

// Queue are the jobs of a fleet.
type Queue struct {
	js       jetstream.JetStream
	stream   jetstream.Stream
	consumer jetstream.Consumer
	states   jetstream.KeyValue
	keep     time.Duration // of states after the end of their jobs; 0 = without limit
}

// OpenQueue opens the jobs of a fleet.
func OpenQueue(ctx context.Context, nc *nats.Conn) (*Queue, error) {
	js, err := jetStream(ctx, nc, jobStream)
	if err != nil {
		return nil, err
	}
	q := &Queue{js: js}
	if q.stream, err = js.Stream(ctx, jobStream); err != nil {
		return nil, fmt.Errorf("stream %s: %w", jobStream, explained(err))
	}
	if q.consumer, err = q.stream.Consumer(ctx, jobConsumer); err != nil {
		return nil, fmt.Errorf("consumer %s of stream %s: %w", jobConsumer, jobStream, explained(err))
	}
	if q.states, err = bucket(ctx, js, jobStates); err != nil {
		return nil, err
	}
	s, err := q.states.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("key-value store %s: %w", jobStates, explained(err))
	}
	q.keep, _ = time.ParseDuration(s.Metadata()[keepJobs]) // of a server that was set up before there was the setting: without limit
	return q, nil
}

// lease returns for how long a job is held without an extension.
func (q *Queue) lease() time.Duration { return q.consumer.CachedInfo().Config.AckWait }

// List returns the status of all jobs, in no particular order, and what is wrong with states that cannot be
// read.
func (q *Queue) List(ctx context.Context) (all []JobStatus, unreadable []string, err error) {
	return list[JobStatus](ctx, q.js, jobStates, "*")
}

// Get returns the status of a job.
func (q *Queue) Get(ctx context.Context, id string) (JobStatus, error) {
	s, _, err := q.get(ctx, id)
	return s, err
}

func (q *Queue) get(ctx context.Context, id string) (JobStatus, uint64, error) {
	s, revision, err := get[JobStatus](ctx, q.states, id)
	if err != nil {
		return s, 0, fmt.Errorf("job %s: %w", id, explained(err))
	}
	return s, revision, nil
}

// put replaces a status if nobody has replaced it since the revision, else the error is errReplaced. The server removes
// that of a job that has ended.
func (q *Queue) put(ctx context.Context, s *JobStatus, revision uint64) (uint64, error) {
	s.Updated = time.Now().UTC()
	s.Reason = shortened(s.Reason)
	options := []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(revision)}
	if s.State.Ended() && q.keep > 0 {
		options = append(options, jetstream.WithMsgTTL(q.keep))
	}
	ack, err := q.js.Publish(ctx, "$KV."+jobStates+"."+s.ID, encoded(s), options...)
	if err != nil {
		return 0, fmt.Errorf("job %s: %w", s.ID, explained(err))
	}
	return ack.Sequence, nil
}

// putHeld is put by the worker that holds the job. A revision that is not known here may be its own:
// the answer to a write can be lost.
func (q *Queue) putHeld(ctx context.Context, s *JobStatus, revision uint64) (uint64, error) {
	next, err := q.put(ctx, s, revision)
	if !errors.Is(err, errReplaced) {
		return next, err
	}
	now, revision, e := q.get(ctx, s.ID)
	if e != nil {
		return 0, e
	}
	if now.State != Running || now.Worker != s.Worker || now.Tries != s.Tries {
		return 0, err
	}
	return q.put(ctx, s, revision)
}

// Submit queues a job that was never submitted, and returns its status. A known job stays
// as it is, but for one that has failed or was cancelled and is submitted again.
func (q *Queue) Submit(ctx context.Context, j Job, again bool) (JobStatus, error) {
	s := JobStatus{Job: j, State: Queued, Submitted: time.Now().UTC()}
	s.Updated = s.Submitted
	_, err := q.states.Create(ctx, j.ID, encoded(&s))
	if errors.Is(err, jetstream.ErrKeyExists) {
		var revision uint64
		if s, revision, err = q.get(ctx, j.ID); err != nil {
			return s, err
		}
		if again && (s.State == Failed || s.State == Cancelled) {
			s.State, s.Tries = Queued, 0
			_, err = q.put(ctx, &s, revision)
		}
	}
	if err != nil {
		return s, fmt.Errorf("job %s: %w", j.ID, explained(err))
	}
	if s.State.Ended() {
		return s, nil
	}
	if _, err := q.enqueue(ctx, j.ID); err != nil {
		return s, fmt.Errorf("%w; submit it again", err)
	}
	return s, nil
}

// enqueue publishes the message of a job, unless the work queue has it, and reports whether it had none.
func (q *Queue) enqueue(ctx context.Context, id string) (added bool, err error) {
	_, err = q.js.Publish(ctx, jobPrefix+id, nil)
	var api *jetstream.APIError
	if errors.As(err, &api) && api.ErrorCode == errCodeStreamStore && api.Description == onePerSubject {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("job %s is not queued: %w", id, explained(err))
	}
	return true, nil
}

// Restore publishes the messages of jobs that have not ended and have none, and returns their IDs: a submission that was interrupted
// leaves a state without a message, and servers whose disks were full lose messages that they had acknowledged.
func (q *Queue) Restore(ctx context.Context) (ids []string, err error) {
	all, _, err := q.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.State.Ended() {
			continue
		}
		added, err := q.enqueue(ctx, s.ID)
		if err != nil {
			return ids, err
		}
		if added {
			ids = append(ids, s.ID)
		}
	}
	return ids, nil
}

// What the server answers to a second message of a subject.
const (
	errCodeStreamStore = 10077
	onePerSubject      = "maximum messages per subject exceeded"
)

// Cancel ends a job that has not ended. Its worker, if any, stops when it extends its lease.
func (q *Queue) Cancel(ctx context.Context, id string) (JobStatus, error) {
	for {
		s, revision, err := q.get(ctx, id)
		if err != nil || s.State.Ended() {
			return s, err
		}
		s.State, s.Reason = Cancelled, "cancelled"
		_, err = q.put(ctx, &s, revision)
		if errors.Is(err, errReplaced) {
			continue // its worker reported progress meanwhile
		}
		if err != nil {
			return s, err
		}
		if err := q.stream.Purge(ctx, jetstream.WithPurgeSubject(jobPrefix+id)); err != nil {
			return s, fmt.Errorf("job %s is cancelled, its message stays in the queue: %w", id, explained(err))
		}
		return s, nil
	}
}
