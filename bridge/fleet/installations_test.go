package fleet

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
)

var operatorKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))

func installer(t *testing.T, ns *server.Server) *Installer {
	t.Helper()
	in, err := OpenInstaller(t.Context(), connect(t, ns), operatorKey)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// registered stores a model of a vehicle, made from a seed, as a worker does.
func registered(t *testing.T, m *Models, vehicle string, seed uint64) Model {
	t.Helper()
	made := artificial.New(artificial.Size{K: 2, P: 1, Features: 4, Points: 4, Horizon: 1}, seed)
	b, err := made.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if made, err = model.Decode(b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.dgm")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	j := NewJob(vehicle, []string{made.ID}, "", "v1")
	e, err := m.Put(t.Context(), Model{ID: made.ID, Job: j, Trained: time.Unix(int64(seed), 0).UTC()}, path)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// read returns what a vehicle reads: the model and its statement, zero values where there is none.
func read(t *testing.T, in *Installer, object string) (id string, s model.Statement) {
	t.Helper()
	b, err := in.files.GetBytes(t.Context(), object)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return "", s
	}
	if err != nil {
		t.Fatal(err)
	}
	m, s, err := model.DecodeSigned(b, operatorKey.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	return m.ID, s
}

func TestPromoteAndRollback(t *testing.T) {
	ns := serve(t, Settings{})
	in := installer(t, ns)
	a, b := registered(t, in.Models, "drone-1", 1), registered(t, in.Models, "drone-1", 2)
	if _, err := in.Rollback(t.Context(), "drone-1", ""); err == nil {
		t.Error("went back to nothing")
	}
	last := uint64(0)
	for _, step := range []struct {
		do   func() (Installation, error)
		want string
	}{
		{func() (Installation, error) { return in.Promote(t.Context(), "drone-1", a.Ref(), "first") }, a.ID},
		{func() (Installation, error) { return in.Promote(t.Context(), "drone-1", b.Ref(), "second") }, b.ID},
		{func() (Installation, error) { return in.Rollback(t.Context(), "drone-1", "back") }, a.ID},
		{func() (Installation, error) { return in.Rollback(t.Context(), "drone-1", "forth") }, b.ID},
	} {
		i, err := step.do()
		if err != nil || i.Flown.Model != step.want {
			t.Fatalf("%+v, %v", i, err)
		}
		id, s := read(t, in, FlownObject("drone-1"))
		if id != step.want || s.Vehicle != "drone-1" || s.Sequence <= last || s.Sequence != i.Flown.Sequence {
			t.Errorf("%s, %+v after %d", id, s, last)
		}
		last = s.Sequence
	}
	// What was decided already is not delivered again.
	if _, err := in.Promote(t.Context(), "drone-1", b.Ref(), "again"); err != nil {
		t.Fatal(err)
	}
	if _, s := read(t, in, FlownObject("drone-1")); s.Sequence != last {
		t.Errorf("statement %d, expected %d", s.Sequence, last)
	}
	// The model of one vehicle is signed for each that uses it.
	if _, err := in.Promote(t.Context(), "drone-2", a.Ref(), "too"); err != nil {
		t.Fatal(err)
	}
	if id, s := read(t, in, FlownObject("drone-2")); id != a.ID || s.Vehicle != "drone-2" {
		t.Errorf("%s, %+v", id, s)
	}
}

func TestShadowObject(t *testing.T) {
	in := installer(t, serve(t, Settings{}))
	a, b := registered(t, in.Models, "drone-1", 1), registered(t, in.Models, "drone-1", 2)
	if _, err := in.Promote(t.Context(), "drone-1", a.Ref(), ""); err != nil {
		t.Fatal(err)
	}
	r := b.Ref()
	if _, err := in.Shadow(t.Context(), "drone-1", &r); err != nil {
		t.Fatal(err)
	}
	_, flown := read(t, in, FlownObject("drone-1"))
	if id, s := read(t, in, ShadowObject("drone-1")); id != b.ID || s.Sequence <= flown.Sequence {
		t.Errorf("%s, %+v", id, s)
	}
	if _, err := in.Promote(t.Context(), "drone-1", b.Ref(), ""); err != nil {
		t.Fatal(err)
	}
	if id, _ := read(t, in, ShadowObject("drone-1")); id != "" {
		t.Errorf("the shadow %s stays", id)
	}
}

func TestPinsTagsAndGroups(t *testing.T) {
	in := installer(t, serve(t, Settings{}))
	a, b := registered(t, in.Models, "drone-1", 1), registered(t, in.Models, "drone-1", 2)
	for name, want := range map[string]string{Newest: b.ID, a.ID: a.ID, a.ID[:8]: a.ID} {
		if m, err := in.Find(t.Context(), "drone-1", name); err != nil || m.ID != want {
			t.Errorf("%s: %s, %v", name, m.ID, err)
		}
	}
	for _, name := range []string{"", "stable", "zzzz", a.ID[:1], "a b"} {
		if m, err := in.Find(t.Context(), "drone-1", name); err == nil {
			t.Errorf("%q is %s", name, m.ID)
		}
	}
	if err := in.Tag(t.Context(), "stable", &a); err != nil {
		t.Fatal(err)
	}
	if i, err := in.Pin(t.Context(), "drone-1", "stable"); err != nil || i.Flown.Model != a.ID {
		t.Fatalf("%+v, %v", i, err)
	}
	if _, err := in.Promote(t.Context(), "drone-1", b.Ref(), ""); err == nil || !strings.Contains(err.Error(), "pinned to stable") {
		t.Errorf("%v", err)
	}
	if i, err := in.Pin(t.Context(), "drone-1", ""); err != nil || i.Flown.Model != a.ID || i.Pin != "" {
		t.Errorf("%+v, %v", i, err)
	}
	if err := in.SetGroup(t.Context(), Group{Name: "g", Vehicles: []string{"drone-1", "drone-2"}}); err != nil {
		t.Fatal(err)
	}
	if g, err := in.Group(t.Context(), "g"); err != nil || len(g.Vehicles) != 2 {
		t.Errorf("%+v, %v", g, err)
	}
	if _, err := in.Group(t.Context(), "drone-3"); err == nil || !strings.Contains(err.Error(), "groups are g;") {
		t.Errorf("neither a group nor a vehicle: %v", err)
	}
	registered(t, in.Models, "drone-3", 9)
	if g, err := in.Group(t.Context(), "drone-2"); err != nil || len(g.Vehicles) != 1 {
		t.Errorf("a vehicle of a group: %+v, %v", g, err)
	}
	if g, err := in.Group(t.Context(), "drone-3"); err != nil || len(g.Vehicles) != 1 || g.Vehicles[0] != "drone-3" {
		t.Errorf("%+v, %v", g, err)
	}
	for _, g := range []Group{{Name: "g"}, {Name: "g h", Vehicles: []string{"a"}}, {Name: "g", Vehicles: []string{"a", "a"}}, {Name: "g", Vehicles: []string{"a.b"}}} {
		if err := in.SetGroup(t.Context(), g); err == nil {
			t.Errorf("%+v is accepted", g)
		}
	}
}

// A file that was changed on the server is not signed.
func TestAChangedModelIsNotSigned(t *testing.T) {
	in := installer(t, serve(t, Settings{}))
	a, b := registered(t, in.Models, "drone-1", 1), registered(t, in.Models, "drone-1", 2)
	other, err := in.Models.Fetch(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := putObject(t.Context(), in.Models.js, modelObjects, a.Job.ID+"/"+a.ID, "", bytes.NewReader(other)); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Promote(t.Context(), "drone-1", a.Ref(), ""); err == nil || !strings.Contains(err.Error(), "changed on the server") {
		t.Errorf("%v", err)
	}
	if id, _ := read(t, in, FlownObject("drone-1")); id != "" {
		t.Errorf("%s is delivered", id)
	}
	// Nor is one whose entry in the index was changed as well, after it was decided on.
	e := a
	e.Digest = b.Digest
	if _, err := in.Models.index.Put(t.Context(), a.Job.key(), encoded(&e)); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Deliver(t.Context(), "drone-1"); err == nil || !strings.Contains(err.Error(), "after it was decided on") {
		t.Errorf("%v", err)
	}
}

// What several operators decide at a time is what is delivered at the end.
func TestOperatorsAtATime(t *testing.T) {
	ns := serve(t, Settings{})
	in := installer(t, ns)
	a, b := registered(t, in.Models, "drone-1", 1), registered(t, in.Models, "drone-1", 2)
	var all sync.WaitGroup
	for n := range 4 {
		own := installer(t, ns)
		all.Go(func() {
			for range 5 {
				if _, err := own.Promote(t.Context(), "drone-1", []Model{a, b}[n%2].Ref(), ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	i, err := in.Get(t.Context(), "drone-1")
	if err != nil {
		t.Fatal(err)
	}
	if id, s := read(t, in, FlownObject("drone-1")); id != i.Flown.Model || s.Sequence != i.Flown.Sequence {
		t.Errorf("%s with %d, decided %+v", id, s.Sequence, i.Flown)
	}
}
