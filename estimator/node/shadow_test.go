package node

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// A shadow from the bucket is compared and not published, and ends with its object or with a swap.
func TestAShadowFromTheBucket(t *testing.T) {
	url := start(t, &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir()}).ClientURL()
	client := connect(t, url, nil)
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32))
	a, b := pendulum(), otherPendulum(2)
	clock := &stepping{}
	n, _ := run(t, connect(t, url, nil), Config{Accept: model.Acceptance{Key: key.Public().(ed25519.PublicKey)}, Clock: clock.read, RobotClock: true}, a)
	predictions, statuses := listen(t, client, wire.AllPredictions), listen(t, client, wire.AllStatuses)
	_, bucket := modelBucket(t, client)
	watchBucket(t, n, connect(t, url, nil))
	put := func(name string, file []byte) {
		t.Helper()
		if _, err := bucket.PutBytes(name, file); err != nil {
			t.Fatal(err)
		}
	}
	put("v1.shadow.dgm", signedFile(t, b, nil))
	statuses.status("the refusal", func(s *wire.Status) bool { return strings.Contains(s.Refused, "not signed") && s.Shadow() == nil })
	put("v1.shadow.dgm", signedFile(t, b, key))
	statuses.status("the shadow", func(s *wire.Status) bool { return s.Shadow() != nil && s.Shadow().Model == b.ID })

	seq := uint64(0)
	for n.models.shadow.Load() != nil {
		seq++
		at := float64(seq) * 0.05
		s := wire.State{Seq: seq, T: int64(seq) * 10e6, X: []float64{0.1 * math.Sin(at), 0.1 * math.Cos(at)}, U: []float64{0.3}}
		if err := client.Publish(wire.StateSubject("v1"), s.Append(nil)); err != nil {
			t.Fatal(err)
		}
		if p := predictions.prediction(); p.Model != a.ID {
			t.Fatalf("model %s is published", p.Model)
		}
		var r wire.LoadedModel
		if n.models.shadow.Load().shadow.Report(&r); r.Windows >= 3 {
			break
		}
	}
	s := statuses.status("windows", func(s *wire.Status) bool { return s.Shadow() != nil && s.Shadow().Windows >= 3 })
	if sh := s.Shadow(); len(sh.CRPS) != len(sh.Buckets)*2 || s.Model != a.ID || s.Models[0].Role != wire.RoleFlown || s.Models[0].Model != a.ID || s.Models[0].Since == 0 {
		t.Errorf("%+v", s.Models)
	}
	if err := n.Swap(otherPendulum(3)); err != nil {
		t.Fatal(err)
	}
	statuses.status("a new comparison", func(s *wire.Status) bool { return s.Shadow() != nil && s.Shadow().Windows == 0 })
	if err := bucket.Delete("v1.shadow.dgm"); err != nil {
		t.Fatal(err)
	}
	statuses.status("no shadow", func(s *wire.Status) bool { return s.Shadow() == nil })
}

// A model waits for the vehicle's permission; going back needs none.
func TestSwapsNeedPermission(t *testing.T) {
	url := start(t, &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir()}).ClientURL()
	client := connect(t, url, nil)
	a, b, c := pendulum(), otherPendulum(2), otherPendulum(3)
	n, _ := run(t, connect(t, url, nil), Config{SwapPermission: true}, a)
	statuses := listen(t, client, wire.AllStatuses)
	_, bucket := modelBucket(t, client)
	watchBucket(t, n, connect(t, url, nil))
	put := func(m *model.Model) {
		t.Helper()
		if _, err := bucket.Put(&nats.ObjectMeta{Name: "v1.dgm", Headers: nats.Header{wire.ModelHeader: {m.ID}}}, bytes.NewReader(signedFile(t, m, nil))); err != nil {
			t.Fatal(err)
		}
	}
	permit := func(yes bool) {
		t.Helper()
		p := wire.SwapPermission{Permitted: yes}
		if err := client.Publish(wire.SwapSubject("v1"), p.Append(nil)); err != nil {
			t.Fatal(err)
		}
	}
	put(b)
	statuses.status("b waits", func(s *wire.Status) bool { return strings.Contains(s.Refused, b.ID+" waits") && s.Model == a.ID })
	permit(true)
	statuses.status("b is used", func(s *wire.Status) bool { return s.Model == b.ID && s.Refused == "" })
	permit(false)
	eventually(t, "the permission has ended", func() bool { return n.models.permission.until.Load() == 0 })
	if _, err := n.Offer(signedFile(t, c, nil)); !errors.Is(err, errHeld) || n.Model() != b.ID {
		t.Errorf("%v, model %s", err, n.Model())
	}
	put(a)
	statuses.status("back without permission", func(s *wire.Status) bool { return s.Model == a.ID })
}

// How long a model is in use does not jump with the clock.
func TestSinceDoesNotJump(t *testing.T) {
	unix, steady := int64(1e9), int64(5e9)
	n, err := New(Config{Vehicle: "v1", Clock: func() (int64, int64) { return unix, steady }}, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	unix, steady = 1.7e18, steady+3e9
	if s := n.compose(0); s.T != unix || s.T-s.Models[0].Since != 3e9 {
		t.Errorf("%d ns in use at %d", s.T-s.Models[0].Since, s.T)
	}
}
