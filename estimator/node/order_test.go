package node

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
		"far ahead":               {seq: 11, t: math.MaxInt64, steady: 1010 * ms, want: wire.Future},
		"as old as can be":        {seq: 11, t: now - 1000*ms, steady: 9000 * ms, want: wire.Old},
		"long ago":                {seq: 11, t: math.MinInt64, steady: 1010 * ms, want: wire.Old},
		"milliseconds for ns":     {seq: 11, t: now / ms, steady: 1010 * ms, want: wire.Old},
		"time since boot":         {robot: true, seq: 11, t: now + 3600_000*ms, steady: 1010 * ms},
		"boot clock, far":         {robot: true, seq: 11, t: math.MaxInt64, steady: 1010 * ms, want: wire.Future},
		"boot clock, far back":    {robot: true, seq: 11, t: math.MinInt64, steady: 1010 * ms, want: wire.Old},
	} {
		o := order{shared: !c.robot, future: 100 * ms, age: 1000 * ms, resync: 500 * ms}
		o.take(10, now-10*ms, 1000*ms)
		err := o.check(c.seq, c.t, now, c.steady)
		var e *wire.Error
		if c.want == wire.OK && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.want != wire.OK && (!errors.As(err, &e) || e.Reason != c.want || len(e.Error()) > 200) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestOrderMeasuresPeriodAndLoss(t *testing.T) {
	o := order{resync: 500 * ms}
	for i := range 100 {
		if i%10 == 3 { // lost
			continue
		}
		o.take(uint64(i), int64(i)*5*ms, int64(i)*5*ms)
	}
	if math.Abs(o.period-5e6) > 1 {
		t.Errorf("period %v ns", o.period)
	}
	if o.missed != 10 {
		t.Errorf("%d missed, want 10", o.missed)
	}
	o.take(1<<60, 1e9, 1e9) // a sender gone mad
	o.take(3, 2e9, 2e9)     // and started again
	if o.missed != 10 {
		t.Errorf("%d missed after a restart", o.missed)
	}
}
