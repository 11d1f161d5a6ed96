package fleet

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A rollout that an earlier version has begun goes back, too.
func TestARolloutThatNotedNothing(t *testing.T) {
	for _, looks := range []int{0, 1} {
		s, old, next := begun(t)
		r, revision, err := get[Rollout](t.Context(), s.c.In.rollouts, "g")
		if err != nil {
			t.Fatal(err)
		}
		r.Before = nil
		r.to(StageCanary, "by an earlier version")
		if _, err := s.c.In.rollouts.Update(t.Context(), "g", encoded(&r), revision); err != nil {
			t.Fatal(err)
		}
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

// waited lets the stage of a rollout have begun so long ago as it may last.
func (s *simulated) waited(group string) {
	s.t.Helper()
	r, revision, err := get[Rollout](s.t.Context(), s.c.In.rollouts, group)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Since = r.Since.Add(-r.Rule.Longest)
	if _, err := s.c.In.rollouts.Update(s.t.Context(), group, encoded(&r), revision); err != nil {
		s.t.Fatal(err)
	}
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

// breaking are stores that accept a number of writes and then no more, as for a process that is killed.
type breaking struct {
	jetstream.KeyValue
	left *int
}

func (b breaking) Update(ctx context.Context, key string, value []byte, last uint64) (uint64, error) {
	if *b.left--; *b.left < 0 {
		return 0, nats.ErrTimeout
	}
	return b.KeyValue.Update(ctx, key, value, last)
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
			in.states, in.rollouts, in.files = breaking{in.states, &left}, breaking{in.rollouts, &left}, breakingObjects{in.files, &left}
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
