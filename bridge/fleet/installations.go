package fleet

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Installation is what the fleet has decided that one vehicle uses.
type Installation struct {
	Vehicle  string    `json:"vehicle"`
	Flown    *Ref      `json:"flown,omitempty"`  // nil = the fleet has installed nothing
	Before   *Ref      `json:"before,omitempty"` // what a rollback goes back to
	Shadow   *Ref      `json:"shadow,omitempty"` // predicts beside it and is not published
	Pin      string    `json:"pin,omitempty"`    // model ID or tag; a rollout leaves the vehicle out
	Sequence uint64    `json:"sequence"`         // of the last statement
	Changed  time.Time `json:"changed"`          // Flown
	Reason   string    `json:"reason"`           // of the last change
}

func (i Installation) check(key string) error {
	if i.Vehicle != key {
		return fmt.Errorf("it is the installation of %.80q", i.Vehicle)
	}
	return wire.CheckVehicle(i.Vehicle)
}

// fly makes another model the one to use, under a new statement.
func (i *Installation) fly(r Ref, reason string) {
	i.Shadow = nil
	if i.Flown.same(&r) {
		if time.Since(i.Changed) > validFor/2 { // what was signed for it ends some day
			i.Flown, i.Changed = i.signed(r), time.Now().UTC()
		}
		return
	}
	i.Before, i.Flown = i.Flown, i.signed(r)
	i.Changed, i.Reason = time.Now().UTC(), reason
}

// signed returns a model with the next sequence number: it grows over changes of clocks.
func (i *Installation) signed(r Ref) *Ref {
	i.Sequence = max(i.Sequence+1, uint64(max(time.Now().Unix(), 0)))
	r.Sequence = i.Sequence
	return &r
}

// Installer decides which vehicle uses which model, and signs models for vehicles.
type Installer struct {
	Models *Models

	key   ed25519.PrivateKey
	js    jetstream.JetStream
	files jetstream.ObjectStore // of vehicles without one of their own
	log   *decisions
}

// OpenInstaller opens the installations of a fleet, to decide with a private key.
func OpenInstaller(ctx context.Context, nc *nats.Conn, key ed25519.PrivateKey) (*Installer, error) {
	return openInstaller(ctx, nc, key, key.Public().(ed25519.PublicKey))
}

// OpenReader opens the installations of a fleet to be read. What the private key of a public one has not signed decides nothing; a nil
// key verifies no signatures.
func OpenReader(ctx context.Context, nc *nats.Conn, public ed25519.PublicKey) (*Installer, error) {
	return openInstaller(ctx, nc, nil, public)
}

func openInstaller(ctx context.Context, nc *nats.Conn, key ed25519.PrivateKey, public ed25519.PublicKey) (*Installer, error) {
	m, err := OpenModels(ctx, nc)
	if err != nil {
		return nil, err
	}
	js, err := jetStream(ctx, nc, "OBJ_"+FlownObjects)
	if err != nil {
		return nil, err
	}
	in := &Installer{Models: m, key: key, js: js, log: openDecisions(js, key, public)}
	if in.files, err = js.ObjectStore(ctx, FlownObjects); err != nil {
		return nil, fmt.Errorf("object store %s: %w", FlownObjects, explained(err))
	}
	return in, in.log.refresh(ctx)
}

// List returns all installations, in no particular order, and what is wrong with those that cannot be read.
func (in *Installer) List(ctx context.Context) (all []Installation, unreadable []string, err error) {
	return allDecided[Installation](ctx, in.log, model.ForInstallation)
}

// Get returns the installation of a vehicle, an empty one where the fleet has decided nothing.
func (in *Installer) Get(ctx context.Context, vehicle string) (Installation, error) {
	i, _, err := in.get(ctx, vehicle)
	return i, err
}

