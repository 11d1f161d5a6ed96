package fleet

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/decisionlog"
)

// decisions is the log of what was decided, and what follows from it: for each purpose and name the last decision. What is not signed, or
// stands in another place than it was signed for, decides nothing.
type decisions struct {
	js  jetstream.JetStream
	key ed25519.PrivateKey // nil = nothing can be decided

	mu     sync.Mutex
	log    *decisionlog.Log
	last   map[string]decision
	faults []string // of messages that decide nothing, the first maxFaults of them
}

// decision is one of the log.
type decision = decisionlog.Decision

const (
	// validFor is how long a decision can be carried out anew. What a vehicle has accepted stays.
	validFor = 365 * 24 * time.Hour
	// maxFaults is how many faults are kept.
	maxFaults = 100
)

// decisionConfig is the stream of the log. Nobody can remove a message of it: who may remove the stream is seen by its first number.
func decisionConfig() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: decisionStream, Description: "signed decisions: what vehicles use, rollouts, tags, groups, revocations", Subjects: []string{decisionPrefix + ">"},
		Storage: jetstream.FileStorage, DenyDelete: true, DenyPurge: true, AllowDirect: true, MaxMsgSize: maxDecision,
		MaxBytes: decisionBytes, Discard: jetstream.DiscardNew,
	}
}

const (
	decisionStream = decisionlog.Stream
	decisionPrefix = decisionlog.Prefix

	maxDecision   = 640 << 10 // bytes
	decisionBytes = 256 << 20
)

func openDecisions(js jetstream.JetStream, key ed25519.PrivateKey, public ed25519.PublicKey) *decisions {
	return &decisions{js: js, key: key, log: decisionlog.New(public, decisionlog.Head{}), last: map[string]decision{}}
}

// refresh reads what was decided since the last time, from the last message that was read on: it must still be there.
func (d *decisions) refresh(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.log.Read(ctx, d.js.Conn(), d.add); err != nil {
		return fmt.Errorf("the log of decisions: %w", explained(err))
	}
	return nil
}

// add takes the next message of the log.
func (d *decisions) add(m *decision) {
	switch {
	case m.Fault == nil:
		d.last[m.Key] = *m
	case len(d.faults) < maxFaults:
		d.faults = append(d.faults, fmt.Sprintf("decision %d, %.80q: %v", d.log.Head().Number, m.Key, m.Fault))
	}
}

