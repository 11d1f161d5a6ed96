package model_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
)

func TestSignatures(t *testing.T) {
	key := func(seed byte) ed25519.PrivateKey {
		return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
	}
	ours, theirs := key(1), key(2)
	public := ours.Public().(ed25519.PublicKey)
	plain, err := artificial.New(artificial.Size{K: 1, Features: 4, Points: 2, Horizon: 1}, 1).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := model.Verify(plain, public); !errors.Is(err, model.ErrUnsigned) {
		t.Errorf("unsigned: %v", err)
	}
	if _, _, err := model.DecodeSigned(plain, nil); err != nil {
		t.Errorf("unsigned, where no key is asked for: %v", err)
	}
	statement := model.Statement{Vehicle: "v1", Sequence: 7, Created: 5e18}
	signed, err := model.Sign(plain, ours, statement)
	if err != nil {
		t.Fatal(err)
	}
	m, stated, err := model.DecodeSigned(signed, public)
	if err != nil {
		t.Fatalf("signed: %v", err)
	}
	statement.Model = m.ID
	if !reflect.DeepEqual(stated, statement) {
		t.Errorf("stated %+v, signed %+v", stated, statement)
	}
	// The text of the format: without a statement, all bytes in front of the signature, which
	// is at the end.
	old, err := model.Sign(plain, ours, model.Statement{})
	if err != nil || !ed25519.Verify(public, old[:len(old)-66], old[len(old)-64:]) {
		t.Errorf("the signature is not that of the format's page: %v", err)
	}
	if _, none, err := model.DecodeSigned(old, public); err != nil || !reflect.DeepEqual(none, model.Statement{}) {
		t.Errorf("without a statement: %+v, %v", none, err)
	}
	if was, _ := model.Decode(plain); was.ID != m.ID {
		t.Error("signing changed the model's ID")
	}
	other, err := model.Sign(signed, theirs, statement)
	if err != nil {
		t.Fatal(err)
	}
	if len(other) != len(signed) {
		t.Errorf("signed twice it has %d bytes, once %d", len(other), len(signed))
	}
	if _, _, err := model.DecodeSigned(other, public); !errors.Is(err, model.ErrSignature) {
		t.Errorf("signed by another: %v", err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		damaged := bytes.Clone(signed)
		damaged[rng.IntN(len(damaged))] ^= 1 << rng.IntN(8)
		if _, _, err := model.DecodeSigned(damaged, public); err == nil {
			t.Fatal("a flipped bit was not noticed")
		}
	}
	if _, err := model.Sign(plain[:len(plain)-1], ours, statement); err == nil {
		t.Error("half a file was signed")
	}
}
