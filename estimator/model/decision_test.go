package model_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"reflect"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/model"
)

var decisionKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{3}, ed25519.SeedSize))

func decided() model.Statement {
	return model.Statement{
		Purpose: model.ForRollout, Fleet: "drones", Model: "0123", Sequence: 7, Created: 5, Expires: 9, Revoked: []string{"89ab"}, Decision: bytes.Repeat([]byte{1}, 32), Number: 7, Content: []byte("{}"),
	}
}

// A signed statement is that of its signer, for its purpose, in the one way in which it is written.
func TestDecisions(t *testing.T) {
	s := decided()
	signed, public := model.SignDecision(s, decisionKey), decisionKey.Public().(ed25519.PublicKey)
	for _, key := range []ed25519.PublicKey{public, nil} {
		if got, err := model.VerifyDecision(signed, model.ForRollout, key); err != nil || !reflect.DeepEqual(got, s) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{4}, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	if _, err := model.VerifyDecision(signed, model.ForRollout, other); !errors.Is(err, model.ErrSignature) {
		t.Errorf("by another key: %v", err)
	}
	for _, p := range []model.Purpose{model.ForModel, model.ForRollback, model.ForInstallation, model.ForTag, model.ForGroup, model.ForRevocation} {
		for _, key := range []ed25519.PublicKey{public, nil} {
			if _, err := model.VerifyDecision(signed, p, key); err == nil {
				t.Errorf("it is taken for the purpose %q", p)
			}
		}
	}
	for i := range signed {
		damaged := bytes.Clone(signed)
		damaged[i] ^= 4
		if _, err := model.VerifyDecision(damaged, model.ForRollout, public); err == nil {
			t.Fatalf("a flipped bit of byte %d was not noticed", i)
		}
	}
	// A statement to go back is none of a decision, and the reverse, though the key is the same.
	text, mark := model.SignRollback(s, decisionKey)
	if _, err := model.VerifyRollback(text, mark, public); err != nil {
		t.Error(err)
	}
	if _, err := model.VerifyRollback(signed[3:len(signed)-66], signed[len(signed)-64:], public); err == nil {
		t.Error("a decision is taken for a command")
	}
}

// What decodes is in its canonical form: there is no second encoding of the same decision.
func FuzzDecision(f *testing.F) {
	f.Add(model.SignDecision(decided(), decisionKey))
	f.Add(model.SignDecision(model.Statement{Purpose: model.ForRollout}, decisionKey))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := model.VerifyDecision(b, model.ForRollout, nil)
		if err != nil {
			return
		}
		again := model.SignDecision(s, decisionKey)
		if len(again) != len(b) || !bytes.Equal(again[:len(again)-64], b[:len(b)-64]) {
			t.Errorf("%x and %x are the same decision", b, again)
		}
	})
}
