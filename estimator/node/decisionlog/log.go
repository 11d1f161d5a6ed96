// Package decisionlog follows the log of a fleet's decisions: signed statements, each with its place and the hash of the one before, in a
// stream of which no message can be removed. Operators decide by what stands in it, and a vehicle takes no model from the fleet that the
// log does not name for it.
package decisionlog

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/stored"
)

// Names on the server.
const (
	Stream = "DGM_DECISIONS"
	Prefix = "dgm.decision." // of subjects, before the purpose and the name of a decision
)

// Decision is a message of the log.
type Decision struct {
	model.Statement
	Key   string    // purpose and name, as installation.drone-1
	Hash  []byte    // of the log up to it, which the next decision names
	Time  time.Time // when it was stored, by the server's clock
	Fault error     // why it decides nothing; nil = it decides
}

// Head is the last message of a log that was read; the zero value is that of an empty log.
type Head struct {
	Number  uint64 // its place, from 1
	Hash    []byte // SHA-256 of the log up to it
	Message []byte // SHA-256 of its bytes
}

// Log reads a log of decisions from its head on.
type Log struct {
	key  ed25519.PublicKey // nil = signatures are not verified
	head Head
}

// New returns a log that was read up to its head. With a public key, what its private key has not signed decides nothing.
func New(key ed25519.PublicKey, head Head) *Log { return &Log{key: key, head: head} }

// Head returns the last message that was read.
func (l *Log) Head() Head { return l.head }

// Why a log cannot be followed.
var (
	ErrReplaced = errors.New("it is not the one that was read before: somebody has replaced the stream " + Stream + "; restore it from a backup")
	ErrShorter  = errors.New("it has lost its end: somebody has replaced the stream " + Stream + ", or a server of a cluster is behind; restore it from a backup, or look again")
	ErrGap      = errors.New("decisions are missing: somebody has set a limit on the stream " + Stream + "; restore it from a backup")
)

// Read calls each with the messages behind the head, which becomes the last of them. The error is that of the server, or, with a head that
// stays, ErrReplaced or ErrShorter where the log does not hold the head, and ErrGap where messages before one are missing.
func (l *Log) Read(ctx context.Context, nc *nats.Conn, each func(*Decision)) error {
	there := l.head.Number == 0
	err := stored.From(ctx, nc, Stream, Prefix+">", max(l.head.Number, 1), func(m *stored.Message) error {
		if there {
			d, err := l.next(m)
			if err == nil {
				each(d)
			}
			return err
		}
		if m.Sequence != l.head.Number || !bytes.Equal(model.DecisionHash(m.Data), l.head.Message) {
			return fmt.Errorf("decision %d: %w", l.head.Number, ErrReplaced)
		}
		there = true
		return nil
	})
	if err == nil && !there {
		err = fmt.Errorf("decision %d: %w", l.head.Number, ErrShorter)
	}
	return err
}

// next takes the next message.
func (l *Log) next(m *stored.Message) (*Decision, error) {
	if m.Sequence != l.head.Number+1 {
		return nil, fmt.Errorf("after number %d comes number %d: %w", l.head.Number, m.Sequence, ErrGap)
	}
	d := &Decision{Key: strings.TrimPrefix(m.Subject, Prefix), Time: m.Time}
	purpose, _, _ := strings.Cut(d.Key, ".")
	d.Statement, d.Fault = model.VerifyDecision(m.Data, model.Purpose(purpose), nil)
	switch {
	case d.Fault != nil:
	case KeyOf(&d.Statement) != d.Key:
		d.Fault = fmt.Errorf("it is that of %.80q", KeyOf(&d.Statement))
	case d.Number != m.Sequence:
		d.Fault = fmt.Errorf("it was signed as number %d: it was moved or repeated", d.Number)
	case !bytes.Equal(d.Decision, l.head.Hash):
		d.Fault = errors.New("the decision before it is another one than it was signed after")
	}
	message := model.DecisionHash(m.Data)
	if d.Hash = message; d.Fault != nil { // it does not name what is before it
		sum := sha256.Sum256(slices.Concat(l.head.Hash, message))
		d.Hash = sum[:]
	} else if l.key != nil {
		_, d.Fault = model.VerifyDecision(m.Data, d.Purpose, l.key)
	}
	l.head = Head{Number: m.Sequence, Hash: d.Hash, Message: message}
	return d, nil
}

// KeyOf returns what a decision is about: its purpose and a name.
func KeyOf(s *model.Statement) string {
	name := s.Fleet
	switch s.Purpose {
	case model.ForInstallation:
		name = s.Vehicle
	case model.ForRevocation:
		name = s.Model
	}
	return string(s.Purpose) + "." + name
}
