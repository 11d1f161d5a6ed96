package node

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/node/internal/prediction"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// computer runs a node by a clock of its own: predictions of the whole horizon take a time, those of less of it less, and a worker
// that waits is woken late.
type computer struct {
	n           *Node
	clock       *clock
	nc          *nats.Conn
	logged      lines
	whole, wake int64 // ns
	states      uint64
	start       int64 // ns, when the first state came
}

const (
	paced      = 10 * ms // between two states
	propagated = 0.3     // what the propagation of a state to its tick takes of the whole horizon
)

// startComputer prepares one on which the whole horizon took a time when the model was loaded.
func startComputer(t *testing.T, whole int64, cfg Config) *computer {
	t.Helper()
	c := &computer{whole: whole, clock: &clock{unix: 5e18 / 4}}
	cfg.Vehicle, cfg.Clock, cfg.Log, cfg.NoTrust = "v1", c.clock.read, c.logged.add, true
	n, err := New(cfg, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	c.n, c.nc = n, connect(t, serve(t, 0).ClientURL(), nil)
	l, w := c.n.worker.engine.Loaded, c.n.worker
	var costs []prediction.Cost
	for _, end := range l.Ladder.Ends {
		costs = append(costs, prediction.Cost{Mean: end * float64(whole)})
	}
	l.Pace = prediction.NewPace(l.Ladder.Ends, costs, propagated*float64(whole)*min(cfg.Rate, 1))
	w.task.Clock = func() (unix, steady int64) { // once for each prediction, when it is ready
		share := l.Ladder.Ends[w.task.Level]
		if w.task.Tick > 0 && w.task.Fresh {
			share += propagated
		}
		c.clock.pass(int64(share * float64(c.whole)))
		return c.clock.read()
	}
	c.start = c.clock.steady
	return c
}

// run lets time pass, s, and returns how many states came, were answered, and were answered late.
func (c *computer) run(seconds int64) (came, answered, late uint64) {
	before, states := c.n.counters.Counts(), c.states
	for end := c.clock.steady + seconds*1000*ms; c.clock.steady < end; {
		for now := c.clock.steady; c.start+int64(c.states)*paced <= now; c.states++ {
			ago := now - (c.start + int64(c.states)*paced)
			c.clock.pass(-ago)
			c.clock.arrive(c.n, c.states, 0, 0.1, 0.2)
			c.clock.pass(ago)
		}
		c.n.status.snapshot.request(false)
		idle := c.n.worker.ended < c.clock.steady
		switch a := c.n.intake.Mailbox.Get(); {
		case a == nil:
			c.clock.pass(paced / 20)
		case idle:
			c.clock.pass(c.wake)
			fallthrough
		default:
			c.n.worker.answer(c.nc, a)
		}
	}
	after := c.n.counters.Counts()
	return c.states - states, after.Published - before.Published, after.Late - before.Late
}

// status returns the status, logged as in operation.
func (c *computer) status() *wire.Status {
	st := c.n.compose(0)
	c.n.logAlarms(st.Alarms())
	return st
}

// A computer that becomes eleven times as slow gets less of the horizon, then fewer states, and is late for a moment only; the
// status, the log and the counts say so, and whose fault it is; with time again all of it comes back, a while later.
func TestPredictionsKeepUpWithABusyComputer(t *testing.T) {
	c := startComputer(t, 4*ms, Config{})
	if came, answered, late := c.run(20); answered != came || late > 0 || c.status().PaceLevel > 0 {
		t.Errorf("with less than half of the time: %d states, %d answered, %d late", came, answered, late)
	}
	c.whole = 9 * ms // more than the share of the time, and not late
	if came, answered, late := c.run(20); answered+1 < came || late > 0 {
		t.Errorf("with nearly all of the time: %d states, %d answered, %d late", came, answered, late)
	}
	if st := c.status(); st.PaceLevel != 1 || st.PaceEvery != 1 || st.PaceReach != 0.5 || !c.logged.has("predictions reach 0.5 s ahead: the whole horizon takes 9 ms") {
		t.Errorf("pace %d, one of %d, reach %v; log %q", st.PaceLevel, st.PaceEvery, st.PaceReach, c.logged.lines)
	}
	c.whole = 45 * ms
	_, _, late := c.run(1)
	came, answered, later := c.run(20)
	if st := c.status(); st.PaceEvery != 2 || later > 0 || late > 50 || answered < came/2-1 {
		t.Errorf("eleven times as slow: one state of %d; %d late and then %d, of %d states %d were answered", st.PaceEvery, late, later, came, answered)
	}
	c.whole = 4 * ms
	if c.run(9); c.status().PaceLevel == 0 {
		t.Error("the horizon is whole at once")
	}
	if c.run(30); c.status().PaceLevel != 0 || c.status().PaceEvery != 1 || !c.logged.has("time is sufficient again") {
		t.Errorf("with time again: level %d; log %q", c.status().PaceLevel, c.logged.lines)
	}
}

// What the computer adds before work begins is not the model's: no horizon is shortened for it.
func TestAComputerThatWakesLateShortensNothing(t *testing.T) {
	c := startComputer(t, 2*ms, Config{})
	c.wake = 9 * ms
	if _, _, late := c.run(20); late == 0 {
		t.Error("none is late")
	}
	if st := c.status(); st.PaceLevel != 0 || st.PaceEvery != 1 || st.PaceEcho < 0.004 {
		t.Errorf("level %d, one state of %d, echo %v s", st.PaceLevel, st.PaceEvery, st.PaceEcho)
	}
}

// A model that is too slow for the states is shortened as soon as their period is known, and named as the cause.
func TestASlowModelIsShortened(t *testing.T) {
	c := startComputer(t, 12*ms, Config{})
	came, answered, late := c.run(20)
	st := c.status()
	if answered+1 < came || late > 64 || st.PaceLevel != 1 || !strings.Contains(st.Alarms()[0].Text, "the model is too slow") {
		t.Errorf("%d states, %d answered, %d late, level %d, alarms %v", came, answered, late, st.PaceLevel, st.Alarms())
	}
}

// Where there is room now and then, it is tried more and more rarely.
func TestAFlutteringComputerIsTriedRarely(t *testing.T) {
	c := startComputer(t, 4*ms, Config{})
	changes, level := 0, uint64(0)
	for range 40 {
		for _, c.whole = range []int64{4 * ms, 9 * ms} {
			c.run(12)
			if l := c.status().PaceLevel; l != level {
				changes, level = changes+1, l
			}
		}
	}
	if changes < 2 || changes > 20 {
		t.Errorf("%d changes in 16 minutes", changes)
	}
}

// In earnest: a model of 12 MB whose predictions take 4 ms, states at 100 Hz, and four processes that do nothing but run.
func TestALargeModelOnABusyComputer(t *testing.T) {
	if os.Getenv("DGM_SLOW") == "" {
		t.Skip("half a minute of load: DGM_SLOW=1")
	}
	m := artificial.New(artificial.Size{K: 12, P: 4, Features: 660, Basis: 1, Points: 50, Horizon: 0.5, Core: []int{640, 640}}, 1)
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	var logged lines
	n, _ := run(t, nc, Config{Clock: SystemClock(), Log: logged.add}, m)
	for range 4 {
		load := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
		if err := load.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = load.Wait() }) // it is killed by then
	}
	tick := time.NewTicker(time.Duration(paced))
	defer tick.Stop()
	for seq := range uint64(2724) {
		<-tick.C
		s := wire.State{Seq: seq, T: time.Now().UnixNano(), X: make([]float64, m.K), U: make([]float64, m.P)}
		if err := nc.Publish(wire.StateSubject("v1"), s.Append(nil)); err != nil {
			t.Fatal(err)
		}
	}
	c := n.counters.Counts()
	t.Logf("%d states, %d predictions, %d of them late; not answered: %s", c.Received, c.Published, c.Late, n.Unused())
	if 2*c.Late > c.Published || !logged.has("predictions reach ") {
		t.Errorf("%d of %d predictions were late; log %q", c.Late, c.Published, logged.lines)
	}
}

