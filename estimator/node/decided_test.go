package node

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/decisionlog"
)

// fleet is a server with a log of decisions and a bucket of models, and the operator who writes both.
type fleet struct {
	t      *testing.T
	nc     *nats.Conn
	js     nats.JetStreamContext
	bucket nats.ObjectStore
	signer
	messages [][]byte // of the log
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{t: t, signer: newSigner(t)}
	s := start(t, &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir()})
	f.nc = connect(t, s.ClientURL(), nil)
	f.js, f.bucket = modelBucket(t, f.nc)
	f.rewrite()
	return f
}

// rewrite makes the log anew, with these messages.
func (f *fleet) rewrite(messages ...[]byte) {
	f.t.Helper()
	_ = f.js.DeleteStream(decisionlog.Stream) // there may be none
	if _, err := f.js.AddStream(&nats.StreamConfig{Name: decisionlog.Stream, Subjects: []string{decisionlog.Prefix + ">"}, AllowDirect: true, Storage: nats.MemoryStorage}); err != nil {
		f.t.Fatal(err)
	}
	f.messages = nil
	for _, m := range messages {
		f.write("v1", m)
	}
}

// write adds a message about a vehicle to the log.
func (f *fleet) write(vehicle string, m []byte) {
	f.t.Helper()
	if _, err := f.js.Publish(decisionlog.Prefix+"installation."+vehicle, m); err != nil {
		f.t.Fatal(err)
	}
	f.messages = append(f.messages, m)
}

// decision returns the next decision of the log, about a vehicle: the model that it uses, and its shadow.
func (f *fleet) decision(vehicle string, m, shadow *model.Model, sequence uint64) []byte {
	s := model.Statement{Purpose: model.ForInstallation, Vehicle: vehicle, Model: m.ID, Sequence: sequence, Number: uint64(len(f.messages) + 1)}
	if n := len(f.messages); n > 0 {
		s.Decision = model.DecisionHash(f.messages[n-1])
	}
	s.Content = fmt.Appendf(nil, `{"vehicle":%q,"flown":{"model":%q,"sequence":%d}`, vehicle, m.ID, sequence)
	if shadow != nil {
		s.Content = fmt.Appendf(s.Content, `,"shadow":{"model":%q,"sequence":%d}`, shadow.ID, sequence+1)
	}
	s.Content = append(s.Content, '}')
	return model.SignDecision(s, f.key)
}

// put offers v1 a model that follows from a decision.
func (f *fleet) put(object string, m *model.Model, sequence uint64, decision []byte) {
	f.t.Helper()
	s := model.Statement{Vehicle: "v1", Sequence: sequence}
	if decision != nil {
		s.Decision = model.DecisionHash(decision)
	}
	if _, err := f.bucket.PutBytes(object, f.file(m, s)); err != nil {
		f.t.Fatal(err)
	}
}

// watched is an estimator of v1 that looks at the bucket when it is told to.
type watched struct {
	*fleet
	n *Node
	s *store
}

func (f *fleet) estimator(trustFile string, m *model.Model) *watched {
	f.t.Helper()
	accept := f.accept()
	accept.Vehicle = "v1"
	n, err := New(Config{Vehicle: "v1", Accept: accept, TrustFile: trustFile}, m)
	if err != nil {
		f.t.Fatal(err)
	}
	return &watched{f, n, newStore(f.nc, "models", "v1.dgm", 0)}
}

// uses looks at the bucket and compares the model in use, and a part of the reason why another one is refused; "" = none was.
func (w *watched) uses(what string, m *model.Model, refusal string) {
	w.t.Helper()
	w.n.models.refused.Store(nil)
	if err := w.s.poll(w.t.Context(), w.n); err != nil {
		w.t.Fatal(what, err)
	}
	got := ""
	if r := w.n.models.refused.Load(); r != nil {
		got = *r
	}
	if w.n.Model() != m.ID || (got == "") != (refusal == "") || !strings.Contains(got, refusal) {
		w.t.Errorf("%s: model %s, want %s; refused %q, want %q", what, w.n.Model(), m.ID, got, refusal)
	}
}

