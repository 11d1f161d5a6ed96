package model

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

// Statement is what a signer states, in one format for everything that is signed: a model for a vehicle, a command to go back, and
// the decisions of a fleet. One vehicle, fleet, group or name is stated.
type Statement struct {
	Model    string  `msg:"model"`    // ID; "" where none is named
	Vehicle  string  `msg:"vehicle"`  // that it is for; "" = the fleet
	Fleet    string  `msg:"fleet"`    // that it is for; "" = the vehicle. A group or a tag, in the decision about it
	Sequence uint64  `msg:"sequence"` // larger than that of every earlier statement for the same; 0 = no statement
	Created  int64   `msg:"created"`  // ns, unix
	Purpose  Purpose `msg:"purpose,omitzero"`
	Expires  int64   `msg:"expires,omitzero"` // ns, unix, after which it is accepted no more; 0 = never

	Revoked  []string `msg:"revoked,omitzero,most=revoked"` // IDs of models that are accepted no more, whatever is signed for them
	Decision []byte   `msg:"decision,omitzero,most=hash"`   // SHA-256 of the signed decision that it follows from; of a decision, of the one before in the log
	Number   uint64   `msg:"number,omitzero"`               // of a decision: its place in the log, from 1
	Content  []byte   `msg:"content,omitzero,most=content"` // of a decision: what is decided, JSON
}

// Purpose is what a statement is for. A statement for one purpose is not accepted for another.
type Purpose string

// The purposes of statements. All after the first two are decisions of a fleet.
const (
	ForModel        Purpose = ""             // a vehicle or a fleet may use the model whose file it is in
	ForRollback     Purpose = "rollback"     // go back to a model
	ForInstallation Purpose = "installation" // which models a vehicle uses
	ForRollout      Purpose = "rollout"      // the stage of a rollout to a group
	ForTag          Purpose = "tag"          // the model that a name means
	ForGroup        Purpose = "group"        // the vehicles that a name means
	ForRevocation   Purpose = "revocation"   // a model that is not to be used
)

// prefix begins what is signed, before the statement. No model file begins with one, and the prefix of one purpose is not that of another.
func (p Purpose) prefix() []byte {
	if p == ForRollback {
		return []byte("dgm-rollback")
	}
	return []byte("dgm-decision " + string(p) + "\n")
}

const (
	maxStatement = 8 << 10   // bytes of a statement in a model file
	maxContent   = 512 << 10 // bytes of what is decided
	hashSize     = sha256.Size

	nanosecondsPerDay = 86400e9
)

// MaxRevoked is how many models a statement revokes at most.
const MaxRevoked = 64

// MaxSequence is the largest sequence number that is accepted: behind it there is room for more than a clock in nanoseconds shows.
const MaxSequence = 1 << 62

// limits are those that the tags of what is signed name.
var limits = msgbin.Limits{"revoked": MaxRevoked, "hash": hashSize, "content": maxContent, "file": mostFile}

var statementKeys = msgbin.KeysOf[Statement](limits)

var errForm = errors.New("it is not in its canonical form")

func (s *Statement) encode() []byte {
	return msgbin.Append(nil, func(w *msgbin.Writer) { w.Fields(statementKeys.Fields(nil, s)) })
}

// decode reads a statement, which must be encoded as encode does: there is one way to write it.
func (s *Statement) decode(b []byte) error {
	r := msgbin.NewReader(b)
	err := r.Fields(statementKeys.Fields(nil, s))
	switch {
	case err != nil:
	case r.Left() > 0:
		err = fmt.Errorf("%d bytes after its end", r.Left())
	case len(s.Decision) != 0 && len(s.Decision) != hashSize:
		err = fmt.Errorf("decision: %d bytes are no SHA-256", len(s.Decision))
	case !bytes.Equal(s.encode(), b):
		err = errForm
	}
	if err != nil {
		return fmt.Errorf("%w: statement: %w", ErrDamaged, err)
	}
	return nil
}

// sign returns a statement, encoded, and the signature of what stands before it and of the statement.
func (s *Statement) sign(before []byte, key ed25519.PrivateKey) (text, signature []byte) {
	if len(key) != ed25519.PrivateKeySize {
		panic(wrongKey)
	}
	text = s.encode()
	return text, ed25519.Sign(key, slices.Concat(before, text))
}

// verify returns a statement for a purpose that is signed with what stands before it by the private key of a public one, else
// ErrSignature. It is what every statement is verified by.
func verify(before, text, signature []byte, purpose Purpose, key ed25519.PublicKey) (s Statement, err error) {
	if len(key) != ed25519.PublicKeySize {
		panic(wrongKey)
	}
	if !ed25519.Verify(key, slices.Concat(before, text), signature) {
		return s, ErrSignature
	}
	return stated(text, purpose)
}

