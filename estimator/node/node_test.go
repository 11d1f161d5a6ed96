package node

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

func TestEveryStateIsAnswered(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	m := pendulum()
	n, _ := run(t, nc, Config{NoTrust: true}, m)
	predictions := listen(t, nc, wire.AllPredictions)
	statuses := listen(t, nc, wire.StatusSubject("v1"))

	predictor, err := estimator.NewFast(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := predictor.NewPrediction()
	for seq := range uint64(50) {
		s := wire.State{Seq: seq, T: testClock.unix(), X: []float64{0.01 * float64(seq), -0.2}}
		q := estimator.Query{X0: s.X}
		var flags wire.Flags
		inputs := "hold"
		switch seq % 3 {
		case 1:
			s.U = []float64{0.5}
			q.U = s.U
		case 2:
			s.Plan, s.PlanDt, s.P0 = []float64{0.5, 0.25, 0}, 1./3, []float64{1e-3, 0, 0, 1e-3}
			q.Plan, q.P0 = s.Plan, s.P0
			inputs, flags = "plan", wire.CarriedCovariance
		}
		if err := nc.Publish(wire.StateSubject("v1"), s.Append(nil)); err != nil {
			t.Fatal(err)
		}
		got := predictions.prediction()
		if !predictor.Predict(want, &q) {
			t.Fatal("no prediction")
		}
		got.Flags &^= wire.Late // other goroutines read the clock too
		if d := cmp.Diff(&wire.Prediction{
			Vehicle: "v1", Model: m.ID, Instance: n.Instance(), Seq: seq, T: s.T, ValidUntil: s.T + 1e9,
			Channels: []string{"x0", "x1"}, Units: []string{"m", "m"},
			Horizon: want.Times, Mean: want.Mean, Std: want.Std, ObsStd: want.ObsStd,
			Inputs: inputs, Flags: flags, OOD: want.OOD,
		}, got); d != "" {
			t.Fatalf("prediction %d: %s", seq, d)
		}
	}
	st := statuses.status("50 answers", func(s *wire.Status) bool { return s.Published == 50 })
	if st.Received != 50 || len(st.Reasons) > 0 || st.Input != wire.InputLive || st.InputAge < 0 || st.Missed != 0 || st.Model != m.ID || len(st.Others) > 0 {
		t.Errorf("status %+v", st)
	}
	if st.LatencyMax > 0 && !(st.LatencyP50 <= st.LatencyP99 && st.LatencyP99 <= st.LatencyMax && st.Allocs >= 0) {
		t.Errorf("latencies and allocations %+v", st)
	}
}

func TestWarningsAreFlagged(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	m := pendulum()
	m.Provenance.Partial = "stopped by the user"
	run(t, nc, Config{Deadline: time.Microsecond}, m)
	predictions := listen(t, nc, wire.AllPredictions)
	statuses := listen(t, nc, wire.StatusSubject("v1"))
	s := wire.State{Seq: 1, T: testClock.unix(), X: []float64{1e4, 0}}
	if err := nc.Publish(wire.StateSubject("v1"), s.Append(nil)); err != nil {
		t.Fatal(err)
	}
	p := predictions.prediction()
	if want := wire.OutOfDistribution | wire.Late | wire.Partial | wire.Shortened; p.Flags != want || p.OOD <= 1 {
		t.Errorf("flags %b, want %b; score %v", p.Flags, want, p.OOD)
	}
	statuses.status("one late", func(s *wire.Status) bool { return s.Late == 1 })
}

func TestBadMessagesAreCountedByReasonAndDropped(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	run(t, nc, Config{}, pendulum())
	predictions := listen(t, nc, wire.AllPredictions)
	statuses := listen(t, nc, wire.StatusSubject("v1"))

	now := testClock.unix
	good := func(seq uint64) wire.State { return wire.State{Seq: seq, T: now(), X: []float64{0.1, 0.2}} }
	with := func(change func(s *wire.State)) []byte {
		s := good(100)
		change(&s)
		return s.Append(nil)
	}
	first := good(2)
	send := func(b []byte) {
		if err := nc.Publish(wire.StateSubject("v1"), b); err != nil {
			t.Fatal(err)
		}
	}
	send(first.Append(nil))
	predictions.prediction()
	want := map[string]uint64{}
	for _, c := range []struct {
		reason wire.Reason
		b      []byte
	}{
		{wire.Malformed, nil},
		{wire.Malformed, []byte("{\"x\": [1, 2]}")},
		{wire.Malformed, []byte{0x81, 0xa1, 'x', 0xc6, 0x7f, 0xff, 0xff, 0xff}},
		{wire.Malformed, append(with(func(*wire.State) {}), 1)},
		{wire.WrongVersion, append([]byte{0x84, 0xa1, 'v', 2}, with(func(*wire.State) {})[4:]...)},
		{wire.WrongLayout, with(func(s *wire.State) { s.Layout = "0000000000000000" })},
		{wire.WrongSize, with(func(s *wire.State) { s.X = []float64{1} })},
		{wire.WrongSize, with(func(s *wire.State) { s.X = make([]float64, 100000) })},
		{wire.WrongSize, with(func(s *wire.State) { s.U = []float64{1, 2} })},
		{wire.WrongSize, with(func(s *wire.State) { s.P0 = []float64{1, 2} })},
		{wire.NotANumber, with(func(s *wire.State) { s.X[0] = math.NaN() })},
		{wire.NotANumber, with(func(s *wire.State) { s.Plan = []float64{math.Inf(-1)} })},
		{wire.Magnitude, with(func(s *wire.State) { s.X[0] = 1e154 })}, // finite, and an angle
		{wire.Magnitude, with(func(s *wire.State) { s.X[1] = -1e16 })},
		{wire.Covariance, with(func(s *wire.State) { s.P0 = []float64{1, 0, 0, -1} })},
		{wire.Covariance, with(func(s *wire.State) { s.P0 = []float64{1, 1, -1, 1} })},
		{wire.Covariance, with(func(s *wire.State) { s.P0 = []float64{1e30, 0, 0, 1} })},
		{wire.Future, with(func(s *wire.State) { s.T += int64(time.Hour) })},
		{wire.Old, with(func(s *wire.State) { s.T -= int64(time.Hour) })},
		{wire.OutOfOrder, with(func(s *wire.State) { s.Seq, s.T = 1, first.T-1000 })},
		{wire.Jump, with(func(s *wire.State) { s.Seq = 1 << 40 })},
		{wire.Duplicate, first.Append(nil)},
	} {
		want[c.reason.String()]++
		send(c.b)
	}
	last := good(3)
	send(last.Append(nil))
	if p := predictions.prediction(); p.Seq != 3 {
		t.Errorf("after bad messages seq %d was answered", p.Seq)
	}
	st := statuses.status("two answers", func(s *wire.Status) bool { return s.Published == 2 })
	if d := cmp.Diff(want, counts(st)); d != "" {
		t.Errorf("reasons: %s", d)
	}
	sum := st.Published
	for _, r := range st.Reasons {
		sum += r.Count
		if r.Text == "" || r.Last == "" || !strings.HasPrefix(r.Last, r.Reason) {
			t.Errorf("reason without a sentence: %+v", r)
		}
	}
	if sum != st.Received {
		t.Errorf("%d came, %d are accounted for", st.Received, sum)
	}
}

// Of more states than a burst is of the newest is answered, and the others are counted.
func TestNewestStateWins(t *testing.T) {
	n, err := New(Config{Vehicle: "v1", Clock: testClock.read}, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	for seq := range uint64(burst + 1) {
		s := wire.State{Seq: seq, T: testClock.unix(), X: []float64{0, 0}}
		n.intake.Receive(s.Append(nil), 0)
		n.intake.Receive([]byte("a bad message does not displace a good one"), 0)
	}
	if a := n.intake.Mailbox.Get(); a == nil || a.State.Seq != burst || n.intake.Mailbox.Get() != nil {
		t.Errorf("in the mailbox: %+v", a)
	}
	if n.counters.Counts().Reasons[wire.Replaced] != burst || n.counters.Counts().Reasons[wire.Malformed] != burst+1 {
		t.Errorf("counted %v", n.counters.Counts().Reasons)
	}
}

// States that come together are all answered, in order: the last with all of the
// horizon, those before it with its beginning, flagged.
func TestABurstIsAnswered(t *testing.T) {
	n, c, nc, predictions := offline(t, Config{})
	for seq := range uint64(burst) {
		c.arrive(n, seq, 0, 0.1, 0.2)
		c.pass(ms)
	}
	for range burst {
		n.worker.answer(nc, n.intake.Mailbox.Get())
	}
	whole := len(n.Times())
	if end := n.Times()[whole/2-1]; end < 0.1+4e-3 {
		t.Fatalf("half of the horizon ends after %v s: no beginning of it is worth sending", end)
	}
	for seq := range uint64(burst) {
		p := predictions.prediction()
		last := seq == burst-1
		if p.Seq != seq || (len(p.Horizon) == whole) != last || (p.Flags&wire.Shortened == 0) != last {
			t.Errorf("answer %d is for state %d, %d of %d points, flags %b", seq, p.Seq, len(p.Horizon), whole, p.Flags)
		}
	}
}

func TestAgesUseTheConfiguredClock(t *testing.T) {
	var unix, steady int64 = 5e18 / 4, 0
	n, err := New(Config{Vehicle: "v1", Clock: func() (int64, int64) { return unix, steady }}, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	offer := func(seq uint64, age int64) wire.Reason {
		before := n.counters.Counts().Reasons
		s := wire.State{Seq: seq, T: unix - age, X: []float64{0, 0}}
		n.intake.Receive(s.Append(nil), 0)
		for r, c := range n.counters.Counts().Reasons {
			if c != before[r] && wire.Reason(r) != wire.Replaced {
				return wire.Reason(r)
			}
		}
		return wire.OK
	}
	for i, c := range []struct {
		seq  uint64
		pass int64 // ns before it comes
		age  int64
		want wire.Reason
	}{
		{1, 0, 0, wire.OK},
		{2, 10 * ms, 5 * ms, wire.OK},
		{1, 10 * ms, 5 * ms, wire.OutOfOrder},
		{3, 10 * ms, -101 * ms, wire.Future},
		{3, 10 * ms, 1000 * ms, wire.Old},
		{0, 501 * ms, 5 * ms, wire.OK},
	} {
		unix, steady = unix+c.pass, steady+c.pass
		if got := offer(c.seq, c.age); got != c.want {
			t.Errorf("state %d: %v, want %v", i, got, c.want)
		}
	}
	st := n.compose(0)
	if st.Input != wire.InputLive || st.InputAge != 0 || st.T != unix {
		t.Errorf("status %+v", st)
	}
	steady += 1001 * ms
	if st := n.compose(0); st.Input != wire.InputStale || math.Abs(st.InputAge-1.001) > 1e-9 {
		t.Errorf("a second later: %s, %v s", st.Input, st.InputAge)
	}
}

// A robot's clock that is set back has its states taken again at once, not when
// what was known of the clock before is forgotten.
func TestAClockSetBackIsFollowed(t *testing.T) {
	var steady int64
	n, err := New(Config{Vehicle: "v1", RobotClock: true, Clock: func() (int64, int64) { return 5e18 / 4, steady }}, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	boot := int64(1e17)
	for i := range uint64(200) {
		if i == 100 {
			boot -= 9e16
		}
		s := wire.State{Seq: i, T: boot + steady, X: []float64{0, 0}}
		n.intake.Receive(s.Append(nil), 0)
		steady += 5 * ms
	}
	if c := n.counters.Counts().Reasons; c[wire.OutOfOrder] != 3 || c[wire.Replaced] != (200-4)/burst*burst {
		t.Errorf("counted %v", c)
	}
}

func TestNothingIsAllocatedForAMessage(t *testing.T) {
	// Closed, so that what nats.go does is left out.
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	nc.Close()
	const now = 5e18 / 4
	// A clock that stands still: no state grows old however slow the machine is.
	n, err := New(Config{Vehicle: "v1", Clock: func() (int64, int64) { return now, 0 }}, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	s := wire.State{T: now, X: []float64{0, 0}, P0: []float64{1e-3, 0, 0, 1e-3}, U: []float64{0}, Plan: []float64{1, 0}, Layout: wire.Layout(n.models.current.Channels)}
	var b []byte
	cycle := func() {
		s.Seq++
		s.T += 1000
		b = s.Append(b[:0])
		n.intake.Receive(b, 0)
		a := n.intake.Mailbox.Get()
		if a == nil {
			t.Fatal("it was refused")
		}
		n.worker.answer(nc, a)
	}
	for range 3 { // each arrival takes its memory once
		cycle()
	}
	if got := testing.AllocsPerRun(200, cycle); got != 0 {
		t.Errorf("%v allocations", got)
	}
	if n.counters.Counts().Reasons[wire.Disconnected] == 0 {
		t.Error("a closed connection took a prediction")
	}
	st := n.compose(0)
	b = st.Append(b[:0])
	if got := testing.AllocsPerRun(20, func() { b = st.Append(b[:0]) }); got != 0 {
		t.Errorf("status: %v allocations", got)
	}
}

func TestWhatCannotBeServedIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  Config
		part string
	}{
		"dotted vehicle": {Config{Vehicle: "a.b"}, "cannot be part of a subject"},
		"beyond":         {Config{Times: []float64{0.5, 2}}, "outside the model's horizon"},
		"no times":       {Config{Times: []float64{}}, "0 times"},
		"descending":     {Config{Times: []float64{0.5, 0.2}}, "must ascend"},
		"negative":       {Config{MaxFuture: -1}, "max_future"},
	} {
		if _, err := New(c.cfg, pendulum()); err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m := pendulum()
	n, err := New(Config{Times: []float64{0.25, 0.5}, MaxAge: time.Hour, Validity: time.Hour}, m)
	if err != nil {
		t.Fatal(err)
	}
	if n.Vehicle() != m.Vehicle || n.cfg.Validity != 500*time.Millisecond || n.cfg.MaxAge != n.cfg.Validity {
		t.Errorf("completed to %+v", n.cfg)
	}
}

// A message of a sender in another language: plain arrays, unknown fields.
func TestPlainArraysAreAnswered(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	run(t, nc, Config{RobotClock: true}, pendulum())
	predictions := listen(t, nc, wire.AllPredictions)
	b := msgbin.Append(nil, func(w *msgbin.Writer) {
		w.Map(5)
		w.String("v")
		w.Int(1)
		w.String("seq")
		w.Float64(1)
		w.String("t")
		w.Float64(12e9) // since boot
		w.String("remark")
		w.Nil()
		w.String("x")
		w.Array(2)
		w.Int(1)
		w.Int(2)
	})
	if err := nc.Publish(wire.StateSubject("v1"), b); err != nil {
		t.Fatal(err)
	}
	if p := predictions.prediction(); p.T != 12e9 || p.ValidUntil != 13e9 {
		t.Errorf("answered %d, %d", p.T, p.ValidUntil)
	}
}