func (in *Installer) get(ctx context.Context, vehicle string) (Installation, decision, error) {
	i, of, err := decided[Installation](ctx, in.log, model.ForInstallation, vehicle)
	switch {
	case err != nil:
		return i, of, fmt.Errorf("installation of %s: %w", vehicle, err)
	case of.Number == 0:
		return Installation{Vehicle: vehicle}, of, wire.CheckVehicle(vehicle)
	}
	return i, of, nil
}

// change changes the installation of a vehicle, and delivers its models. Of two clients that change it at a
// time both changes are made, one after the other.
func (in *Installer) change(ctx context.Context, vehicle string, do func(i *Installation) error) (Installation, error) {
	for {
		i, of, err := in.get(ctx, vehicle)
		if err != nil {
			return i, err
		}
		was, before := i, string(encoded(&i))
		if err := do(&i); err != nil {
			return i, err
		}
		if of.Number > 0 && string(encoded(&i)) == before {
			return in.Deliver(ctx, vehicle)
		}
		for _, r := range [...][2]*Ref{{i.Flown, was.Flown}, {i.Shadow, was.Shadow}} {
			if !r[0].same(r[1]) {
				if err := in.notRevoked(ctx, r[0]); err != nil {
					return i, fmt.Errorf("%s: %w", vehicle, err)
				}
			}
		}
		s := model.Statement{Purpose: model.ForInstallation, Vehicle: vehicle, Sequence: i.Sequence}
		if i.Flown != nil {
			s.Model = i.Flown.Model
		}
		switch err := in.log.decide(ctx, s, &i, of.Number); {
		case errors.Is(err, errReplaced):
			continue
		case err != nil:
			return i, fmt.Errorf("installation of %s: %w", vehicle, err)
		}
		return in.Deliver(ctx, vehicle)
	}
}

// Promote makes a vehicle use a model, without a trial. A pin of the vehicle is an error.
func (in *Installer) Promote(ctx context.Context, vehicle string, r Ref, reason string) (Installation, error) {
	return in.change(ctx, vehicle, func(i *Installation) error {
		if i.Pin != "" {
			return fmt.Errorf("%s is pinned to %s: release it by dgm-fleet pin --none first", vehicle, i.Pin)
		}
		i.fly(r, reason)
		return nil
	})
}

// Rollback makes a vehicle use the model before the present one. A second Rollback undoes the first.
func (in *Installer) Rollback(ctx context.Context, vehicle, reason string) (Installation, error) {
	return in.change(ctx, vehicle, func(i *Installation) error {
		if i.Before == nil {
			return fmt.Errorf("%s has no model to go back to: the fleet has installed fewer than two", vehicle)
		}
		i.Pin = ""
		i.fly(*i.Before, reason)
		return nil
	})
}

// Pin makes a vehicle use a model, named by its ID or a tag, until it is pinned to nothing, "". A tag that is
// moved moves the vehicle.
func (in *Installer) Pin(ctx context.Context, vehicle, to string) (Installation, error) {
	var m Model
	if to != "" {
		var err error
		if m, err = in.Find(ctx, vehicle, to); err != nil {
			return Installation{}, err
		}
	}
	return in.change(ctx, vehicle, func(i *Installation) error {
		if i.Pin = to; to != "" {
			i.fly(m.Ref(), "pinned to "+to)
		}
		return nil
	})
}

// Shadow lets a vehicle try a model beside the one that it uses; nil ends a trial.
func (in *Installer) Shadow(ctx context.Context, vehicle string, r *Ref) (Installation, error) {
	return in.change(ctx, vehicle, func(i *Installation) error {
		if !i.Shadow.same(r) {
			if i.Shadow = r; r != nil {
				i.Shadow = i.signed(*r)
			}
		}
		return nil
	})
}

// Headers of the objects that vehicles read.
const (
	modelHeader    = wire.ModelHeader
	sequenceHeader = "Dgm-Sequence"
)

// ShadowObject returns the object of the bucket [FlownObjects] with the shadow of a vehicle.
func ShadowObject(vehicle string) string { return vehicle + ".shadow.dgm" }

