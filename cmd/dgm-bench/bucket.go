package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/node"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// bucket is the usual rig with an object store that its estimator watches.
func (s *rig) bucket(cfg node.Config) (*node.Node, nats.ObjectStore) {
	s.serve(func(o *server.Options) { o.JetStream, o.StoreDir = true, s.path("jetstream") })
	n := s.estimate(s.url(), cfg)
	s.fly()
	js, err := s.link(s.url(), "operator").JetStream()
	s.must(err)
	b, err := js.CreateObjectStore(&nats.ObjectStoreConfig{Bucket: "models", Storage: nats.MemoryStorage})
	s.must(err)
	link := s.link(s.url(), "models")
	ctx, cancel := context.WithCancel(s.ctx)
	done := make(chan struct{})
	go func() { defer close(done); n.Watch(ctx, link, "models", "flight.dgm") }()
	s.later(func() error { cancel(); <-done; return nil })
	return n, b
}

// corruptModel: files that are cut, flipped, no model, and at last a good one are put into
// the bucket.
func corruptModel(s *rig) {
	n, b := s.bucket(node.Config{})
	good := smallModel(2)
	file, err := good.Encode()
	s.must(err)
	flipped := append([]byte(nil), file...)
	flipped[len(flipped)/2] ^= 1
	for _, bad := range [][]byte{file[:len(file)/2], flipped, []byte("no model"), {}} {
		_, err := b.PutBytes("flight.dgm", bad)
		s.must(err)
		s.refused(n, s.model.ID, "")
	}
	_, err = b.PutBytes("flight.dgm", file)
	s.must(err)
	s.await(func() bool { return s.planner.by(good.ID) > 0 }, func() error { return fmt.Errorf("the good model was not loaded") })
	s.pause(calm)
}

// refused waits for a refusal with a text, and then for as long as the model would need to come into use all the same: the one
// that is used must be the one with the ID.
func (s *rig) refused(n *node.Node, id, text string) {
	told := func() bool { r := s.statusOf(n).Refused; return r != "" && strings.Contains(r, text) }
	s.await(told, func() error { return fmt.Errorf("the status names no refusal: %q", s.statusOf(n).Refused) })
	s.pause(500 * time.Millisecond)
	status := s.statusOf(n)
	s.require(status.Model == id, "model %s is in use after a refusal, expected %s", status.Model, id)
}

// heavyModel: a valid model of 16 MB that needs 1.7 GB, and half a second for a prediction.
func heavyModel(s *rig) {
	n, b := s.bucket(node.Config{})
	heavy := artificial.New(artificial.Size{K: 2, P: 1, Features: 20, Basis: 1, Points: 10000, Horizon: 1, Core: []int{2500, 1400}}, 1)
	file, err := heavy.Encode()
	s.must(err)
	_, err = b.PutBytes("flight.dgm", file)
	s.must(err)
	s.await(func() bool { status := s.statusOf(n); return status.Refused != "" || status.Model == heavy.ID },
		func() error { return fmt.Errorf("the heavy model is neither used nor refused") })
	s.pause(calm)
	status := s.statusOf(n)
	s.require(status.Model == s.model.ID, "the heavy model is in use, of %d states %d are answered", status.Received, status.Published)
	s.require(strings.Contains(status.Refused, heavy.ID), "the status does not name the refused model: %q", status.Refused)
}

// downgrade: an earlier model, one of another vehicle, one without a statement, and a rollback
// that nobody signed, all else signed by the trusted key.
func downgrade(s *rig) {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	n, b := s.bucket(node.Config{Accept: model.Acceptance{Key: key.Public().(ed25519.PublicKey)}})
	put := func(m *model.Model, statement model.Statement) {
		file, err := m.Encode()
		s.must(err)
		file, err = model.Sign(file, key, statement)
		s.must(err)
		_, err = b.PutBytes("flight.dgm", file)
		s.must(err)
	}
	newest := smallModel(3)
	put(newest, model.Statement{Vehicle: vehicle, Sequence: 3})
	s.await(func() bool { return s.planner.by(newest.ID) > 0 }, func() error { return errors.New("the model was not loaded") })
	for _, statement := range []model.Statement{{Vehicle: vehicle, Sequence: 2}, {Vehicle: "another", Sequence: 4}, {}} {
		put(smallModel(2), statement)
		s.refused(n, newest.ID, "not for this use")
	}
	r, err := s.link(s.url(), "operator").Request(wire.ModelSubject(vehicle), (&wire.Command{Action: wire.Rollback}).Append(nil), patience)
	s.must(err)
	var o wire.Outcome
	s.must(o.Decode(r.Data))
	s.require(o.Error != "" && o.Model == newest.ID, "rolled back by a command that nobody signed: %+v", o)
	s.pause(calm)
}

// lyingBucket: the metadata of an object state a kilobyte, and it has 200 MB. It is refused where it is longer than that.
func lyingBucket(s *rig) {
	n, b := s.bucket(node.Config{})
	js, err := s.link(s.url(), "liar").JetStream()
	s.must(err)
	const content = 200 << 20
	info, err := b.PutBytes("other.dgm", make([]byte, content))
	s.must(err)
	info.Name, info.Size = "flight.dgm", 1000
	meta, err := json.Marshal(info)
	s.must(err)
	m := nats.NewMsg("$O.models.M." + base64.URLEncoding.EncodeToString([]byte(info.Name)))
	m.Header.Set(nats.MsgRollup, nats.MsgRollupSubject)
	m.Data = meta
	before := measureUsage()
	_, err = js.PublishMsg(m)
	s.must(err)
	s.await(func() bool { status := s.statusOf(n); return status.Refused != "" }, func() error { return errors.New("the object is not refused") })
	s.pause(calm)
	status, after := s.statusOf(n), measureUsage()
	s.require(status.Model == s.model.ID && strings.Contains(status.Refused, "changed while it was read"), "model %s is in use, refused %q", status.Model, status.Refused)
	s.require(after.heap < before.heap+64, "%.0f MB are held, %.0f before", after.heap, before.heap)
}
