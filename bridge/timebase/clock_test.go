package timebase_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// A clock that is set while the other one runs on begins an epoch at the very message, whatever
// the sign and size: messages of both are at their times before and behind.
func TestClockIsSet(t *testing.T) {
	for _, recorder := range []bool{false, true} {
		for _, set := range []int64{80, 200, 450, 700, 1500, 30_000, -80, -200, -450, -700, -1500, -30_000} {
			for _, first := range []bool{false, true} { // the clock is off before it is set, not behind
				rng := rand.New(rand.NewPCG(5, uint64(abs(set))))
				var all []stored
				for i := range int64(2000) {
					now := int64(1e18) + i*20*ms
					stamp, logged := now, now
					if off := set * ms; (i >= 1000) != first {
						if recorder {
							logged += off
						} else {
							stamp += off
						}
					}
					delay := 2*ms + int64(2e6*rng.ExpFloat64())
					all = append(all, stored{0, "robot", true, stamp, logged + delay}, stored{topic: 1, t: logged + 15*ms, logged: logged + 15*ms})
				}
				name := fmt.Sprintf("recorder %v, set by %d ms, first %v", recorder, set, first)
				out, m, tl := place(all, 1)
				if n, _, _ := tl.Jumps(); n != 1 {
					t.Errorf("%s: set %d times", name, n)
				}
				late := 0
				for i, p := range out {
					if i%2 == 1 && (p.epoch != out[i-1].epoch || abs(p.t-out[i-1].t-15*ms) > 5*ms) {
						late++
					}
					if i%2 == 0 && (p.epoch != 0) != (i >= 2000) {
						late++
					}
				}
				if late > 2 {
					t.Errorf("%s: %d messages at another time or in another epoch; %+v", name, late, m.Clocks())
				}
			}
		}
	}
}

// Messages that are under way for longer for a while show no clock that was set.
func TestDelayIsNoJump(t *testing.T) {
	var all []stored
	for i := range int64(3000) {
		now := i * 20 * ms
		delay := 2 * ms
		if i > 1000 && i < 1120 { // a queue that grows and drains
			delay += min(i-1000, 1120-i) * 8 * ms
		}
		all = append(all, stored{0, "robot", true, now, now + delay})
	}
	if _, m, tl := place(all); m.Clocks()[0].Jumps != 0 || tl.Sorted {
		t.Errorf("%+v", m.Clocks())
	}
}

// Where a clock stands still while messages go on, they have the times of recording, on the clock
// as it ran before; a clock that runs on behind it was set.
func TestClockStandsStill(t *testing.T) {
	for name, c := range map[string]struct {
		stamp  func(at int64) int64 // of ms
		epochs int
		stood  int
	}{
		"at the start":  {func(at int64) int64 { return max(at, 10_000) }, 0, 501},
		"in the middle": {func(at int64) int64 { return min(at, max(20_000, at-5000)) }, 1, 251},
		"at the end":    {func(at int64) int64 { return min(at, 35_000) }, 0, 250},
	} {
		var all []stored
		for at := int64(0); at < 40_000; at += 20 {
			now := 1e15 + at*ms
			all = append(all, stored{0, "robot", true, 1e15 + c.stamp(at)*ms, now + 2*ms}, stored{topic: 1, t: now + 5*ms, logged: now + 5*ms})
		}
		out, m, tl := place(all, 1)
		if n, _, _ := tl.Jumps(); n != c.epochs || m.Of(0).Standing != c.stood || m.Of(0).Coarse != 0 {
			t.Errorf("%s: set %d times, %+v", name, n, m.Of(0))
		}
		for i := 0; i < len(out); i += 2 {
			if d := out[i+1].t - out[i].t; out[i].epoch != out[i+1].epoch || d < 2*ms || d > 6*ms {
				t.Fatalf("%s: message %d: %+v, %+v", name, i, out[i], out[i+1])
			}
		}
	}
}
