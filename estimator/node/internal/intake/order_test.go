package intake

import (
	"errors"
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

const ms = int64(1e6)

func TestOrder(t *testing.T) {
	const now = int64(1.7e18)
	for name, c := range map[string]struct {
		robot  bool // clock
		seq    uint64
		t      int64
		steady int64
		want   wire.Reason
	}{
		"next":                    {seq: 11, t: now, steady: 1010 * ms},
		"after a gap":             {seq: 15, t: now, steady: 1010 * ms},
		"again":                   {seq: 10, t: now - 10*ms, steady: 1010 * ms, want: wire.Duplicate},
		"same seq, other time":    {seq: 10, t: now, steady: 1010 * ms, want: wire.OutOfOrder},
		"later seq, same time":    {seq: 11, t: now - 10*ms, steady: 1010 * ms, want: wire.OutOfOrder},
		"before":                  {seq: 9, t: now - 20*ms, steady: 1010 * ms, want: wire.OutOfOrder},
		"sender started again":    {seq: 0, t: now, steady: 1010 * ms, want: wire.OutOfOrder},
		"and is heard after this": {seq: 0, t: now, steady: 1600 * ms},
		"long after, but old":     {seq: 12, t: now - 2000*ms, steady: 9000 * ms, want: wire.Old},
		"a little ahead":          {seq: 11, t: now + 50*ms, steady: 1010 * ms},
		"ahead":                   {seq: 11, t: now + 200*ms, steady: 1010 * ms, want: wire.Future},
		"seq far ahead":           {seq: 1 << 40, t: now, steady: 1010 * ms, want: wire.Jump},
		"far ahead":               {seq: 11, t: math.MaxInt64, steady: 1010 * ms, want: wire.Future},
		"as old as can be":        {seq: 11, t: now - 1000*ms, steady: 9000 * ms, want: wire.Old},
		"long ago":                {seq: 11, t: math.MinInt64, steady: 1010 * ms, want: wire.Old},
		"milliseconds for ns":     {seq: 11, t: now / ms, steady: 1010 * ms, want: wire.Old},
		"time since boot":         {robot: true, seq: 11, t: now, steady: 1010 * ms},
		"boot clock jumps":        {robot: true, seq: 11, t: now + 3600_000*ms, steady: 1010 * ms, want: wire.Jump},
		"boot clock, late":        {robot: true, seq: 11, t: now + 400*ms, steady: 1010 * ms},
		"boot clock, far":         {robot: true, seq: 11, t: math.MaxInt64, steady: 1010 * ms, want: wire.Future},
		"boot clock, far back":    {robot: true, seq: 11, t: math.MinInt64, steady: 1010 * ms, want: wire.Old},
	} {
		o := order{shared: !c.robot, future: 100 * ms, age: 1000 * ms, pace: pace{resync: 500 * ms}}
		o.accept(moment{10, now - 10*ms, 1000 * ms, 10}, now)
		err := o.check(moment{c.seq, c.t, c.steady, 11}, now)
		var e *wire.Error
		if c.want == wire.OK && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.want != wire.OK && (!errors.As(err, &e) || e.Reason != c.want || len(e.Error()) > 200) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// A state that was delayed by more than the resync time is followed by one that was not: the clock did not jump. An hour
// after, a robot's clock that is slow has no more room than then.
func TestTheStateAfterADelayedOneIsNoJump(t *testing.T) {
	for _, shared := range []bool{true, false} {
		o := order{shared: shared, future: 100 * ms, age: 1000 * ms, pace: pace{resync: 500 * ms}}
		accept := func(m moment, unix int64) {
			t.Helper()
			if err := o.check(m, unix); err != nil {
				t.Fatalf("shared %v: seq %d: %v", shared, m.seq, err)
			}
			o.accept(m, unix)
		}
		seq, now := uint64(0), int64(0)
		for ; now < 3600_000*ms; now += 20 * ms {
			seq++
			accept(moment{seq: seq, t: now, at: now, sum: seq}, now)
		}
		accept(moment{seq: seq + 1, t: now, at: now + 900*ms, sum: seq + 1}, now+900*ms)
		accept(moment{seq: seq + 45, t: now + 880*ms, at: now + 901*ms, sum: seq + 45}, now+901*ms)
		if shared {
			continue // a time ahead of the clock is of the future
		}
		ahead := moment{seq: seq + 46, t: now + 1500*ms, at: now + 921*ms, sum: seq + 46}
		if err := o.check(ahead, 0); err == nil {
			t.Error("600 ms ahead of the clock are no jump")
		}
	}
}

func TestOrderMeasuresPeriodAndLoss(t *testing.T) {
	o := order{pace: pace{resync: 500 * ms}}
	for i := range 100 {
		if i%10 == 3 { // lost
			continue
		}
		o.accept(moment{uint64(i), int64(i) * 5 * ms, int64(i) * 5 * ms, 0}, 0)
	}
	if math.Abs(o.period-5e6) > 1 {
		t.Errorf("period %v ns", o.period)
	}
	if o.missed != 10 {
		t.Errorf("%d missed, want 10", o.missed)
	}
	o.accept(moment{1 << 60, 1e9, 1e9, 0}, 0) // a sender gone mad
	o.accept(moment{3, 2e9, 2e9, 0}, 0)       // and started again
	if o.missed != 10 {
		t.Errorf("%d missed after a restart", o.missed)
	}
}

// One state with a wrong seq or time costs itself and at most a few more; a sender
// that did start again is heard soon.
func TestOneOutlierCostsFewStates(t *testing.T) {
	const n, at = 200, 50
	for name, c := range map[string]struct {
		robot  bool
		change func(i int, seq *uint64, t *int64)
		lost   int // at most
	}{
		"nothing":             {false, func(int, *uint64, *int64) {}, 0},
		"seq of one":          {false, func(i int, seq *uint64, _ *int64) { *seq = choose(i == at, 1<<40, *seq) }, 1},
		"seq of one, near":    {false, func(i int, seq *uint64, _ *int64) { *seq = choose(i == at, *seq+5000, *seq) }, 4},
		"seq of one, behind":  {false, func(i int, seq *uint64, _ *int64) { *seq = choose(i == at, 3, *seq) }, 1},
		"seq of the first":    {false, func(i int, seq *uint64, _ *int64) { *seq = choose(i == 0, 1<<40, *seq) }, 4},
		"time of one":         {true, func(i int, _ *uint64, t *int64) { *t = choose(i == at, *t+1e17, *t) }, 1},
		"time of one, near":   {true, func(i int, _ *uint64, t *int64) { *t = choose(i == at, *t+300*ms, *t) }, 4},
		"time of one, behind": {true, func(i int, _ *uint64, t *int64) { *t = choose(i == at, *t-1e17, *t) }, 1},
		"time of the first":   {true, func(i int, _ *uint64, t *int64) { *t = choose(i == 0, *t+1e17, *t) }, 4},
		"time of one, shared": {false, func(i int, _ *uint64, t *int64) { *t = choose(i == at, *t+90*ms, *t) }, 4},
		"both of one": {true, func(i int, seq *uint64, t *int64) {
			*seq, *t = choose(i == at, 1<<50, *seq), choose(i == at, *t+1e17, *t)
		}, 1},
		"clock set ahead": {true, func(i int, _ *uint64, t *int64) { *t = choose(i >= at, *t+1e17, *t) }, 1},
		"clock set back":  {true, func(i int, _ *uint64, t *int64) { *t = choose(i >= at, *t-1e17, *t) }, 3},
		"sender starts again": {true, func(i int, seq *uint64, t *int64) {
			*seq, *t = choose(i >= at, *seq-at, *seq), choose(i >= at, *t-1e15, *t)
		}, 3},
		"sender from far ahead":  {false, func(i int, seq *uint64, _ *int64) { *seq = choose(i >= at, *seq+1<<40, *seq) }, 1},
		"every tenth is corrupt": {false, func(i int, seq *uint64, _ *int64) { *seq = choose(i%10 == 5, *seq+uint64(i)<<40, *seq) }, n / 10},
	} {
		const unix, boot = int64(1.7e18), int64(1e15)
		o := order{shared: !c.robot, future: 100 * ms, age: 1000 * ms, pace: pace{resync: 500 * ms}}
		lost := 0
		for i := range n {
			seq, stamp, now := uint64(1000+i), boot+int64(i)*5*ms, int64(i)*5*ms
			if !c.robot {
				stamp = unix + now
			}
			c.change(i, &seq, &stamp)
			m := moment{seq, stamp, now, uint64(i) + 1}
			if o.check(m, unix+now) != nil {
				lost++
			} else {
				o.accept(m, unix+now)
			}
		}
		if lost > c.lost || (c.lost > 0 && lost == 0) || o.missed > n {
			t.Errorf("%s: %d states are lost, want at most %d; %d missed", name, lost, c.lost, o.missed)
		}
		if math.Abs(o.period-5e6) > 1e5 {
			t.Errorf("%s: period %v ns", name, o.period)
		}
	}
}

// choose returns a if the condition holds, else b.
func choose[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// The states of a second sender that come between those of the first are refused.
func TestTwoSendersAreNotMixed(t *testing.T) {
	o := order{future: 100 * ms, age: 1000 * ms, pace: pace{resync: 500 * ms}}
	for i := range 400 {
		now := int64(i) * 5 * ms
		seq, stamp := uint64(1000+i), now
		if i%2 == 1 {
			seq, stamp = uint64(i), now-3*ms
		}
		m := moment{seq, stamp, now, uint64(i) + 1}
		err := o.check(m, 0)
		if i > 1 && (err == nil) != (i%2 == 0) {
			t.Fatalf("state %d of sender %d: %v", i, i%2, err)
		}
		if err == nil {
			o.accept(m, 0)
		}
	}
}
