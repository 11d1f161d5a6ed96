package node

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// signer signs for tests.
type signer struct {
	t   *testing.T
	key ed25519.PrivateKey
}

func newSigner(t *testing.T) signer {
	return signer{t, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32))}
}

func (s signer) accept() model.Acceptance {
	return model.Acceptance{Key: s.key.Public().(ed25519.PublicKey)}
}

func (s signer) file(m *model.Model, statement model.Statement) []byte {
	s.t.Helper()
	b, err := m.Encode()
	if err == nil {
		b, err = model.Sign(b, s.key, statement)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

func (s signer) rollback(statement model.Statement) []byte {
	c := wire.Command{Action: wire.Rollback}
	c.Statement, c.Signature = model.SignRollback(statement, s.key)
	return c.Append(nil)
}

func TestSignedModelsAreForThisVehicleAndInOrder(t *testing.T) {
	s := newSigner(t)
	accept := s.accept()
	accept.Fleet, accept.Least = "red", 5
	n, err := New(Config{Vehicle: "v1", Accept: accept}, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		seed      uint64
		statement model.Statement
		accepted  bool
	}{
		{"of another vehicle", 2, model.Statement{Vehicle: "v2", Sequence: 9}, false},
		{"of another fleet", 2, model.Statement{Fleet: "blue", Sequence: 9}, false},
		{"for nobody", 2, model.Statement{Sequence: 9}, false},
		{"without a statement", 2, model.Statement{}, false},
		{"less than the least", 2, model.Statement{Vehicle: "v1", Sequence: 4}, false},
		{"for the vehicle", 2, model.Statement{Vehicle: "v1", Sequence: 5}, true},
		{"for the fleet", 3, model.Statement{Fleet: "red", Sequence: 8}, true},
		{"an earlier one", 2, model.Statement{Vehicle: "v1", Sequence: 7}, false},
		{"again", 3, model.Statement{Vehicle: "v1", Sequence: 8}, true},
		{"with the same number", 4, model.Statement{Vehicle: "v1", Sequence: 8}, false},
	} {
		m := otherPendulum(c.seed)
		if _, err := n.Offer(s.file(m, c.statement)); (err == nil) != c.accepted || err != nil && !errors.Is(err, model.ErrStatement) {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.accepted != (n.Model() == m.ID) {
			t.Errorf("%s: model %s is in use", c.name, n.Model())
		}
	}
}

func TestModelsOfEarlierSignersNeedASetting(t *testing.T) {
	s := newSigner(t)
	accept := s.accept()
	accept.Unnumbered = true
	n, err := New(Config{Vehicle: "v1", Accept: accept}, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Offer(s.file(otherPendulum(2), model.Statement{})); err != nil {
		t.Error(err)
	}
	if _, err := n.Offer(s.file(otherPendulum(3), model.Statement{Vehicle: "v1", Sequence: 1})); err != nil {
		t.Error(err)
	}
	if _, err := n.Offer(s.file(otherPendulum(2), model.Statement{})); !errors.Is(err, model.ErrStatement) {
		t.Errorf("after one with a number: %v", err)
	}
}

func TestRollbackIsASignedStatement(t *testing.T) {
	s := newSigner(t)
	a, b := pendulum(), otherPendulum(2)
	n, err := New(Config{Vehicle: "v1", Accept: s.accept()}, a)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Offer(s.file(b, model.Statement{Vehicle: "v1", Sequence: 3})); err != nil {
		t.Fatal(err)
	}
	stranger := signer{t, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, 32))}
	back := model.Statement{Model: a.ID, Vehicle: "v1", Sequence: 4}
	for _, c := range []struct {
		name, part string
		command    []byte
	}{
		{"unsigned", "not signed", (&wire.Command{Action: wire.Rollback}).Append(nil)},
		{"by another key", "not signed", stranger.rollback(back)},
		{"for another vehicle", "not for this use", s.rollback(model.Statement{Model: a.ID, Vehicle: "v2", Sequence: 4})},
		{"with an old number", "not for this use", s.rollback(model.Statement{Model: a.ID, Vehicle: "v1", Sequence: 3})},
		{"to another model", "is for model", s.rollback(model.Statement{Model: b.ID, Vehicle: "v1", Sequence: 4})},
	} {
		if err := n.command(c.command); err == nil || !strings.Contains(err.Error(), c.part) || n.Model() != b.ID {
			t.Errorf("%s: %v, model %s", c.name, err, n.Model())
		}
	}
	if err := n.command(s.rollback(back)); err != nil || n.Model() != a.ID {
		t.Errorf("signed: %v, model %s", err, n.Model())
	}
	if err := n.command(s.rollback(back)); err == nil {
		t.Error("a statement counts twice")
	}
	if _, err := n.Offer(s.file(b, model.Statement{Vehicle: "v1", Sequence: 3})); err == nil {
		t.Error("what was rolled back comes again by its old signature")
	}
}

// A statement that has expired brings no model, and takes none away that it has brought; a revoked model comes by no statement.
func TestStatementsExpireAndRevoke(t *testing.T) {
	s := newSigner(t)
	a, b, c := pendulum(), otherPendulum(2), otherPendulum(3)
	n, err := New(Config{Vehicle: "v1", Accept: s.accept(), TrustFile: filepath.Join(t.TempDir(), "trust")}, a)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UnixNano()
	past, soon := now-1e9, now+int64(time.Hour)
	if _, err := n.Offer(s.file(b, model.Statement{Vehicle: "v1", Sequence: 3, Expires: past})); !errors.Is(err, model.ErrStatement) || !strings.Contains(err.Error(), "expired") || n.Model() != a.ID {
		t.Errorf("%v, model %s", err, n.Model())
	}
	if _, err := n.Offer(s.file(b, model.Statement{Vehicle: "v1", Sequence: 3, Expires: soon, Revoked: []string{c.ID}, Decision: bytes.Repeat([]byte{7}, 32)})); err != nil {
		t.Fatal(err)
	}
	var st wire.Status
	st.Model = n.Model()
	n.reportModels(&st, 0)
	if m := st.Models[0]; m.Sequence != 3 || !bytes.Equal(m.Decision, bytes.Repeat([]byte{7}, 32)) {
		t.Errorf("the status has %+v", m)
	}
	if _, err := n.Offer(s.file(c, model.Statement{Vehicle: "v1", Sequence: 4})); !errors.Is(err, model.ErrStatement) || !strings.Contains(err.Error(), "revoked") || n.Model() != b.ID {
		t.Errorf("%v, model %s", err, n.Model())
	}
	if err := n.command(s.rollback(model.Statement{Model: a.ID, Vehicle: "v1", Sequence: 5, Expires: past})); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("going back: %v", err)
	}
	// After a restart long after the statement has expired.
	accept := s.accept()
	accept.Vehicle, accept.Now = "v1", soon+1
	file := s.file(b, model.Statement{Vehicle: "v1", Sequence: 3, Expires: soon})
	kept, err := ReadAccepted(n.models.acceptedFile, accept.Key)
	if err != nil || kept == nil {
		t.Fatal(kept, err)
	}
	m, statement, err := model.DecodeSigned(file, accept.Key)
	if err != nil {
		t.Fatal(err)
	}
	m, accept, err = kept.Choose(accept, m, statement)
	if err != nil || m.ID != b.ID || !slices.Equal(accept.Revoked, []string{c.ID}) || len(accept.Decision) != 32 {
		t.Errorf("%v, %+v", err, accept)
	}
	if _, _, err := (*model.Accepted)(nil).Choose(model.Acceptance{Key: accept.Key, Vehicle: "v1", Now: soon + 1}, m, statement); !errors.Is(err, model.ErrStatement) {
		t.Errorf("a first start with what has expired: %v", err)
	}
}

// A statement with so large a number that none could follow it is refused, and nothing begins again at 0.
func TestTheLargestSequenceIsNone(t *testing.T) {
	s := newSigner(t)
	a, b := pendulum(), otherPendulum(2)
	n, err := New(Config{Vehicle: "v1", Accept: s.accept()}, a)
	if err != nil {
		t.Fatal(err)
	}
	for _, sequence := range []uint64{math.MaxUint64, model.MaxSequence + 1} {
		if _, err := n.Offer(s.file(b, model.Statement{Vehicle: "v1", Sequence: sequence})); !errors.Is(err, model.ErrStatement) || n.Model() != a.ID {
			t.Errorf("%v, model %s", err, n.Model())
		}
	}
	if _, err := n.Offer(s.file(b, model.Statement{Vehicle: "v1", Sequence: model.MaxSequence})); err != nil {
		t.Error(err)
	}
	if err := n.command(s.rollback(model.Statement{Model: a.ID, Vehicle: "v1", Sequence: 4})); err == nil || n.Model() != b.ID {
		t.Errorf("%v, model %s", err, n.Model())
	}
}

// A node that starts again has the model that it had, whatever older one its file holds, and accepts no older one.
func TestARestartIsNoDowngrade(t *testing.T) {
	s := newSigner(t)
	a, b, c := pendulum(), otherPendulum(2), otherPendulum(3)
	of := func(sequence uint64) model.Statement { return model.Statement{Vehicle: "v1", Sequence: sequence} }
	trust := filepath.Join(t.TempDir(), "trust")
	started := s.file(a, of(3))
	start := func(file []byte) *Node {
		t.Helper()
		accept := s.accept()
		accept.Vehicle = "v1"
		m, statement, err := model.DecodeSigned(file, accept.Key)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := ReadAccepted(AcceptedFile(trust), accept.Key)
		if err != nil {
			t.Fatal(err)
		}
		if m, accept, err = kept.Choose(accept, m, statement); err != nil {
			t.Fatal(err)
		}
		n, err := New(Config{Vehicle: "v1", Accept: accept, TrustFile: trust}, m)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	refuses := func(n *Node, file []byte, want string) {
		t.Helper()
		if _, err := n.Offer(file); !errors.Is(err, model.ErrStatement) || n.Model() != want {
			t.Errorf("%v, model %s, want %s", err, n.Model(), want)
		}
	}
	n := start(started)
	for i, m := range []*model.Model{b, c} {
		if _, err := n.Offer(s.file(m, of(uint64(5+i)))); err != nil {
			t.Fatal(err)
		}
	}
	n = start(started)
	refuses(n, s.file(b, of(5)), c.ID)
	if n = start(s.file(b, of(5))); n.Model() != c.ID {
		t.Errorf("started with an older file: model %s, want %s", n.Model(), c.ID)
	}
	if _, err := n.Offer(s.file(b, of(7))); err != nil { // so that there is one before
		t.Fatal(err)
	}
	if err := n.command(s.rollback(model.Statement{Model: c.ID, Vehicle: "v1", Sequence: 8})); err != nil {
		t.Fatal(err)
	}
	n = start(started)
	refuses(n, s.file(b, of(7)), c.ID)
	if n = start(s.file(b, of(9))); n.Model() != b.ID {
		t.Errorf("started with a newer file: model %s, want %s", n.Model(), b.ID)
	}
	refuses(n, s.file(c, of(8)), b.ID)

	kept, err := ReadAccepted(AcceptedFile(trust), s.accept().Key)
	if err != nil || kept == nil {
		t.Fatal(kept, err)
	}
	for name, other := range map[string]model.Acceptance{
		"a larger least number": {Key: kept.Key, Vehicle: "v1", Least: kept.Sequence + 1}, "another vehicle": {Key: kept.Key, Vehicle: "v2"},
	} {
		if m, _, err := kept.Choose(other, a, model.Statement{Model: a.ID, Vehicle: "v1", Sequence: 3}); !errors.Is(err, model.ErrStatement) || m != nil && m.ID != a.ID {
			t.Errorf("%s: what was kept is used: %v", name, err)
		}
	}
	if err := os.WriteFile(AcceptedFile(trust), []byte{0xc1}, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadAccepted(AcceptedFile(trust), s.accept().Key); err == nil || !strings.Contains(err.Error(), "remove the file") {
		t.Errorf("damaged: %v", err)
	}
	if kept, err := ReadAccepted(AcceptedFile(trust)+".none", s.accept().Key); kept != nil || err != nil {
		t.Errorf("no file: %v, %v", kept, err)
	}
}

// A pipe in the place of a saved state, or of the model's file while the node runs, is not waited for.
func TestAPipeIsNoState(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	done := make(chan []byte)
	go func() { done <- readState(pipe) }()
	select {
	case b := <-done:
		if b != nil {
			t.Errorf("%q", b)
		}
	case <-time.After(patience):
		t.Fatal("it waits for a writer")
	}
	n, err := New(Config{Vehicle: "v1"}, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	offered := make(chan bool)
	go func() { n.OfferFile(pipe); close(offered) }()
	select {
	case <-offered:
	case <-time.After(patience):
		t.Error("a model is waited for")
	}
}
