package model

import (
	"crypto/ed25519"
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

// Statement is what a signer states: which model, for whom, and in what order. One vehicle or
// one fleet is named.
type Statement struct {
	Model    string // ID
	Vehicle  string // that it is for; "" = the fleet
	Fleet    string // that it is for; "" = the vehicle
	Sequence uint64 // larger than that of every earlier statement for the same; 0 = no statement
	Created  int64  // ns, unix
}

const maxStatement = 1024

// MaxSequence is the largest sequence number that is accepted: behind it there is room for more than a clock in nanoseconds shows.
const MaxSequence = 1 << 62

func (s *Statement) fields() []msgbin.Field {
	return []msgbin.Field{
		msgbin.Required("model", &s.Model), msgbin.Required("vehicle", &s.Vehicle), msgbin.Required("fleet", &s.Fleet),
		msgbin.Required("sequence", &s.Sequence), msgbin.Required("created", &s.Created),
	}
}

func (s *Statement) encode() []byte {
	return msgbin.Append(nil, func(w *msgbin.Writer) { w.Fields(s.fields()) })
}

func (s *Statement) decode(b []byte) error {
	r := msgbin.NewReader(b)
	err := r.Fields(s.fields())
	if err == nil && r.Left() > 0 {
		err = fmt.Errorf("%d bytes after its end", r.Left())
	}
	if err != nil {
		return fmt.Errorf("%w: statement: %w", ErrDamaged, err)
	}
	return nil
}

// rollback begins what is signed of a statement to go back to a model. A file does not
// begin with it.
const rollback = "dgm-rollback"

// SignRollback returns a statement to go back to a model, encoded, and its signature.
func SignRollback(s Statement, key ed25519.PrivateKey) (statement, signature []byte) {
	statement = s.encode()
	return statement, ed25519.Sign(key, append([]byte(rollback), statement...))
}

// VerifyRollback returns a statement to go back to a model that is signed by the private key
// of the given public one, else ErrSignature.
func VerifyRollback(statement, signature []byte, key ed25519.PublicKey) (s Statement, err error) {
	if !ed25519.Verify(key, append([]byte(rollback), statement...), signature) {
		return s, fmt.Errorf("the statement to go back: %w: sign it by dgm-train --rollback", ErrSignature)
	}
	return s, s.decode(statement)
}

// Acceptance is which signed models are accepted.
type Acceptance struct {
	Key        ed25519.PublicKey // nil = models need no signature, and the rest is not used
	Vehicle    string
	Fleet      string // (optional) of the vehicle
	Least      uint64 // (optional) sequence number of a statement
	Model      string // (optional) ID of the only model that is accepted with the number Least
	Unnumbered bool   // files of earlier signers, without a statement, are accepted as number 0 for everybody
}

// Accepted raises the least number to that of a statement that was accepted for a model. With
// that number no other model is accepted from then on.
func (a *Acceptance) Accepted(s Statement, id string) {
	if s.Sequence > 0 && s.Sequence >= a.Least {
		a.Least, a.Model = s.Sequence, id
	}
}

// Check returns an ErrStatement for a statement that is not for the vehicle or its fleet, or
// whose number is less than the least, or that of another model.
func (a *Acceptance) Check(s Statement) error {
	switch {
	case a.Key == nil:
		return nil
	case s.Sequence == 0 && !a.Unnumbered:
		return fmt.Errorf("%w: it has no sequence number and names no vehicle: sign it again by dgm-train --sign, or set unnumbered = true", ErrStatement)
	case s.Sequence > 0 && !(s.Vehicle != "" && s.Vehicle == a.Vehicle || s.Fleet != "" && s.Fleet == a.Fleet):
		return fmt.Errorf("%w: it is for vehicle %q, fleet %q, and this is vehicle %q of fleet %q: sign it for this one", ErrStatement, s.Vehicle, s.Fleet, a.Vehicle, a.Fleet)
	case s.Sequence > MaxSequence:
		return fmt.Errorf("%w: its sequence number is %d, more than %d: after it none could be accepted; sign it with a smaller one", ErrStatement, s.Sequence, uint64(MaxSequence))
	case s.Sequence < a.Least:
		return fmt.Errorf("%w: its sequence number is %d, and the least that is accepted is %d: sign it with a larger one", ErrStatement, s.Sequence, a.Least)
	case s.Sequence > 0 && s.Sequence == a.Least && a.Model != "" && s.Model != a.Model:
		return fmt.Errorf("%w: its sequence number %d is that of model %s, which was accepted before: sign it with a larger one", ErrStatement, s.Sequence, a.Model)
	}
	return nil
}
