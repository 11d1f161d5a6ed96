package node

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// heavy is a valid model of the pendulum that needs about 1.7 GB.
func heavy() *model.Model {
	return artificial.New(artificial.Size{K: 2, P: 1, Features: 20, Basis: 1, Points: 10000, Horizon: 1, Core: []int{2000, 1000}}, 1)
}

// slowing is a clock on which every prediction takes a time, as on a slow computer.
type slowing struct{ took, ns atomic.Int64 }

func (c *slowing) read() (unix, steady int64) {
	ns := c.ns.Add(1000 + c.took.Load())
	return 5e18/4 + ns, ns
}

// refusedFor requires that a model is refused for a reason, and the old one stays.
func refusedFor(t *testing.T, n *Node, m *model.Model, part string) {
	t.Helper()
	before := n.Model()
	err := n.Swap(m)
	if err == nil || !strings.Contains(err.Error(), part) || n.Model() != before || n.models.next.Load() != nil {
		t.Errorf("%v, model %s is in use", err, n.Model())
	}
	if st := n.compose(0); !strings.Contains(st.Refused, part) {
		t.Errorf("status %q", st.Refused)
	}
}

func TestAModelThatNeedsTooMuchMemoryIsRefused(t *testing.T) {
	n, err := New(Config{Vehicle: "v1", MaxMemory: 1 << 30}, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	refusedFor(t, n, heavy(), "MB of memory")
	if _, err := New(Config{Vehicle: "v1", MaxMemory: 1 << 20}, heavy()); err == nil {
		t.Error("a node begins with a model that needs too much memory")
	}
}

func TestAModelThatIsTooSlowIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		cfg    Config
		period time.Duration // of the states
		took   time.Duration
		part   string // "" = it is accepted
	}{
		"deadline":             {Config{Deadline: 5 * time.Millisecond}, 0, 6 * time.Millisecond, "the deadline is 5ms"},
		"within the deadline":  {Config{Deadline: 5 * time.Millisecond}, 0, 4 * time.Millisecond, ""},
		"rate":                 {Config{Rate: 500}, 0, 3 * time.Millisecond, "two ticks is 2ms"},
		"states":               {Config{}, 10 * time.Millisecond, 11 * time.Millisecond, "two states is 10ms"},
		"between the states":   {Config{}, 10 * time.Millisecond, 9 * time.Millisecond, ""},
		"no states yet":        {Config{}, 0, 300 * time.Millisecond, "a quarter of the validity"},
		"of a slow robot":      {Config{}, time.Second, 300 * time.Millisecond, "a quarter of the validity"},
		"slow, and in time":    {Config{}, time.Second, 200 * time.Millisecond, ""},
		"with a long deadline": {Config{Deadline: time.Second}, 0, 300 * time.Millisecond, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var clock slowing
			c.cfg.Vehicle, c.cfg.Clock = "v1", clock.read
			n, err := New(c.cfg, pendulum())
			if err != nil {
				t.Fatal(err)
			}
			n.models.period.Store(int64(c.period))
			clock.took.Store(int64(c.took))
			if c.part != "" {
				refusedFor(t, n, otherPendulum(2), c.part)
			} else if err := n.Swap(otherPendulum(2)); err != nil {
				t.Error(err)
			}
		})
	}
}

// A model of a bucket that was refused is not tried by another watch, one that changed is.
func TestARefusedModelIsTriedOnce(t *testing.T) {
	url := start(t, &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir()}).ClientURL()
	client := connect(t, url, nil)
	_, bucket := modelBucket(t, client)
	var clock slowing
	var logged lines
	n, _ := run(t, connect(t, url, nil), Config{Log: logged.add, Clock: clock.read, Deadline: time.Millisecond}, pendulum())
	clock.took.Store(int64(10 * time.Millisecond))
	if _, err := bucket.PutBytes("v1.dgm", signedFile(t, otherPendulum(2), nil)); err != nil {
		t.Fatal(err)
	}
	end := watchBucket(t, n, client)
	eventually(t, "the model is refused", func() bool { return logged.has("the deadline is 1ms") })
	end()
	clock.took.Store(0) // now it would be fast enough
	n.models.refused.Store(nil)
	watchBucket(t, n, client)
	eventually(t, "the status has the reason again", func() bool { return n.models.refused.Load() != nil })
	if n.models.swaps.Load() != 0 || !strings.Contains(*n.models.refused.Load(), "the deadline is 1ms") {
		t.Errorf("%d swaps, refused %q", n.models.swaps.Load(), *n.models.refused.Load())
	}
	changed := otherPendulum(3)
	if _, err := bucket.PutBytes("v1.dgm", signedFile(t, changed, nil)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the changed model is in use", func() bool { return n.Model() == changed.ID })
}

// A model that was in use is gone back to, however busy the computer is by then.
func TestARollbackIsNotRefusedForItsTime(t *testing.T) {
	var clock slowing
	a := pendulum()
	n, err := New(Config{Vehicle: "v1", Clock: clock.read, Deadline: time.Millisecond}, a)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Swap(otherPendulum(2)); err != nil {
		t.Fatal(err)
	}
	clock.took.Store(int64(10 * time.Millisecond))
	if _, err := n.Rollback(); err != nil || n.Model() != a.ID {
		t.Errorf("%v, model %s", err, n.Model())
	}
	if err := n.Swap(otherPendulum(3)); err == nil {
		t.Error("another one is accepted")
	}
}

// Whether states come with a covariance is known from the last one.
func TestTheLastStateShowsWhetherItHasACovariance(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	n, err := New(Config{Vehicle: "v1", Clock: testClock.read}, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	for seq, P0 := range [][]float64{nil, {1e-4, 0, 0, 1e-4}, nil} {
		s := wire.State{Seq: uint64(seq), T: testClock.unix() + int64(seq), X: []float64{0, 0}, P0: P0}
		n.intake.Receive(s.Append(nil), epoch(nc))
		n.worker.answer(nc, n.intake.Mailbox.Get())
		if n.models.covariance.Load() != (P0 != nil) {
			t.Errorf("state %d has %v", seq, P0)
		}
	}
}
