package timebase_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// A clock that is set while the other one runs on begins an epoch at the very message, whatever
// the sign and size: messages of both are at their times before and behind.
func TestClockIsSet(t *testing.T) {
	for _, recorder := range []bool{false, true} {
		for _, set := range []int64{15, 24, 30, 40, 49, 80, 200, 450, 700, 1500, 30_000, -15, -24, -30, -40, -49, -80, -200, -450, -700, -1500, -30_000} {
			step := 20 * ms // of which a jump is three or more
			if abs(set) < 60 {
				step = abs(set) / 3 * ms
			}
			for _, first := range []bool{false, true} { // the clock is off before it is set, not behind
				rng := rand.New(rand.NewPCG(5, uint64(abs(set))))
				var all []stored
				for i := range int64(2000) {
					now := int64(1e18) + i*step
					stamp, logged := now, now
					if off := set * ms; (i >= 1000) != first {
						if recorder {
							logged += off
						} else {
							stamp += off
						}
					}
					delay := 2*ms + int64(2e6*rng.ExpFloat64())
					all = append(all, stored{0, "robot", true, stamp, logged + delay}, stored{topic: 1, t: logged + step*3/4, logged: logged + step*3/4})
				}
				name := fmt.Sprintf("recorder %v, set by %d ms, first %v", recorder, set, first)
				out, m, tl := place(all, 1)
				if n, _, _ := tl.Jumps(); n != 1 {
					t.Errorf("%s: set %d times", name, n)
				}
				late := 0
				for i, p := range out {
					if i%2 == 1 && (p.epoch != out[i-1].epoch || abs(p.t-out[i-1].t-step*3/4) > step/4) {
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

// Seconds of a log that are stored in another order are sorted, and show no clock that was set.
func TestShuffledSeconds(t *testing.T) {
	for _, stamped := range []bool{true, false} {
		var all []stored
		for second := range int64(41) {
			for i := range int64(50) {
				at := 1e18 + (second*17%41)*1000*ms + i*20*ms
				all = append(all, stored{0, "robot", stamped, at, at + 2*ms}, stored{topic: 1, t: at + 5*ms, logged: at + 5*ms})
				if !stamped {
					all[len(all)-2].t = at + 2*ms
				}
			}
		}
		out, m, tl := place(all, 1)
		if n, _, _ := tl.Jumps(); n != 0 || !tl.Sorted || math.Abs(m.Of(0).Rate-50) > 0.1 || math.Abs(m.Of(1).Rate-50) > 0.1 {
			t.Errorf("stamped %v: set %d times, %+v", stamped, n, m.Of(0))
		}
		for i, p := range out {
			if !p.ok || p.t != all[i].t {
				t.Fatalf("stamped %v: message %d: %+v of %+v", stamped, i, p, all[i])
			}
		}
	}
}

// What a link delivers late, behind messages of now, was sent by a clock that was not set: also
// where some of it is lost.
func TestBacklog(t *testing.T) {
	for _, lost := range []int64{0, 3} {
		var late, all []stored
		for i := range int64(600) {
			at := i * 50 * ms
			s := []stored{{0, "robot", true, at, 1e15 + at}, {2, "robot", true, at + ms, 1e15 + at + ms}, {topic: 1, t: 1e15 + at + 2*ms, logged: 1e15 + at + 2*ms}}
			if i > 200 && i < 260 {
				if lost == 0 || i%10 > lost {
					late = append(late, s[:2]...)
				}
				s = s[2:]
			}
			all = append(all, s...)
			for range min(len(late), 8) {
				if i >= 260 {
					late[0].logged = all[len(all)-1].logged + 1000
					all, late = append(all, late[0]), late[1:]
				}
			}
		}
		out, m, tl := place(all, 1, 2)
		if n, _, _ := tl.Jumps(); n != 0 || !tl.Sorted || m.Clocks()[0].Jumps != 0 || m.Clocks()[0].Varies {
			t.Errorf("lost %d: set %d times, %+v", lost, n, m.Clocks())
		}
		for i, p := range out {
			want := all[i].t
			if all[i].topic == 1 {
				want -= 1e15
			}
			if !p.ok || p.epoch != 0 || abs(p.t-want) > ms {
				t.Fatalf("lost %d: message %d: %+v of %+v; %+v", lost, i, p, all[i], m.Clocks())
			}
		}
	}
}
