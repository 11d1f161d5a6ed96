package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/node"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// A canary that gets a model whose intervals are far too narrow goes back. The rollout begins at the stage canary: which of two made-up
// models is better as a shadow is not certain.
func TestACanaryGoesBack(t *testing.T) {
	if testing.Short() {
		t.Skip("runs an estimator in real time")
	}
	t.Parallel()
	s, err := serve(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	connect := func(name string) *nats.Conn {
		nc, err := node.Link{Name: name, InProcess: s}.Connect()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		return nc
	}
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	nc := connect("operator")
	if err := fleet.Setup(t.Context(), nc, fleet.Settings{}); err != nil {
		t.Fatal(err)
	}
	c, err := open(t.Context(), nc)
	if err != nil {
		t.Fatal(err)
	}
	in, err := fleet.OpenInstaller(t.Context(), nc, private)
	if err != nil {
		t.Fatal(err)
	}
	// register stores a model whose intervals are a factor wider.
	register := func(factor float64, log string) fleet.Model {
		t.Helper()
		m := artificial.New(artificial.Size{K: 2, P: 1, Features: 8, Points: 10, Horizon: 0.5}, 1)
		m.ScaleFactor, m.OODExponent = [][]float64{slices.Repeat([]float64{factor}, m.K*len(m.NoiseKnots))}, []float64{0.3}
		for k := range m.Sensor {
			m.Sensor[k] *= factor
		}
		b, err := m.Encode()
		if err == nil {
			m, err = model.Decode(b)
		}
		path := filepath.Join(t.TempDir(), "m.dgm")
		if err == nil {
			err = os.WriteFile(path, b, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		e, err := c.models.Put(t.Context(), fleet.Model{ID: m.ID, Job: fleet.NewJob("p1", []string{log}, "", "test"), Trained: time.Now()}, path)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	wide := register(100, "a")
	if _, err := in.Promote(t.Context(), "p1", wide.Ref(), "first"); err != nil {
		t.Fatal(err)
	}
	first, err := installed(t.Context(), c, in, "p1")
	if err != nil {
		t.Fatal(err)
	}
	n, err := node.New(node.Config{Vehicle: "p1", Accept: model.Acceptance{Key: public}, NoQueries: true, Log: func(l string) { t.Log(l) }}, first)
	if err != nil {
		t.Fatal(err)
	}
	own, models, states := connect("estimator"), connect("models"), connect("robot")
	go func() { _ = n.Run(t.Context(), own) }()
	go n.Watch(t.Context(), models, fleet.FlownObjects, fleet.FlownObject("p1"))
	go func() {
		for seq := uint64(1); t.Context().Err() == nil; seq++ {
			x := wire.State{Seq: seq, T: time.Now().UnixNano(), X: []float64{0.1, 0.1}, U: []float64{0.3}}
			_ = states.Publish(wire.StateSubject("p1"), x.Append(nil))
			time.Sleep(10 * time.Millisecond)
		}
	}()
	narrow := register(0.01, "b")
	r := fleet.Rollout{
		Group: "p1", Vehicles: []string{"p1"}, Model: narrow.Ref(), Rule: fleet.Rule{Windows: 4, Alpha: 0.9, CanaryFor: time.Hour, Longest: time.Hour},
		Stage: fleet.StageCanary, Begun: time.Now(), Since: time.Now(), Reason: "by the test",
	}
	was, err := fleet.ReadDecisions(t.Context(), nc, public)
	if err != nil {
		t.Fatal(err)
	}
	statement := model.Statement{Purpose: model.ForRollout, Fleet: r.Group, Number: uint64(len(was.Decisions) + 1)}
	if statement.Decision, err = hex.DecodeString(was.Head); err == nil {
		statement.Content, err = json.Marshal(&r)
	}
	if err == nil {
		_, err = nc.Request("dgm.decision.rollout."+r.Group, model.SignDecision(statement, private), 5*time.Second)
	}
	if err != nil {
		t.Fatal(err)
	}
	promised, cancel := context.WithTimeout(t.Context(), time.Minute) // within which a canary is back
	defer cancel()
	var out bytes.Buffer
	began := time.Now()
	err = rollOut(promised, c, in, &operator{group: r.Group, model: narrow.ID}, r.Rule, &lines{w: &out})
	if err == nil || !strings.Contains(err.Error(), "is too low") {
		t.Fatalf("%v: %s", err, out.String())
	}
	decided, err := in.Get(t.Context(), "p1")
	if err != nil || decided.Flown.Model != wide.ID {
		t.Fatalf("%+v, %v", decided, err)
	}
	for n.Model() != wide.ID {
		if promised.Err() != nil {
			t.Fatalf("the vehicle uses %s, decided was %s", n.Model(), wide.ID)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if r, err = in.Rollout(t.Context(), r.Group); err != nil || r.Stage != fleet.StageReturned {
		t.Errorf("%+v, %v", r, err)
	}
	t.Logf("back %v after the beginning", time.Since(began).Round(time.Millisecond))
}
