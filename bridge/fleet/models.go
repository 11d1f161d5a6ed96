package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/stored"
)

// Model is the entry of one model in the registry: its file and its lineage.
type Model struct {
	ID      string    `json:"id"` // of the model, as in its file
	Job     Job       `json:"job"`
	Bytes   int64     `json:"bytes"`
	Digest  string    `json:"digest"`  // SHA-256 of the file, as object stores write it
	Version string    `json:"version"` // of the worker
	Worker  string    `json:"worker"`
	Trained time.Time `json:"trained"` // when it was entered, by the server's clock
	HeldOut HeldOut   `json:"held_out"`
	Units   []string  `json:"units,omitempty"` // K, of its states: those of one unit are a group of channels
}

// key returns where the result of a job is in the index.
func (j Job) key() string { return j.Vehicle + "." + j.ID }

func (m Model) check(key string) error {
	if m.Job.key() != key {
		return fmt.Errorf("it is the entry of %.160q", m.Job.key())
	}
	if len(m.ID) > mostID {
		return fmt.Errorf("%d characters are no ID of a model", len(m.ID))
	}
	return m.Job.check()
}

// mostID is the most characters of an ID; those of models have 16.
const mostID = 64

// HeldOut summarises the table of scores on data that was not trained on.
type HeldOut struct {
	Verdict string     `json:"verdict"` // the first line of the report
	Windows int        `json:"windows"` // 0 = nothing was held out
	LogLik  float64    `json:"log_lik"` // per scalar measurement
	Cover95 [2]float64 `json:"cover95"` // coverage of 95 % intervals, least and most over the horizon
	Partial string     `json:"partial,omitempty"`

	Table json.RawMessage `json:"table,omitempty"` // all of it, as in the report; a large one is in the model file only
}

// Ref names a model of the registry, and as a part of an [Installation] the statement that was signed for it.
type Ref struct {
	Model    string `json:"model"`              // ID
	Vehicle  string `json:"vehicle"`            // of the job that trained it
	Job      string `json:"job"`                // ID
	Digest   string `json:"digest,omitempty"`   // of the file that was decided on, as Model.Digest; "" = by an earlier version
	Sequence uint64 `json:"sequence,omitempty"` // of the statement
}

// Ref returns how a model is named.
func (m *Model) Ref() Ref {
	return Ref{Model: m.ID, Vehicle: m.Job.Vehicle, Job: m.Job.ID, Digest: m.Digest}
}

// same reports whether both name one model, or none.
func (r *Ref) same(o *Ref) bool {
	if r == nil || o == nil {
		return r == o
	}
	return r.Model == o.Model && r.Job == o.Job && (r.Digest == o.Digest || r.Digest == "" || o.Digest == "")
}

// is reports whether a model is named, of that ID.
func (r *Ref) is(id string) bool { return r != nil && r.Model == id }

// Models are the models of a fleet.
type Models struct {
	js      jetstream.JetStream
	objects *stored.Objects
	index   jetstream.KeyValue
}

// OpenModels opens the models of a fleet.
func OpenModels(ctx context.Context, nc *nats.Conn) (*Models, error) {
	js, err := jetStream(ctx, nc, "OBJ_"+modelObjects)
	if err != nil {
		return nil, err
	}
	m := &Models{js: js}
	if m.objects, err = objects(ctx, js, modelObjects); err != nil {
		return nil, err
	}
	m.index, err = bucket(ctx, js, modelIndex)
	return m, err
}

// List returns all models, in no particular order, and what is wrong with entries that cannot be read.
func (m *Models) List(ctx context.Context) (all []Model, unreadable []string, err error) {
	return list[Model](ctx, m.js, modelIndex, ">")
}

// Newest returns the newest model of a vehicle.
func (m *Models) Newest(ctx context.Context, vehicle string) (newest Model, err error) {
	all, _, err := m.List(ctx)
	if err != nil {
		return newest, err
	}
	if newest = newestOf(all, vehicle); newest.ID == "" {
		return newest, fmt.Errorf("%s has no model; dgm-fleet train queues a job for one", vehicle)
	}
	return newest, nil
}

// newestOf returns the newest model of a vehicle, the zero value where it has none.
func newestOf(all []Model, vehicle string) (newest Model) {
	for _, e := range all {
		if e.Job.Vehicle == vehicle && e.Trained.After(newest.Trained) {
			newest = e
		}
	}
	return newest
}

// Of returns the result of a job; ok is false where there is none.
func (m *Models) Of(ctx context.Context, j *Job) (model Model, ok bool, err error) {
	model, _, err = get[Model](ctx, m.index, j.key())
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return model, false, nil
	}
	return model, err == nil, explained(err)
}

// Put stores the file of a model as the result of its job. The first result of a job
// stays: it is returned in place of any later one.
func (m *Models) Put(ctx context.Context, e Model, path string) (Model, error) {
	if first, ok, err := m.Of(ctx, &e.Job); ok || err != nil {
		return first, err
	}
	f, err := os.Open(path)
	if err != nil {
		return e, err
	}
	defer f.Close()
	ctx, cancel := context.WithTimeout(ctx, partLimit)
	defer cancel()
	info, err := putObject(ctx, m.js, modelObjects, e.Job.ID+"/"+e.ID, "", f)
	if err != nil {
		return e, fmt.Errorf("storing model %s: %w", e.ID, explained(err))
	}
	e.Bytes, e.Digest = int64(info.Size), info.Digest
	_, err = m.index.Create(ctx, e.Job.key(), encoded(&e))
	if errors.Is(err, jetstream.ErrKeyExists) {
		first, _, err := m.Of(ctx, &e.Job)
		return first, err
	}
	if err != nil {
		return e, fmt.Errorf("entering model %s into the index: %w", e.ID, explained(err))
	}
	return e, nil
}

// Fetch returns the file of a model.
func (m *Models) Fetch(ctx context.Context, e Model) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, partLimit)
	defer cancel()
	var file bytes.Buffer
	info, err := m.objects.Info(ctx, e.Job.ID+"/"+e.ID)
	if err == nil {
		err = m.objects.Copy(ctx, &file, info, model.MaxFile)
	}
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", e.ID, explained(err))
	}
	return file.Bytes(), nil
}