// stated returns an encoded statement for a purpose.
func stated(text []byte, purpose Purpose) (s Statement, err error) {
	if err = s.decode(text); err == nil && s.Purpose != purpose {
		err = fmt.Errorf("%w: it is for the purpose %q, and not %q", ErrStatement, s.Purpose, purpose)
	}
	return s, err
}

// signature reads a signature.
func signature(r *msgbin.Reader) ([]byte, error) {
	s, err := r.Bin(signatureSize)
	if err != nil || len(s) != signatureSize {
		return nil, fmt.Errorf("%w: a signature is not a bin of %d bytes", ErrDamaged, signatureSize)
	}
	return s, nil
}

// SignRollback returns a statement to go back to a model, encoded, and its signature.
func SignRollback(s Statement, key ed25519.PrivateKey) (statement, signature []byte) {
	s.Purpose = ForRollback
	return s.sign(ForRollback.prefix(), key)
}

// VerifyRollback returns a statement to go back to a model that is signed by the private key
// of the given public one, else ErrSignature.
func VerifyRollback(statement, signature []byte, key ed25519.PublicKey) (s Statement, err error) {
	s, err = verify(ForRollback.prefix(), statement, signature, ForRollback, key)
	if err != nil {
		return s, fmt.Errorf("the statement to go back: %w: sign it by dgm-train --rollback", err)
	}
	return s, nil
}

// SignDecision returns a decision of a fleet, signed: an array of the statement and its signature.
func SignDecision(s Statement, key ed25519.PrivateKey) []byte {
	return pair(s.sign(s.Purpose.prefix(), key))
}

// pair returns a decision as a log holds it.
func pair(text, signature []byte) []byte {
	return msgbin.Append(nil, func(w *msgbin.Writer) {
		w.Array(2)
		w.Bin(text)
		w.Bin(signature)
	})
}

// VerifyDecision returns a decision for a purpose that is signed by the private key of the given public one, else ErrSignature. A nil key
// asks for no signature.
func VerifyDecision(signed []byte, purpose Purpose, key ed25519.PublicKey) (s Statement, err error) {
	r := msgbin.NewReader(signed)
	n, err := r.Array(2)
	if err == nil && n != 2 {
		err = fmt.Errorf("%d elements", n)
	}
	var text, mark []byte
	if err == nil {
		text, err = r.Bin(maxStatement + maxContent)
	}
	if err == nil {
		mark, err = signature(r)
	}
	if err == nil && !bytes.Equal(pair(text, mark), signed) {
		err = errForm
	}
	if err != nil {
		return s, fmt.Errorf("%w: decision: %w", ErrDamaged, err)
	}
	if key == nil {
		return stated(text, purpose)
	}
	return verify(purpose.prefix(), text, mark, purpose, key)
}

// DecisionHash returns what the next decision of a log names this one by.
func DecisionHash(signed []byte) []byte {
	sum := sha256.Sum256(signed)
	return sum[:]
}

// Acceptance is which signed models are accepted.
type Acceptance struct {
	Key        ed25519.PublicKey // nil = models need no signature, and the rest is not used
	Vehicle    string
	Fleet      string   // (optional) of the vehicle
	Least      uint64   // (optional) sequence number of a statement
	Model      string   // (optional) ID of the only model that is accepted with the number Least
	Decision   []byte   // (optional) of the fleet, that the statement with the number Least follows from
	Revoked    []string // (optional) IDs of models that are not accepted
	Unnumbered bool     // files of earlier signers, without a statement, are accepted as number 0 for everybody
	Now        int64    // (optional) ns, unix; 0 = nothing has expired
}

// Accepted raises the least number to that of a statement that was accepted for a model. With
// that number no other model is accepted from then on.
func (a *Acceptance) Accepted(s Statement, id string) {
	if s.Sequence == 0 || s.Sequence < a.Least {
		return
	}
	a.Least, a.Model, a.Decision = s.Sequence, id, s.Decision
	revoked := slices.Clone(s.Revoked)
	for _, r := range a.Revoked {
		if !slices.Contains(revoked, r) {
			revoked = append(revoked, r)
		}
	}
	a.Revoked = revoked[:min(len(revoked), MaxRevoked)]
}

// Check returns an ErrStatement for a statement that is not for the vehicle or its fleet, that has expired, that is for a model that is
// revoked, or whose number is less than the least, or that of another model. What was accepted before it has expired stays accepted.
func (a *Acceptance) Check(s Statement) error {
	again := s.Sequence == a.Least && a.Model != "" && s.Model == a.Model
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
	case s.Expires != 0 && a.Now > s.Expires && !again:
		return fmt.Errorf("%w: it expired %.1f days ago: sign it again", ErrStatement, float64(a.Now-s.Expires)/nanosecondsPerDay)
	case s.Model != "" && slices.Contains(a.Revoked, s.Model):
		return fmt.Errorf("%w: model %s was revoked: sign another one", ErrStatement, s.Model)
	}
	return nil
}
