package fleet

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/decisionlog"
	"github.com/dgm-robotics/dgm/estimator/node/stored"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

var operatorPublic = operatorKey.Public().(ed25519.PublicKey)

// promoted returns an installer whose vehicle drone-1 was given one model after the other.
func promoted(t *testing.T) (in *Installer, nc *nats.Conn, a, b Model) {
	t.Helper()
	ns := serve(t, Settings{})
	in, nc = installer(t, ns), connect(t, ns)
	a, b = registered(t, in.Models, "drone-1", 1), registered(t, in.Models, "drone-1", 2)
	for _, m := range []Model{a, b} {
		if _, err := in.Promote(t.Context(), "drone-1", m.Ref(), "by the test"); err != nil {
			t.Fatal(err)
		}
	}
	return in, nc, a, b
}

// Who may write to the log, and has not the key that signs, decides nothing: neither with a statement of another key, nor with one of
// the operator that is repeated, moved to another vehicle, for another purpose or with another content.
func TestWhatIsNotSignedDecidesNothing(t *testing.T) {
	in, nc, _, b := promoted(t)
	first, err := stored.Last(t.Context(), nc, decisionStream, decisionPrefix+"installation.drone-1")
	if err != nil {
		t.Fatal(err)
	}
	thief := ed25519.NewKeyFromSeed(slices.Repeat([]byte{9}, ed25519.SeedSize))
	content := encoded(&Installation{Vehicle: "drone-1", Flown: &Ref{Model: "x"}})
	forged := model.SignDecision(model.Statement{Purpose: model.ForInstallation, Vehicle: "drone-1", Number: 3, Decision: model.DecisionHash(first.Data), Content: content}, thief)
	changed := slices.Clone(first.Data)
	changed[len(changed)/2] ^= 1
	tried := map[string][]byte{
		"dgm.decision.installation.drone-1": forged, "dgm.decision.installation.drone-2": first.Data, "dgm.decision.rollout.drone-1": first.Data, "dgm.decision.tag.x": []byte("x"),
		"dgm.decision.group.x": changed, "dgm.decision.x": nil,
	}
	for subject, data := range tried {
		if _, err := nc.Request(subject, data, 5*time.Second); err != nil {
			t.Fatal(subject, err)
		}
	}
	if _, err := nc.Request("dgm.decision.installation.drone-1", first.Data, 5*time.Second); err != nil { // again
		t.Fatal(err)
	}
	strange := []nats.Header{{"Status": {"404"}}, {"Status": {"204"}}, {"Nats-Sequence": {"x"}}, {"Nats-Sequence": {"4611686018427387904"}, "Nats-Subject": {"dgm.decision.tag.y"}}}
	for _, h := range strange { // headers as a server's
		if _, err := nc.RequestMsg(&nats.Msg{Subject: "dgm.decision.tag.x", Header: h}, 5*time.Second); err != nil {
			t.Fatal(h, err)
		}
	}
	for _, in := range []*Installer{in, installerOf(t, nc)} {
		if i, err := in.Get(t.Context(), "drone-1"); err != nil || !i.Flown.is(b.ID) {
			t.Errorf("%+v, %v", i, err)
		}
		if all, bad, err := in.List(t.Context()); len(all) != 1 || len(bad) > 0 || err != nil {
			t.Errorf("%+v, %v, %v", all, bad, err)
		}
		if all, _, err := in.Rollouts(t.Context()); len(all) > 0 || err != nil {
			t.Errorf("%+v, %v", all, err)
		}
	}
	l, err := ReadDecisions(t.Context(), nc, operatorPublic)
	if err != nil || len(l.Decisions) != 2 || len(l.Faults) != len(tried)+1+len(strange) {
		t.Errorf("%+v, %v", l, err)
	}
	// The operator goes on.
	if i, err := in.Rollback(t.Context(), "drone-1", "back"); err != nil || i.Flown.is(b.ID) {
		t.Errorf("%+v, %v", i, err)
	}
	if l, err := ReadDecisions(t.Context(), nc, operatorPublic); err != nil || len(l.Decisions) != 3 {
		t.Errorf("%+v, %v", l, err)
	}
}

