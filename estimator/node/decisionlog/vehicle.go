package decisionlog

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// Vehicle is what a vehicle has seen of the log: how far it has read, and what was decided last about it.
type Vehicle struct {
	name string
	key  ed25519.PublicKey

	log     *Log
	content []byte // of the last installation that was decided for the vehicle; empty = none was
	kept    uint64 // number of the head that Encode has returned last
}

// NewVehicle returns a vehicle that has read nothing and trusts what the private key of a public one has signed.
func NewVehicle(name string, key ed25519.PublicKey) *Vehicle {
	return &Vehicle{name: name, key: key, log: New(key, Head{})}
}

// installation is the part of what is decided for a vehicle that it compares with what it is offered.
type installation struct {
	Flown  *installed `json:"flown"`
	Shadow *installed `json:"shadow"`
}

type installed struct {
	Model    string `json:"model"` // ID
	Sequence uint64 `json:"sequence"`
}

// ErrUndecided is that the log does not name a model for the vehicle.
var ErrUndecided = errors.New("the log of decisions does not name it")

// Check reads what was decided since the last time, and returns an error for the statement in a model's file that is not what was decided
// last for the vehicle: as the model to use, or as the shadow. A statement that follows from no decision is right for a vehicle that has
// never read a log.
func (v *Vehicle) Check(ctx context.Context, nc *nats.Conn, s *model.Statement, shadow bool) error {
	if len(s.Decision) == 0 {
		if v.log.Head().Number == 0 {
			return nil
		}
		return fmt.Errorf("model %.16s: %w: signed without a decision, for a vehicle that follows the log: use dgm-fleet promote", s.Model, ErrUndecided)
	}
	if err := v.log.Read(ctx, nc, v.take); err != nil {
		return fmt.Errorf("the log of decisions: %w", explained(err))
	}
	var last installation
	if len(v.content) > 0 {
		if err := json.Unmarshal(v.content, &last); err != nil {
			return fmt.Errorf("the log of decisions: the installation of %s: %w: decide it again", v.name, err)
		}
	}
	of := last.Flown
	if shadow {
		of = last.Shadow
	}
	switch {
	case of == nil:
		return fmt.Errorf("model %.16s, number %d: %w: it names none for %s", s.Model, s.Sequence, ErrUndecided, v.name)
	case of.Model != s.Model || of.Sequence != s.Sequence:
		return fmt.Errorf("model %.16s, number %d: %w: it names model %.16s, number %d, for %s", s.Model, s.Sequence, ErrUndecided, of.Model, of.Sequence, v.name)
	}
	return nil
}

// take notes what was decided for the vehicle.
func (v *Vehicle) take(d *Decision) {
	if d.Fault == nil && d.Purpose == model.ForInstallation && d.Vehicle == v.name {
		v.content = d.Content
	}
}

// explained adds the remedy to an error.
func explained(err error) error {
	if errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("%w: the server has none, or this vehicle may not read it: write its accounts anew by dgm-fleet setup --accounts", err)
	}
	return err
}

func fields(key *[]byte, name *string, h *Head, content *[]byte) []msgbin.Field {
	return []msgbin.Field{
		msgbin.Required("key", key), msgbin.Required("vehicle", name), msgbin.Required("number", &h.Number), msgbin.Required("hash", &h.Hash),
		msgbin.Required("message", &h.Message), msgbin.OmitZero("content", content).Limit(maxContent),
	}
}

// maxContent is the size of what is decided, bytes.
const maxContent = 512 << 10

// MaxFile is the size of what Encode returns, bytes.
const MaxFile = maxContent + 1<<10

// Encode returns what is to be kept over a restart, nil where that is what it has returned before.
func (v *Vehicle) Encode() []byte {
	h := v.log.Head()
	if h.Number == v.kept {
		return nil
	}
	v.kept = h.Number
	key := []byte(v.key)
	return msgbin.Append(nil, func(w *msgbin.Writer) { w.Fields(fields(&key, &v.name, &h, &v.content)) })
}

// Decode restores what was kept. What another vehicle or key has kept is left out: the log is read from its beginning.
func (v *Vehicle) Decode(b []byte) error {
	var (
		key, content []byte
		name         string
		h            Head
	)
	r := msgbin.NewReader(b)
	err := r.Fields(fields(&key, &name, &h, &content))
	if err == nil && (r.Left() > 0 || h.Number == 0) {
		err = fmt.Errorf("%d bytes after its end, %d decisions", r.Left(), h.Number)
	}
	if err != nil {
		return fmt.Errorf("what was read of the log of decisions: %w", err)
	}
	if !bytes.Equal(key, v.key) || name != v.name {
		return nil
	}
	v.log, v.content, v.kept = New(v.key, h), content, h.Number
	return nil
}
