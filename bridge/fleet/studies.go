package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Rows are the result of a unit of a study.
type Rows struct {
	Job     Job       `json:"job"`
	Text    string    `json:"text"`    // JSON lines, as dgm-bench stores them
	Version string    `json:"version"` // of the worker
	Worker  string    `json:"worker"`
	Made    time.Time `json:"made"`
}

func (r Rows) check(key string) error {
	if r.Job.Study == nil || r.Job.ID != key {
		return fmt.Errorf("it is the result of job %.80q", r.Job.ID)
	}
	return r.Job.check()
}

// mostRows is the size of the rows of a unit: a message of a server has 1 MB by default.
const mostRows = 500_000

// Studies are the results of studies.
type Studies struct {
	js      jetstream.JetStream
	results jetstream.KeyValue
}

// OpenStudies opens the results of studies.
func OpenStudies(ctx context.Context, nc *nats.Conn) (*Studies, error) {
	js, err := jetStream(ctx, nc, "KV_"+studyRows)
	if err != nil {
		return nil, err
	}
	kv, err := bucket(ctx, js, studyRows)
	return &Studies{js, kv}, err
}

// List returns all results, in no particular order, and what is wrong with those that cannot be read.
func (s *Studies) List(ctx context.Context) (all []Rows, unreadable []string, err error) {
	return list[Rows](ctx, s.js, studyRows, "*")
}

// has reports whether a job has a result.
func (s *Studies) has(ctx context.Context, j *Job) (bool, error) {
	_, _, err := get[Rows](ctx, s.results, j.ID)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return false, nil
	}
	return err == nil, explained(err)
}

// put stores the rows in a file as the result of a job. The first result of a job stays.
func (s *Studies) put(ctx context.Context, r Rows, path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if len(b) == 0 || len(b) > mostRows {
		return fmt.Errorf("the rows of set %s, seed %d, have %d bytes, and must have 1 … %d", r.Job.Study.Set, r.Job.Study.Seed, len(b), mostRows)
	}
	r.Text = string(b)
	if _, err = s.results.Create(ctx, r.Job.ID, encoded(&r)); errors.Is(err, jetstream.ErrKeyExists) {
		return nil
	}
	return explained(err)
}
