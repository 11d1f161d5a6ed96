package main

import (
	"crypto/ed25519"
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

// A canary of a rule without a band gets a model whose intervals are far too narrow, and goes back.
func TestACanaryGoesBack(t *testing.T) {
	if testing.Short() {
		t.Skip("runs an estimator in real time")
	}
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
	rule := fleet.Rule{Windows: 4, Alpha: 0.9, Band: 0, CanaryFor: time.Hour, Longest: time.Hour}
	said := stamps{}
	err = rollOut(t.Context(), c, in, &operator{group: "p1", model: narrow.ID}, rule, &lines{w: said})
	if err == nil || !strings.Contains(err.Error(), "cover too little") {
		t.Fatal(err)
	}
	decided, err := in.Get(t.Context(), "p1")
	if err != nil || decided.Flown.Model != wide.ID {
		t.Fatalf("%+v, %v", decided, err)
	}
	for n.Model() != wide.ID {
		time.Sleep(10 * time.Millisecond)
	}
	r, err := in.Rollout(t.Context(), "p1")
	if err != nil || r.Stage != fleet.StageReturned {
		t.Errorf("%+v, %v", r, err)
	}
	t.Logf("back %v after it was given the model", time.Since(said[fleet.StageCanary]).Round(time.Millisecond))
}

// stamps are the times at which stages of a rollout were printed.
type stamps map[fleet.Stage]time.Time

func (s stamps) Write(b []byte) (int, error) {
	for _, stage := range []fleet.Stage{fleet.StageCanary, fleet.StageReturned} {
		if strings.Contains(string(b), ": "+string(stage)+": ") {
			s[stage] = time.Now()
		}
	}
	return len(b), nil
}
