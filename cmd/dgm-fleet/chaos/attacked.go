package chaos

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/estimator/node/stored"
)

// Server is one on which each role has an account, with two robots at least.
type Server struct {
	Robots  []string
	Connect func(role string) (*nats.Conn, error)
	Close   func()
}

// attacked is a fleet in which a credential, a clock, a log or a robot is in wrong hands: of two robots the first is the attacker's.
type attacked struct {
	Server
	o        Options
	dir      string
	key      ed25519.PrivateKey
	operator *nats.Conn
	in       *fleet.Installer
	logs     *fleet.Logs
	queue    *fleet.Queue
	closers  []func()
}

// attack runs a scenario on a server with accounts.
func attack(ctx context.Context, o Options, s scenario) (r Outcome, err error) {
	r.Scenario = s.name
	o.Log("scenario " + s.name)
	a := &attacked{o: o}
	defer func() {
		for _, end := range slices.Backward(a.closers) {
			end()
		}
	}()
	if err := a.begin(ctx); err != nil {
		return r, fmt.Errorf("starting: %w", err)
	}
	return r, s.attack(ctx, a, &r)
}

func (a *attacked) begin(ctx context.Context) (err error) {
	if a.dir, err = os.MkdirTemp("", "dgm-chaos-"); err != nil {
		return err
	}
	a.closers = append(a.closers, func() { os.RemoveAll(a.dir) })
	if a.Server, err = a.o.Accounts(ctx); err != nil {
		return err
	}
	a.closers = append(a.closers, a.Server.Close)
	if a.operator, err = a.as(fleet.RoleOperator); err != nil {
		return err
	}
	if _, a.key, err = ed25519.GenerateKey(nil); err != nil {
		return err
	}
	var e2, e3 error
	a.in, err = fleet.OpenInstaller(ctx, a.operator, a.key)
	a.logs, e2 = fleet.OpenLogs(ctx, a.operator)
	a.queue, e3 = fleet.OpenQueue(ctx, a.operator)
	return errors.Join(err, e2, e3)
}

// as connects with the credential of a role.
func (a *attacked) as(role string) (*nats.Conn, error) {
	nc, err := a.Connect(role)
	if err == nil {
		a.closers = append(a.closers, nc.Close)
	}
	return nc, err
}

// registered registers a made-up model of a vehicle, as trained at a time, with the connection of a role.
func (a *attacked) registered(ctx context.Context, nc *nats.Conn, vehicle string, seed uint64, trained time.Time) (m fleet.Model, err error) {
	id, b, err := made(seed)
	if err != nil {
		return m, err
	}
	path := filepath.Join(a.dir, fmt.Sprintf("%d.dgm", seed))
	if err = os.WriteFile(path, b, 0o666); err != nil {
		return m, err
	}
	models, err := fleet.OpenModels(ctx, nc)
	if err != nil {
		return m, err
	}
	return models.Put(ctx, fleet.Model{ID: id, Job: fleet.NewJob(vehicle, []string{id}, "", "chaos"), Trained: trained}, path)
}

// uploaded uploads a log of a robot with its own credential.
func (a *attacked) uploaded(ctx context.Context, vehicle string, seed int) (l fleet.Log, err error) {
	part := part{Kind: "robot", Name: vehicle, Dir: a.dir}
	path := filepath.Join(a.dir, fmt.Sprintf("%s-%d.msgpack", vehicle, seed))
	if err = part.record(path); err != nil {
		return l, err
	}
	nc, err := a.as(fleet.RobotRole(vehicle))
	if err != nil {
		return l, err
	}
	own, err := fleet.Uploads(nc)
	if err == nil {
		l, _, err = own.Upload(ctx, path, nil)
	}
	return l, err
}

// held is what a robot has in the fleet.
type held struct {
	log   fleet.Log
	model fleet.Model
	bytes []byte
}

// installed uploads a log of the second robot and lets it use a model.
func (a *attacked) installed(ctx context.Context) (h held, err error) {
	victim := a.Robots[1]
	if h.log, err = a.uploaded(ctx, victim, 1); err != nil {
		return h, err
	}
	if h.model, err = a.registered(ctx, a.operator, victim, 1, time.Now()); err != nil {
		return h, err
	}
	if _, err = a.in.Promote(ctx, victim, h.model.Ref(), "first"); err != nil {
		return h, err
	}
	_, err = a.in.Deliver(ctx, victim)
	h.bytes, err = a.reads(ctx, victim, err)
	return h, err
}

// reads returns the model file that a robot reads with its own credential.
func (a *attacked) reads(ctx context.Context, vehicle string, before error) ([]byte, error) {
	if before != nil {
		return nil, before
	}
	nc, err := a.as(fleet.RobotRole(vehicle))
	if err != nil {
		return nil, err
	}
	objects := &stored.Objects{NC: nc, Bucket: fleet.OwnFlown(vehicle)}
	info, err := objects.Info(ctx, fleet.FlownObject(vehicle))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = objects.Copy(ctx, &b, info, 1<<20)
	return b.Bytes(), err
}

// unharmed returns what is not as it was.
func (a *attacked) unharmed(ctx context.Context, h held) error {
	victim := a.Robots[1]
	path, err := a.logs.Fetch(ctx, victim, h.log.ID, a.dir)
	if err != nil {
		return fmt.Errorf("the log of %s: %w", victim, err)
	}
	_ = os.Remove(path) // a temporary folder
	b, err := a.reads(ctx, victim, nil)
	if err != nil {
		return fmt.Errorf("the model of %s: %w", victim, err)
	}
	if !bytes.Equal(b, h.bytes) {
		return fmt.Errorf("%s reads another model than it was given", victim)
	}
	if i, err := a.in.Get(ctx, victim); err != nil || i.Flown == nil || i.Flown.Model != h.model.ID {
		return fmt.Errorf("the installation of %s is another one: %+v, %w", victim, i, err)
	}
	return nil
}
