package fleet

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A rollout that an earlier version has begun goes back, too.
func TestARolloutThatNotedNothing(t *testing.T) {
	for _, looks := range []int{0, 1} {
		s, old, next := begun(t)
		s.changes("g", func(r *Rollout) {
			r.Before = nil
			r.to(StageCanary, "by an earlier version")
		})
		if looks == 0 {
			if _, err := s.c.In.Promote(t.Context(), "a", next.Ref(), "rollout"); err != nil {
				t.Fatal(err)
			}
		}
		s.look("g")
		s.wants("a", next.ID, "")
		s.reports("a", next.ID, time.Minute, alarmed)
		s.look("g")
		s.wants("a", old.ID, "")
	}
}

// changes changes a rollout past the controller, with the operator's key.
func (s *simulated) changes(group string, change func(*Rollout)) {
	s.t.Helper()
	r, of, err := decided[Rollout](s.t.Context(), s.c.In.log, model.ForRollout, group)
	if err != nil {
		s.t.Fatal(err)
	}
	change(&r)
	if err := s.c.In.decideRollout(s.t.Context(), &r, of.Number); err != nil {
		s.t.Fatal(err)
	}
}

// waited lets the stage of a rollout have begun so long ago as it may last.
func (s *simulated) waited(group string) {
	s.t.Helper()
	s.changes(group, func(r *Rollout) { r.Since = r.Since.Add(-r.Rule.Longest) })
}

// A canary that refuses the model does not keep its group for ever.
func TestACanaryThatRefuses(t *testing.T) {
	s, old, next := begun(t)
	s.reports("a", old.ID, time.Hour, tries(next.ID, -1))
	s.look("g")
	s.waited("g")
	s.reports("a", old.ID, time.Hour, func(st *wire.Status) { st.Refused = "it is too slow" })
	if r := s.look("g"); r.Stage != StageReturned || !strings.Contains(r.Reason, "it is too slow") {
		t.Errorf("%+v", r)
	}
	s.wants("a", old.ID, "")
}

// breaking accepts a number of writes and then no more, as of a process that is killed.
type breaking struct {
	jetstream.JetStream
	left *int
}

func (b breaking) PublishMsg(ctx context.Context, m *nats.Msg, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	if *b.left--; *b.left < 0 {
		return nil, nats.ErrTimeout
	}
	return b.JetStream.PublishMsg(ctx, m, opts...)
}

type breakingObjects struct {
	jetstream.ObjectStore
	left *int
}

func (b breakingObjects) Put(ctx context.Context, meta jetstream.ObjectMeta, r io.Reader) (*jetstream.ObjectInfo, error) {
	if *b.left--; *b.left < 0 {
		return nil, nats.ErrTimeout
	}
	return b.ObjectStore.Put(ctx, meta, r)
}

func (b breakingObjects) Delete(ctx context.Context, name string) error {
	if *b.left--; *b.left < 0 {
		return nats.ErrTimeout
	}
	return b.ObjectStore.Delete(ctx, name)
}

// A controller that is killed after any of its writes leaves what another one finishes.
func TestAControllerKilledAtEveryStep(t *testing.T) {
	for writes := range 10 {
		s, old, next := begun(t)
		killed := func() {
			in, left := *s.c.In, writes
			in.log, in.files = openDecisions(breaking{in.js, &left}, operatorKey, operatorPublic), breakingObjects{in.files, &left}
			_ = (&Controller{In: &in, Robots: s.c.Robots, Log: func(string) {}}).look(t.Context(), true)
		}
		killed()
		s.look("g")
		s.reports("a", old.ID, time.Hour, tries(next.ID, -1))
		killed()
		if r := s.look("g"); r.Stage != StageCanary {
			t.Fatalf("%d writes: %+v", writes, r)
		}
		s.wants("a", next.ID, "")
		s.wants("b", old.ID, next.ID)
		s.reports("a", next.ID, time.Hour, nil)
		killed()
		s.look("g")
		s.wants("b", next.ID, "")
		s.wants("c", next.ID, "")
		s.reports("a", next.ID, time.Hour, alarmed)
		killed()
		if r := s.look("g"); r.Stage != StageReturned {
			t.Errorf("%d writes: %+v", writes, r)
		}
		for _, v := range []string{"a", "b", "c"} {
			s.wants(v, old.ID, "")
		}
	}
}
