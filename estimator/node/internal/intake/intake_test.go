package intake

import (
	"math"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/node/internal/reporting"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// stream feeds an intake with the states of robots that send every 10 ms.
type stream struct {
	*Intake
	counters *reporting.Counters
	robot    bool  // clock
	now      int64 // ns, steady
	buf      []byte
}

func newStream(robot bool) *stream {
	s := &stream{robot: robot, counters: &reporting.Counters{}}
	m := artificial.New(artificial.Size{K: 2, P: 1, Features: 20, Basis: 1, Points: 10, Horizon: 1}, 1)
	s.Intake = New(Config{
		RobotClock: robot, MaxFuture: 100 * ms, MaxAge: 1000 * ms, Oldest: 1000 * ms, Resync: 500 * ms, Hold: 32,
		Clock: func() (unix, steady int64) { return 17e17 + s.now, s.now },
	}, m, s.counters)
	return s
}

// message returns a state, encoded.
func (s *stream) message(seq uint64, started int64) []byte {
	state := s.state(seq, started)
	return state.Append(nil)
}

// state returns a state measured now, by the clock of a robot that started at a steady
// time.
func (s *stream) state(seq uint64, started int64) wire.State {
	t := 17e17 + s.now
	if s.robot {
		t = s.now - started
	}
	return wire.State{Seq: seq, T: t, X: []float64{0.3 * math.Sin(float64(seq)), 0.1}, U: []float64{0}}
}

// arrive receives a message and reports whether its state is handed on.
func (s *stream) arrive(message []byte) bool {
	s.Receive(message, 0)
	any := false
	for s.Mailbox.Get() != nil {
		any = true
	}
	return any
}

// fly receives n states of a robot and returns their messages and how many are handed on.
func (s *stream) fly(n int, seq uint64, started int64) (sent [][]byte, taken int) {
	for i := range n {
		s.now += 10 * ms
		m := s.message(seq+uint64(i), started)
		sent = append(sent, m)
		if s.arrive(m) {
			taken++
		}
	}
	return sent, taken
}

func bothClocks(t *testing.T, f func(t *testing.T, robot bool)) {
	t.Helper()
	for name, robot := range map[string]bool{"shared clock": false, "robot's clock": true} {
		t.Run(name, func(t *testing.T) { f(t, robot) })
	}
}

// A burst of states that a link delivers again is not answered again, at once, later, or
// after the sender was silent, and the states after it are.
func TestABurstThatComesAgainIsRefused(t *testing.T) {
	bothClocks(t, func(t *testing.T, robot bool) {
		for name, c := range map[string]struct{ later, silence int }{
			"at once": {}, "a little later": {later: 30}, "after a silence": {silence: 60}, "after a long flight": {later: 3000},
		} {
			s := newStream(robot)
			sent, n := s.fly(100, 1, 0)
			_, more := s.fly(c.later, 101, 0)
			if n != 100 || more != c.later {
				t.Fatalf("%s: %d and %d states are taken", name, n, more)
			}
			s.now += int64(c.silence) * 10 * ms
			again := 0
			for _, m := range sent[80:] {
				s.now += ms / 100
				if s.arrive(m) {
					again++
				}
			}
			_, after := s.fly(20, uint64(101+c.later+c.silence), 0)
			if again != 0 || after != 20 {
				t.Errorf("%s: %d of 20 states are taken twice, and %d of the 20 after them once", name, again, after)
			}
		}
	})
}

// At 1 kHz and with a long horizon, 200 states of two seconds ago come again while the sender is
// silent, and while it sends again: none is answered again, and all that it sends are.
func TestABurstOfLongAgoIsRefusedAtAKilohertz(t *testing.T) {
	bothClocks(t, func(t *testing.T, robot bool) {
		for _, silence := range []int64{0, 490 * ms, 510 * ms, 2000 * ms} {
			for _, reversed := range []bool{false, true} {
				s := newStream(robot)
				s.cfg.MaxAge, s.cfg.Oldest, s.order.age = 4000*ms, 4000*ms, 4000*ms
				var sent [][]byte
				next := func() {
					s.now += ms
					sent = append(sent, s.message(uint64(s.now/ms), 0))
				}
				for range 5000 {
					if next(); !s.arrive(sent[len(sent)-1]) {
						t.Fatalf("state %d is refused", len(sent))
					}
				}
				s.now += silence
				burst := slices.Clone(sent[2800:3000])
				if reversed {
					slices.Reverse(burst)
				}
				again, lost := 0, 0
				for i, m := range burst {
					if i < 100 {
						s.now += ms
					} else if next(); !s.arrive(sent[len(sent)-1]) {
						lost++
					}
					if s.arrive(m) {
						again++
					}
				}
				if again > 0 || lost > 0 {
					t.Errorf("after %d ms, reversed %v: %d of 200 are taken again, %d of 100 live ones are lost", silence/ms, reversed, again, lost)
				}
			}
		}
	})
}

// A sender that starts again is heard: with its clock, where that is its own, also with
// the same states.
func TestARestartedSenderIsHeard(t *testing.T) {
	bothClocks(t, func(t *testing.T, robot bool) {
		for name, c := range map[string]struct {
			silence int64 // ns
			first   uint64
			lost    int // at most
		}{
			"at once":              {0, 9000, 3},
			"at once, from seq 1":  {0, 1, 60},
			"after a second":       {1000 * ms, 9000, 3},
			"a second, from seq 1": {1000 * ms, 1, 60},
		} {
			s := newStream(robot)
			s.fly(200, 1, 0)
			s.now += c.silence
			_, n := s.fly(300, c.first, s.now)
			if n < 300-c.lost {
				t.Errorf("%s: %d of 300 states are taken", name, n)
			}
		}
	})
}

// A second robot under the same name is named as the reason, and one that has its states
// delivered twice, late or out of order is not.
func TestASecondSenderIsNamed(t *testing.T) {
	bothClocks(t, func(t *testing.T, robot bool) {
		for name, c := range map[string]struct {
			second func(s *stream, i int, first [][]byte)
			named  bool
		}{
			"none":          {func(*stream, int, [][]byte) {}, false},
			"other numbers": {func(s *stream, i int, _ [][]byte) { s.arrive(s.message(uint64(1+i), -700*ms)) }, true},
			"far ahead":     {func(s *stream, i int, _ [][]byte) { s.arrive(s.message(uint64(1e9+i), -700*ms)) }, true},
			"same numbers":  {func(s *stream, i int, _ [][]byte) { s.arrive(s.message(uint64(5000+i), 0)) }, true},
			"delivered twice": {func(s *stream, i int, first [][]byte) {
				if i > 5 {
					s.arrive(first[i-5])
				}
			}, false},
		} {
			s := newStream(robot)
			var sent [][]byte
			taken := 0
			for i := range 300 {
				s.now += 7 * ms
				m := s.message(uint64(5000+i), 0)
				sent = append(sent, m)
				if s.arrive(m) {
					taken++
				}
				s.now += 3 * ms
				c.second(s, i, sent)
			}
			if named := s.counters.Counts().Reasons[wire.SecondSender]; (named > 0) != c.named || c.named && named < 250 || taken < 299 {
				t.Errorf("%s: %d states are of a second sender, %d of the first are taken", name, named, taken)
			}
		}
		// The first one loses a few in a row: the second does not take its place.
		s := newStream(robot)
		other := uint64(1)
		for i := range 300 {
			s.now += 7 * ms
			if i < 50 || i%20 > 8 {
				s.arrive(s.message(uint64(5000+i), 0))
			}
			s.now += 3 * ms
			if s.arrive(s.message(other, -200*ms)) {
				t.Fatalf("state %d of the second sender is taken", other)
			}
			other++
		}
		// Every third state comes 50 ms late.
		s = newStream(robot)
		var late [][]byte
		for i := range 300 {
			s.now += 10 * ms
			if m := s.message(uint64(i), 0); i%3 == 0 {
				late = append(late, m)
			} else {
				s.arrive(m)
			}
			if i%3 == 2 && len(late) > 2 {
				s.arrive(late[len(late)-3])
			}
		}
		if n := s.counters.Counts().Reasons; n[wire.SecondSender] > 0 || n[wire.OutOfOrder] < 90 {
			t.Errorf("of states out of order: %v", n)
		}
	})
}

// A corrupt sequence number does not count as lost states, whatever comes after it.
func TestOneCorruptNumberIsNoLoss(t *testing.T) {
	bothClocks(t, func(t *testing.T, robot bool) {
		for name, c := range map[string]struct {
			before  int
			corrupt uint64
			silence int64
		}{
			"in flight": {100, 1e6, 0}, "before a silence": {100, 1e6, 600 * ms}, "the second": {1, 1e6, 600 * ms}, "small": {100, 10000, 600 * ms},
		} {
			s := newStream(robot)
			s.fly(c.before, 1, 0)
			s.now += 10 * ms
			s.arrive(s.message(c.corrupt, 0))
			s.now += c.silence
			s.fly(100, uint64(2+c.before), 0)
			if missed := s.counters.Counts().Missed; missed > 1 {
				t.Errorf("%s: %d missed", name, missed)
			}
		}
	})
}

// A refused state was received, whatever is wrong with it, and one that comes after a later
// one was, too.
func TestARefusedStateIsNoLoss(t *testing.T) {
	short := func(s *wire.State) { s.X = s.X[:1] }
	bothClocks(t, func(t *testing.T, robot bool) {
		for name, c := range map[string]struct {
			spoil  func(s *wire.State)
			bad    func(i int) bool // is spoilt
			lost   func(i int) bool
			again  bool // each bad one is delivered twice
			missed uint64
		}{
			"size":             {spoil: short, bad: func(i int) bool { return i%30 == 7 }},
			"layout":           {spoil: func(s *wire.State) { s.Layout = "0123456789abcdef" }, bad: func(i int) bool { return i%30 == 7 }},
			"nan":              {spoil: func(s *wire.State) { s.X[1] = math.NaN() }, bad: func(i int) bool { return i%30 == 7 }},
			"time":             {spoil: func(s *wire.State) { s.T -= 3600_000 * ms }, bad: func(i int) bool { return i%30 == 7 }},
			"for ten seconds":  {spoil: short, bad: func(i int) bool { return i > 500 && i < 1600 }},
			"twice":            {spoil: short, bad: func(i int) bool { return i%30 == 7 }, again: true},
			"and others lost":  {spoil: short, bad: func(i int) bool { return i%30 == 7 }, lost: func(i int) bool { return i%30 == 8 }, missed: 60},
			"twice and others": {spoil: short, bad: func(i int) bool { return i%30 == 7 }, again: true, lost: func(i int) bool { return i%30 == 8 }, missed: 60},
		} {
			s := newStream(robot)
			for i := range 1801 {
				s.now += 10 * ms
				state := s.state(uint64(i), 0)
				switch {
				case c.lost != nil && c.lost(i):
					continue
				case c.bad(i):
					c.spoil(&state)
					if c.again {
						s.arrive(state.Append(nil))
					}
				}
				if taken := s.arrive(state.Append(nil)); taken == c.bad(i) {
					t.Fatalf("%s: state %d is taken: %v", name, i, taken)
				}
			}
			if missed := s.counters.Counts().Missed; missed != c.missed {
				t.Errorf("%s: %d missed, want %d", name, missed, c.missed)
			}
		}
		// Every third state comes 50 ms late, twice.
		s := newStream(robot)
		var late [][]byte
		for i := range 301 {
			s.now += 10 * ms
			if m := s.message(uint64(i), 0); i%3 == 2 {
				late = append(late, m)
			} else {
				s.arrive(m)
			}
			if i%3 == 1 && len(late) > 1 {
				s.arrive(late[len(late)-2])
				s.arrive(late[len(late)-2])
			}
		}
		if n := s.counters.Counts(); n.Reasons[wire.OutOfOrder] < 98 || n.Missed > 2 {
			t.Errorf("of states out of order: %v, %d missed", n.Reasons, n.Missed)
		}
	})
}

func TestReceiveAllocatesNothing(t *testing.T) {
	s := newStream(false)
	sent, _ := s.fly(1100, 1, 0)
	seq := uint64(1100)
	state := wire.State{X: []float64{0, 0}, U: []float64{0}}
	if n := testing.AllocsPerRun(1000, func() {
		s.now += 10 * ms
		seq++
		state.Seq, state.T = seq, 17e17+s.now
		s.buf = state.Append(s.buf[:0])
		s.Receive(s.buf, 0)
		s.Mailbox.Get()
	}); n != 0 {
		t.Errorf("%v allocations for a state", n)
	}
	if s.arrive(sent[1000]) {
		t.Error("a state is taken twice")
	}
}