func installerOf(t *testing.T, nc *nats.Conn) *Installer {
	t.Helper()
	in, err := OpenInstaller(t.Context(), nc, operatorKey)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// No message of the log can be removed. Who removes the whole stream, which its owner can, and writes an older one, is found by a
// running installer, by the head that an operator has kept, and by a vehicle that was shown the newer one.
func TestALogThatWasReplaced(t *testing.T) {
	in, nc, a, b := promoted(t)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), decisionStream)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.DeleteMsg(t.Context(), 2); err == nil {
		t.Error("a decision was removed")
	}
	if err := stream.Purge(t.Context()); err == nil {
		t.Error("all decisions were removed")
	}
	if c := stream.CachedInfo().Config; c.DenyDelete {
		c.DenyDelete = false
		if _, err := js.UpdateStream(t.Context(), c); err == nil {
			t.Error("that none can be removed was taken back")
		}
	}
	var messages [][]byte
	if err := stored.All(t.Context(), nc, decisionStream, ">", func(m *stored.Message) error {
		messages = append(messages, m.Data)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	_, s := read(t, in, FlownObject("drone-1"))
	shown := &Robot{Status: wire.Status{Vehicle: "drone-1", Model: b.ID, Models: []wire.LoadedModel{{Model: b.ID, Role: wire.RoleFlown, Sequence: s.Sequence, Decision: s.Decision}}}}
	l, err := ReadDecisions(t.Context(), nc, operatorPublic)
	if err != nil || len(l.Faults) > 0 {
		t.Fatal(l, err)
	}
	head := l.Head
	if err := errors.Join(l.Follows(head), l.Follows(""), l.Witness(shown), l.Witness(&Robot{})); err != nil {
		t.Error(err)
	}
	if err := js.DeleteStream(t.Context(), decisionStream); err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), decisionConfig()); err != nil {
		t.Fatal(err)
	}
	if _, err := nc.Request("dgm.decision.installation.drone-1", messages[0], 5*time.Second); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Promote(t.Context(), "drone-1", a.Ref(), "on the replaced one"); err == nil || !strings.Contains(err.Error(), "replaced") {
		t.Errorf("a running installer: %v", err)
	}
	if l, err = ReadDecisions(t.Context(), nc, operatorPublic); err != nil || len(l.Decisions) != 1 {
		t.Fatal(l, err)
	}
	if l.Follows(head) == nil {
		t.Error("the head that was kept is not missed")
	}
	if l.Witness(shown) == nil {
		t.Error("the decision that the vehicle was shown is not missed")
	}
}

// Who owns the stream can set a limit, by which the server removes the oldest decisions: then nothing is read, and nothing decided.
func TestALogThatHasLostItsBeginning(t *testing.T) {
	in, nc, a, _ := promoted(t)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	c := decisionConfig()
	c.Storage, c.Replicas, c.MaxMsgs, c.Discard = jetstream.FileStorage, 1, 1, jetstream.DiscardOld
	if _, err := js.UpdateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenInstaller(t.Context(), nc, operatorKey); !errors.Is(err, decisionlog.ErrGap) {
		t.Errorf("a new installer: %v", err)
	}
	if _, err := ReadDecisions(t.Context(), nc, operatorPublic); !errors.Is(err, decisionlog.ErrGap) {
		t.Errorf("who verifies: %v", err)
	}
	if _, err := in.Promote(t.Context(), "drone-1", a.Ref(), "by one that has read it"); err == nil {
		t.Error("one that has read all goes on")
	}
}

// A decision that has expired is not carried out anew, and keeps what it did.
func TestADecisionExpires(t *testing.T) {
	in, _, _, b := promoted(t)
	i, of, err := in.get(t.Context(), "drone-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := expired(&of); err != nil {
		t.Fatal(err)
	}
	of.Expires = time.Now().Add(-time.Hour).UnixNano()
	if err := in.deliver(t.Context(), in.files, &of, FlownObject("drone-1"), i.Flown); err != nil {
		t.Errorf("what is there already: %v", err)
	}
	if err := in.deliver(t.Context(), in.files, &of, FlownObject("drone-9"), i.Flown); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("anew: %v", err)
	}
	if id, s := read(t, in, FlownObject("drone-1")); id != b.ID || s.Expires < time.Now().UnixNano() || len(s.Decision) != 32 {
		t.Errorf("%s, %+v", id, s)
	}
}

// A revoked model goes, is installed by nothing any more, and vehicles are told with the next model.
func TestRevoke(t *testing.T) {
	in, nc, a, b := promoted(t)
	if _, err := in.Promote(t.Context(), "drone-2", b.Ref(), "its only one"); err != nil {
		t.Fatal(err)
	}
	if err := in.Tag(t.Context(), "bad", &b); err != nil {
		t.Fatal(err)
	}
	changed, err := in.Revoke(t.Context(), b.ID, "it stalls")
	if err == nil || !strings.Contains(err.Error(), "drone-2") || len(changed) != 1 || !changed[0].Flown.is(a.ID) {
		t.Errorf("%+v, %v", changed, err)
	}
	if id, s := read(t, in, FlownObject("drone-1")); id != a.ID || !slices.Equal(s.Revoked, []string{b.ID}) {
		t.Errorf("%s, %+v", id, s)
	}
	g := Group{Name: "g", Vehicles: []string{"drone-1"}}
	for name, do := range map[string]func() error{
		"promote":  func() error { _, err := in.Promote(t.Context(), "drone-1", b.Ref(), ""); return err },
		"rollback": func() error { _, err := in.Rollback(t.Context(), "drone-1", ""); return err },
		"pin":      func() error { _, err := in.Pin(t.Context(), "drone-1", "bad"); return err },
		"rollout":  func() error { _, err := in.Begin(t.Context(), g, b.Ref(), UsualRule()); return err },
		"shadow":   func() error { r := b.Ref(); _, err := in.Shadow(t.Context(), "drone-1", &r); return err },
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), "it stalls") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if i, err := in.Get(t.Context(), "drone-1"); err != nil || !i.Flown.is(a.ID) {
		t.Errorf("%+v, %v", i, err)
	}
	l, err := ReadDecisions(t.Context(), nc, operatorPublic)
	if err != nil || len(l.Faults) > 0 || !slices.ContainsFunc(l.Decisions, func(d Decision) bool { return d.Purpose == "revocation" && d.Name == b.ID && d.Model == b.ID }) {
		t.Errorf("%+v, %v", l, err)
	}
	if b, err := json.Marshal(l); err != nil || !strings.Contains(string(b), `"faults":[]`) {
		t.Errorf("%s, %v", b, err)
	}
}