// At a fixed rate, with a new state for each tick, the horizon is shortened once, and not tried again as long as it does not fit.
func TestTicksKeepUpWithABusyComputer(t *testing.T) {
	c := startComputer(t, 4*ms, Config{Rate: 100})
	tick := uint64(0)
	run := func(seconds int) (changes int) {
		level := c.n.worker.task.Level
		for range 100 * seconds {
			due := c.start + int64(tick+1)*paced
			if wait := due - c.clock.steady; wait > 0 {
				c.clock.pass(wait)
			}
			c.clock.arrive(c.n, tick, 0, 0.1, 0.2)
			tick++
			c.n.status.snapshot.request(false)
			c.n.worker.tick(c.nc, tick, due)
			if l := c.n.worker.task.Level; l != level {
				level, changes = l, changes+1
			}
		}
		return changes
	}
	if run(10); c.n.worker.task.Level != 0 {
		t.Errorf("level %d with time for all", c.n.worker.task.Level)
	}
	c.whole = 12 * ms
	run(2)
	before := c.n.counters.Counts().Late
	if changes := run(20); changes > 0 || c.status().PaceLevel != 2 || c.n.counters.Counts().Late > before {
		t.Errorf("three times as slow: %d changes, level %d, %d late", changes, c.status().PaceLevel, c.n.counters.Counts().Late-before)
	}
	c.whole = 2 * ms
	if run(20); c.n.worker.task.Level != 0 {
		t.Errorf("level %d with time again", c.n.worker.task.Level)
	}
}
