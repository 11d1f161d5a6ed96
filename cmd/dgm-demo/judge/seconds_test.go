package judge

import (
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// A computer that is stuck for 50 ms gets five states at once, and the newest is
// answered.
func TestOverdueStatesMayBeSkipped(t *testing.T) {
	j := newJudge()
	for i := range 500 {
		came := i
		if i >= 100 && i < 105 {
			came = 105
		}
		j.State(state(i, 0, 0), at(came, 0))
		if i < 100 || i >= 103 {
			j.Prediction(prediction(i, 0, 1), at(came, time.Millisecond))
		}
	}
	r := j.Result(true)
	if r.OverdueStates != 4 || r.Overdue != 3 || r.Missing != 0 || r.Answered != 497 { // 104 comes 10 ms late: not too late
		t.Errorf("%+v", r)
	}
	if r.Busy != (Share{Seconds: 1, States: 100, Overdue: 3}) || r.Free != (Share{Seconds: 4, States: 400}) {
		t.Errorf("busy %+v, free %+v", r.Busy, r.Free)
	}
}

// Overdue predictions count where the echo shows that the computer was free.
func TestEchoSeparatesBusySecondsFromFreeOnes(t *testing.T) {
	for _, c := range []struct {
		name string
		slow func(seq int) bool // predictions
		echo func(seq int) time.Duration
		busy int // seconds
		ok   bool
	}{
		{"on time", func(int) bool { return false }, func(int) time.Duration { return time.Millisecond }, 0, true},
		{"overdue while busy", func(seq int) bool { return seq >= 100 && seq < 200 }, func(seq int) time.Duration {
			if seq == 150 {
				return 40 * time.Millisecond
			}
			return time.Millisecond
		}, 1, true},
		{"overdue while free", func(seq int) bool { return seq >= 100 && seq < 200 }, func(int) time.Duration { return time.Millisecond }, 0, false},
		{"overdue while another second is busy", func(seq int) bool { return seq >= 100 && seq < 200 }, func(seq int) time.Duration {
			if seq == 350 {
				return 40 * time.Millisecond
			}
			return time.Millisecond
		}, 1, false},
		{"echoes are lost", func(seq int) bool { return seq >= 100 && seq < 200 }, func(seq int) time.Duration {
			if seq >= 100 && seq < 110 {
				return 0
			}
			return time.Millisecond
		}, 1, true},
	} {
		j := New(Config{K: 2, Period: period, Horizon: horizon, Echo: true})
		for i := range 500 {
			early := i%2 == 0 // the echo arrives before its state
			if d := c.echo(i); d > 0 && early {
				j.Echo(uint64(i), at(i, d))
			}
			j.State(state(i, 0, 0), at(i, 0))
			if i > 0 && c.slow(i-1) {
				j.Prediction(prediction(i-1, 0, 1), at(i, time.Millisecond))
			}
			if !c.slow(i) {
				j.Prediction(prediction(i, 0, 1), at(i, time.Millisecond))
			}
			if d := c.echo(i); d > 0 && !early {
				j.Echo(uint64(i), at(i, d))
			}
		}
		r := j.Result(true)
		if err := r.Check(limits); (err == nil) != c.ok || r.Busy.Seconds != c.busy || r.Busy.Seconds+r.Free.Seconds != 5 || r.Busy.Overdue+r.Free.Overdue != r.Overdue {
			t.Errorf("%s: %v, busy %+v, free %+v", c.name, err, r.Busy, r.Free)
		}
	}
}

// Predictions without history count where the computer was free: a busy one sends late, and a gap ends the history.
func TestHistoryIsMissedWhereTheComputerIsFree(t *testing.T) {
	for _, busy := range []bool{true, false} {
		j := New(Config{K: 2, Period: period, Horizon: horizon, Echo: true})
		for i := range 500 {
			j.State(state(i, 0, 0), at(i, 0))
			echo := time.Millisecond
			if busy && i >= 100 && i < 400 {
				echo = 40 * time.Millisecond
			}
			j.Echo(uint64(i), at(i, echo))
			p := prediction(i, 0, 1)
			if i >= 100 && i < 400 {
				p.Flags |= wire.NoHistory
			}
			j.Prediction(p, at(i, time.Millisecond))
		}
		r := j.Result(true)
		if err := r.Check(limits); (err == nil) != busy || r.NoHistory != 300 || r.Busy.NoHistory+r.Free.NoHistory != 300 {
			t.Errorf("busy %v: %v, busy %+v, free %+v", busy, err, r.Busy, r.Free)
		}
	}
}

// A state that is not answered while the computer is busy is excused where the
// estimator reports it.
func TestMissingWhileBusyNeedsAReason(t *testing.T) {
	for explained, want := range []int{2, 1, 0, 0} {
		j := New(Config{K: 2, Period: period, Horizon: horizon, Echo: true})
		for i := range 500 {
			j.State(state(i, 0, 0), at(i, 0))
			if i != 120 && i != 130 {
				j.Prediction(prediction(i, 0, 1), at(i, time.Millisecond))
			}
			j.Echo(uint64(i), at(i, map[bool]time.Duration{true: 30 * time.Millisecond, false: time.Millisecond}[i == 150]))
		}
		r := j.Result(true)
		r.Explained = explained
		if r.Lost() != want || (r.Check(limits) == nil) != (want == 0) {
			t.Errorf("%d explained: %d lost, %v", explained, r.Lost(), r.Check(limits))
		}
	}
}

// A flight that lasts longer than the memory counts every second once.
func TestSecondsOfALongFlight(t *testing.T) {
	j := newJudge()
	fly(j, 10_000, nil)
	if r := j.Result(true); r.Free != (Share{Seconds: 100, States: 10_000}) || r.Busy != (Share{}) {
		t.Errorf("busy %+v, free %+v", r.Busy, r.Free)
	}
	if a, b := j.Result(false), j.Result(false); a.Free != b.Free {
		t.Errorf("asked twice: %+v and %+v", a.Free, b.Free)
	}
}