// A vehicle takes what was decided for it last, and nothing that the log does not name, though the operator has signed it.
func TestAVehicleReadsTheLog(t *testing.T) {
	f := newFleet(t)
	a, b, c := pendulum(), otherPendulum(2), otherPendulum(3)
	v := f.estimator(filepath.Join(t.TempDir(), "trust"), a)

	f.put("v1.dgm", b, 10, []byte("a decision that nobody has seen"))
	v.uses("of an empty log", a, "the log of decisions does not name it: it names none for v1")
	f.write("v2", f.decision("v2", b, nil, 10))
	v.uses("for another vehicle", a, "it names none for v1")
	f.write("v1", f.decision("v1", c, nil, 10))
	v.uses("of another model", a, "it names model "+c.ID[:16])
	stranger := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize))
	f.write("v1", model.SignDecision(model.Statement{Purpose: model.ForInstallation, Vehicle: "v1", Number: 3, Decision: model.DecisionHash(f.messages[1]), Content: []byte(`{"flown":{"model":"` + b.ID + `","sequence":10}}`)}, stranger))
	v.uses("by another key", a, "it names model "+c.ID[:16])
	f.write("v1", f.decision("v1", b, nil, 10))
	v.uses("decided", b, "")

	// The number is part of what was decided: an older file of the same model is none of it, nor is one without a decision.
	f.write("v1", f.decision("v1", c, nil, 20))
	f.put("v1.dgm", c, 15, f.messages[4])
	v.uses("with another number", b, "number 20, for v1")
	f.put("v1.dgm", c, 20, nil)
	v.uses("without a decision", b, "signed without a decision")
	f.put("v1.dgm", c, 20, f.messages[4])
	v.uses("with its number", c, "")
	f.write("v1", f.decision("v1", c, b, 20))
	f.put("v1.shadow.dgm", a, 21, f.messages[5])
	if v.uses("another shadow", c, ""); v.n.models.shadow.Load() != nil {
		t.Error("a shadow that was not decided is tried")
	}
	f.put("v1.shadow.dgm", b, 21, f.messages[5])
	if v.uses("the shadow", c, ""); v.n.models.shadow.Load() == nil {
		t.Error("the shadow that was decided is not tried")
	}
}

// A log that was rewritten since the vehicle has looked at it is refused and named, also after a restart; restored, it is followed.
func TestAVehicleNoticesAnotherLog(t *testing.T) {
	f := newFleet(t)
	trust := filepath.Join(t.TempDir(), "trust")
	a, b, c := pendulum(), otherPendulum(2), otherPendulum(3)
	v := f.estimator(trust, a)
	f.write("v1", f.decision("v1", a, nil, 5))
	f.write("v1", f.decision("v1", b, nil, 10))
	f.put("v1.dgm", b, 10, f.messages[1])
	v.uses("decided", b, "")
	was := f.messages

	for _, log := range []struct {
		name, refusal string
		make          func()
	}{
		{"forked", "decision 2: it is not the one that was read before", func() {
			f.rewrite(was[0])
			f.write("v1", f.decision("v1", a, nil, 10)) // the operator's key, in another history
			f.write("v1", f.decision("v1", c, nil, 30))
		}},
		{"shorter", "decision 2: it has lost its end", func() { f.rewrite(was[0]) }},
		{"empty", "decision 2: it has lost its end", func() { f.rewrite() }},
		{"without its first decision", "decision 2: it is not the one that was read before", func() {
			f.rewrite(was...)
			if err := f.js.SecureDeleteMsg(decisionlog.Stream, 2); err != nil {
				t.Fatal(err)
			}
			f.write("v1", f.decision("v1", c, nil, 30))
		}},
		{"none", "the server has none", func() {
			if err := f.js.DeleteStream(decisionlog.Stream); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		log.make()
		f.put("v1.dgm", c, 30, []byte(log.name))
		v.uses(log.name, b, log.refusal)
		v.uses(log.name+", after a restart", b, log.refusal)
		again := f.estimator(trust, b)
		again.uses(log.name+", by one that starts", b, log.refusal)
	}
	f.rewrite(was...)
	f.write("v1", f.decision("v1", c, nil, 30))
	f.put("v1.dgm", c, 30, f.messages[2])
	v.uses("restored", c, "")

	// One that starts reads on from where it was, and not from the beginning.
	again := f.estimator(trust, c)
	again.uses("after a restart", c, "")
	if err := os.WriteFile(decisionsFile(trust), []byte{0xc1}, 0o600); err != nil {
		t.Fatal(err)
	}
	f.estimator(trust, a).uses("what was kept is damaged", a, "remove "+decisionsFile(trust)+" to trust the log of decisions")
	if err := os.Remove(decisionsFile(trust)); err != nil {
		t.Fatal(err)
	}
	f.estimator(trust, a).uses("what was kept was removed", c, "")
}

// A log of which decisions are missing is refused by one that has never read it.
func TestANewVehicleNoticesAGap(t *testing.T) {
	f := newFleet(t)
	a, b := pendulum(), otherPendulum(2)
	f.write("v1", f.decision("v1", a, nil, 5))
	f.write("v1", f.decision("v1", b, nil, 10))
	f.put("v1.dgm", b, 10, f.messages[1])
	if err := f.js.SecureDeleteMsg(decisionlog.Stream, 1); err != nil {
		t.Fatal(err)
	}
	f.estimator("", a).uses("without its first decision", a, "decisions are missing")
}

// An object that cannot be used now is tried again when it has changed, and else after a while.
func TestAnUndecidedObjectIsTriedAgain(t *testing.T) {
	f := newFleet(t)
	a, b := pendulum(), otherPendulum(2)
	v := f.estimator("", a)
	v.s.retry = time.Hour
	f.write("v1", f.decision("v1", a, nil, 5))
	f.put("v1.dgm", b, 10, f.messages[0])
	v.uses("undecided", a, "does not name it")
	f.write("v1", f.decision("v1", b, nil, 11))
	v.uses("too early", a, "")
	f.put("v1.dgm", b, 11, f.messages[1])
	v.uses("changed", b, "")
}
