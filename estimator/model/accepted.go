package model

import (
	"bytes"
	"crypto/ed25519"
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

// Accepted is what a node remembers over a restart of the newest signed statement that it has accepted: without it, one who can
// offer models could wait for a restart, and offer an older one.
type Accepted struct {
	Key      ed25519.PublicKey `msg:"key"` // that verified it
	Sequence uint64            `msg:"sequence"`
	Model    string            `msg:"model"`                       // ID of the model that it put in use
	File     []byte            `msg:"file,most=file"`              // signed file of that model, and
	Before   []byte            `msg:"before,most=file"`            // of the one before; empty where it is the file that the node was started with
	Decision []byte            `msg:"decision,omitzero,most=hash"` // of the fleet that the statement follows from; empty = none
	Revoked  []string          `msg:"revoked,omitzero,most=revoked"`
}

// mostFile is the size of a model's file in it, bytes.
const mostFile = 1 << 29

var acceptedKeys = msgbin.KeysOf[Accepted](limits)

// Encode returns it as a file holds it.
func (a *Accepted) Encode() []byte {
	return msgbin.Append(nil, func(w *msgbin.Writer) { w.Fields(acceptedKeys.Fields(nil, a)) })
}

// DecodeAccepted returns what was accepted with a key, nil of another key.
func DecodeAccepted(b []byte, key ed25519.PublicKey) (*Accepted, error) {
	a := &Accepted{}
	r := msgbin.NewReader(b)
	err := r.Fields(acceptedKeys.Fields(nil, a))
	if err == nil && r.Left() > 0 {
		err = fmt.Errorf("%d bytes after its end", r.Left())
	}
	if err != nil {
		return nil, fmt.Errorf("the newest statement accepted: %w", err)
	}
	if !bytes.Equal(a.Key, key) {
		return nil, nil
	}
	return a, nil
}

// Choose returns the model to start with, of the one of a file and what was accepted later, and the least that is accepted from then
// on. The file's is used where its statement is newer, or is the one that was gone back to; and where what was accepted is for
// another vehicle, or less than the least that is asked for.
func (a *Accepted) Choose(accept Acceptance, m *Model, s Statement) (*Model, Acceptance, error) {
	ours := accept // whom a statement is for, whatever its number
	ours.Least, ours.Model, ours.Now = 0, "", 0
	raised := accept
	if a != nil && a.Sequence >= accept.Least {
		raised.Least, raised.Model, raised.Decision, raised.Revoked = a.Sequence, a.Model, a.Decision, a.Revoked
		switch {
		case s.Sequence > a.Sequence:
		case m.ID == a.Model:
			return m, raised, ours.Check(s)
		default:
			kept, statement, err := DecodeSigned(a.File, accept.Key)
			if err == nil && kept.ID != a.Model {
				err = fmt.Errorf("it is model %.16s, and %.16s was accepted", kept.ID, a.Model)
			}
			if err != nil {
				return nil, accept, fmt.Errorf("the model accepted as number %d: %w", a.Sequence, err)
			}
			if ours.Check(statement) == nil {
				return kept, raised, nil
			}
			raised = accept
		}
	}
	err := raised.Check(s)
	raised.Accepted(s, m.ID)
	return m, raised, err
}