// FlownObject returns the object with the model that the vehicle uses.
func FlownObject(vehicle string) string { return vehicle + ".dgm" }

// Deliver makes what a vehicle reads what was decided for it, and returns that. It does nothing where both are
// the same.
func (in *Installer) Deliver(ctx context.Context, vehicle string) (Installation, error) {
	for {
		i, of, err := in.get(ctx, vehicle)
		if err != nil {
			return i, err
		}
		files, err := in.of(ctx, vehicle)
		if err == nil {
			err = in.deliver(ctx, files, &of, ShadowObject(vehicle), i.Shadow)
		}
		if err == nil && i.Flown != nil {
			err = in.deliver(ctx, files, &of, FlownObject(vehicle), i.Flown)
		}
		if err != nil {
			return i, fmt.Errorf("%s: it is decided and not delivered: %w", vehicle, explained(err))
		}
		// What another client decided meanwhile may have been overwritten.
		if _, now, err := in.get(ctx, vehicle); err != nil || now.Number == of.Number {
			return i, err
		}
	}
}

// of returns the store that a vehicle reads: its own where Setup has made one, else the common one.
func (in *Installer) of(ctx context.Context, vehicle string) (jetstream.ObjectStore, error) {
	own, err := in.js.ObjectStore(ctx, OwnFlown(vehicle))
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return in.files, nil
	}
	return own, err
}

// deliver makes an object hold a model that was decided on, signed for the vehicle.
func (in *Installer) deliver(ctx context.Context, files jetstream.ObjectStore, of *decision, object string, r *Ref) error {
	info, err := files.GetInfo(ctx, object)
	switch {
	case errors.Is(err, jetstream.ErrObjectNotFound):
		if r == nil {
			return nil
		}
	case err != nil:
		return err
	case r == nil:
		return files.Delete(ctx, object)
	case info.Headers.Get(modelHeader) == r.Model && info.Headers.Get(sequenceHeader) == strconv.FormatUint(r.Sequence, 10):
		return nil
	}
	file, err := in.file(ctx, r)
	if err != nil {
		return err
	}
	if in.key == nil {
		return errors.New("there is no key to sign it with: give --sign, the operator's private key")
	}
	if err := expired(of); err != nil {
		return err
	}
	revocations, err := in.Revocations(ctx)
	if err != nil {
		return err
	}
	now := time.Now()
	file, err = model.Sign(file, in.key, model.Statement{
		Vehicle: of.Vehicle, Sequence: r.Sequence, Created: now.UnixNano(), Expires: now.Add(validFor).UnixNano(), Decision: of.Hash, Revoked: revoked(revocations),
	})
	if err != nil {
		return err
	}
	_, err = files.Put(ctx, jetstream.ObjectMeta{Name: object, Headers: nats.Header{
		modelHeader: {r.Model}, sequenceHeader: {strconv.FormatUint(r.Sequence, 10)},
	}}, bytes.NewReader(file))
	return err
}

// file returns the file of a model, if it is what its worker has stored, and what was decided on: an ID has 64 bits, so that who trains
// models can make two of one ID, and the index is written by workers.
func (in *Installer) file(ctx context.Context, r *Ref) ([]byte, error) {
	e, _, err := get[Model](ctx, in.Models.index, r.Vehicle+"."+r.Job)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", r.Model, err)
	}
	file, err := in.Models.Fetch(ctx, e)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(file)
	if got := digest(hex.EncodeToString(sum[:])); got != e.Digest || r.Digest != "" && got != r.Digest {
		return nil, fmt.Errorf("model %s: its file was changed on the server after it was decided on: train it again", r.Model)
	}
	m, err := model.Decode(file)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", r.Model, err)
	}
	if m.ID != r.Model || e.ID != r.Model {
		return nil, fmt.Errorf("model %s: its file holds %s", r.Model, m.ID)
	}
	return file, nil
}