// decided returns what was decided last about a purpose and name, and its number; 0 = nothing was.
func decided[T entry](ctx context.Context, d *decisions, purpose model.Purpose, name string) (v T, of decision, err error) {
	if err := d.refresh(ctx); err != nil {
		return v, of, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	key := string(purpose) + "." + name
	of, ok := d.last[key]
	if !ok {
		return v, of, nil
	}
	v, err = decode[T](of.Content, name)
	return v, of, err
}

// allDecided returns what was decided last about all names of a purpose, in their order, and what is wrong with what cannot be read.
func allDecided[T entry](ctx context.Context, d *decisions, purpose model.Purpose) (all []T, unreadable []string, err error) {
	if err := d.refresh(ctx); err != nil {
		return nil, nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(d.last)) {
		name, ok := strings.CutPrefix(key, string(purpose)+".")
		if !ok {
			continue
		}
		v, err := decode[T](d.last[key].Content, name)
		if err != nil {
			unreadable = append(unreadable, fmt.Sprintf("decisions: %v", err))
			continue
		}
		all = append(all, v)
	}
	return all, unreadable, nil
}

// decide adds a decision to the log, if what was decided last about the same still has the given number, else errReplaced.
func (d *decisions) decide(ctx context.Context, s model.Statement, v any, after uint64) error {
	if d.key == nil {
		return errors.New("there is no key to sign it with: give --sign, the operator's private key")
	}
	key := decisionlog.KeyOf(&s)
	if s.Content = encoded(v); len(s.Content) > mostContent {
		return fmt.Errorf("deciding %s: %d bytes are more than a decision has, %d", key, len(s.Content), mostContent)
	}
	for try := range mostTries {
		pause(ctx, time.Duration(try)*tryAgain)
		if err := d.refresh(ctx); err != nil {
			return err
		}
		d.mu.Lock()
		head, was := d.log.Head(), d.last[key].Number
		d.mu.Unlock()
		if was != after {
			return errReplaced
		}
		now := time.Now()
		s.Number, s.Decision = head.Number+1, head.Hash
		s.Sequence, s.Created, s.Expires = max(s.Sequence, s.Number), now.UnixNano(), now.Add(validFor).UnixNano()
		ack, err := d.js.PublishMsg(ctx, &nats.Msg{Subject: decisionPrefix + key, Data: model.SignDecision(s, d.key)}, jetstream.WithExpectLastSequence(head.Number))
		if err = explained(err); err == nil {
			return d.await(ctx, ack.Sequence)
		}
		if !errors.Is(err, errReplaced) {
			return fmt.Errorf("deciding %s: %w", key, err)
		}
	}
	return fmt.Errorf("deciding %s: others decided at the same time %d times, or the log cannot be read to its end: see dgm-fleet log", key, mostTries)
}

const (
	mostContent = 500 << 10 // bytes of what is decided
	mostTries   = 60        // of a decision, when others decide at the same time
	tryAgain    = 2 * time.Millisecond
	replicated  = 5 * time.Second // until a server of a cluster has what another one has acknowledged
)

// await reads the log until it has a decision that was acknowledged.
func (d *decisions) await(ctx context.Context, number uint64) error {
	for end := time.Now().Add(replicated); ; pause(ctx, 10*time.Millisecond) {
		if err := d.refresh(ctx); err != nil {
			return err
		}
		d.mu.Lock()
		read := d.log.Head().Number
		d.mu.Unlock()
		if read >= number {
			return nil
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return fmt.Errorf("decision %d is acknowledged, and the server does not show it", number)
		}
	}
}

// replace is decide whatever was decided before about the same.
func (d *decisions) replace(ctx context.Context, s model.Statement, v any) error {
	for {
		if err := d.refresh(ctx); err != nil {
			return err
		}
		d.mu.Lock()
		after := d.last[decisionlog.KeyOf(&s)].Number
		d.mu.Unlock()
		if err := d.decide(ctx, s, v, after); !errors.Is(err, errReplaced) {
			return err
		}
	}
}

// expired returns an error where a decision is too old to be carried out anew.
func expired(of *decision) error {
	if of.Expires != 0 && time.Now().UnixNano() > of.Expires {
		return fmt.Errorf("it was decided on %s and has expired: decide it again", time.Unix(0, of.Created).UTC().Format(time.DateOnly))
	}
	return nil
}

// Decision is one of the log, for whoever reads it.
type Decision struct {
	Number  uint64    `json:"number"`
	Time    time.Time `json:"time"` // when it was stored, by the server's clock
	Purpose string    `json:"purpose"`
	Name    string    `json:"name"` // vehicle, group, tag or model
	Model   string    `json:"model,omitempty"`
	Hash    string    `json:"hash"` // SHA-256, hex
}

// DecisionLog is what a log of decisions shows.
type DecisionLog struct {
	Decisions []Decision `json:"decisions"`
	Head      string     `json:"head"`   // hash of the last message; "" = none
	Faults    []string   `json:"faults"` // what decides nothing, and why

	heads map[string]bool // hashes of all messages
}

// ReadDecisions reads the whole log and verifies that each decision is signed by the private key of a public one, stands where it was
// signed for, and follows the one before. A nil key verifies no signatures.
func ReadDecisions(ctx context.Context, nc *nats.Conn, key ed25519.PublicKey) (*DecisionLog, error) {
	d := openDecisions(nil, nil, key)
	out := &DecisionLog{Decisions: []Decision{}, heads: map[string]bool{}}
	err := d.log.Read(ctx, nc, func(m *decision) {
		d.add(m)
		out.Head = hex.EncodeToString(m.Hash)
		if out.heads[out.Head] = true; m.Fault == nil {
			purpose, name, _ := strings.Cut(m.Key, ".")
			out.Decisions = append(out.Decisions, Decision{Number: m.Number, Time: m.Time, Purpose: purpose, Name: name, Model: m.Model, Hash: out.Head})
		}
	})
	if err != nil {
		return nil, fmt.Errorf("the log of decisions: %w", explained(err))
	}
	out.Faults = append([]string{}, d.faults...)
	return out, nil
}

// Follows returns an error where the log does not hold a head that it had before: it was replaced.
func (l *DecisionLog) Follows(head string) error {
	if head != "" && !l.heads[head] {
		return fmt.Errorf("the log does not hold the decision %.16s…, which was its last one before: somebody has replaced it", head)
	}
	return nil
}

// Witnesses returns what is wrong with the models that all vehicles use, see Witness.
func (l *DecisionLog) Witnesses(robots *Robots) (problems []string) {
	for _, v := range robots.Vehicles() {
		r := robots.Of(v)
		if err := l.Witness(&r); err != nil {
			problems = append(problems, err.Error())
		}
	}
	slices.Sort(problems)
	return problems
}

// follow is how long a vehicle may take to follow a decision.
const follow = 10 * time.Minute

// Witness returns an error where a vehicle uses a model by a decision that is not in the log, as it was shown another one, or another model
// than the last decision for it names, though that is older than ten minutes.
func (l *DecisionLog) Witness(r *Robot) error {
	if len(r.Status.Models) == 0 {
		return nil
	}
	by, newest, at := hex.EncodeToString(r.Status.Models[0].Decision), -1, -1
	for i, d := range l.Decisions {
		if d.Purpose != string(model.ForInstallation) || d.Name != r.Status.Vehicle {
			continue
		}
		if d.Hash == by {
			at = i
		}
		if d.Hash == by || time.Since(d.Time) > follow {
			newest = i
		}
	}
	how := "by no decision"
	switch {
	case by != "" && at < 0:
		return fmt.Errorf("%s uses model %.16s by the decision %.16s…, which the log does not hold for it", r.Status.Vehicle, r.Status.Model, by)
	case at >= 0:
		how = fmt.Sprintf("by decision %d", l.Decisions[at].Number)
	}
	if newest > at && l.Decisions[newest].Model != r.Status.Model {
		return fmt.Errorf("%s uses model %.16s %s, and does not follow decision %d, model %.16s", r.Status.Vehicle, r.Status.Model, how, l.Decisions[newest].Number, l.Decisions[newest].Model)
	}
	return nil
}
