package timebase_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Messages that are too few to show that a robot restarted, before it or behind, count where another topic shows it, and none is said
// to be wild but one that is.
func TestEventsAroundARestart(t *testing.T) {
	for _, events := range [][2]int{{2, 6}, {6, 2}, {1, 1}, {2, 8}, {4, 4}} {
		for _, second := range []int64{4e9, 38e9, 300e9} {
			var all []stored
			for k, begin := range []int64{40e9, second} {
				for i := range int64(1000) {
					at := begin + i*20*ms
					if i > 0 && i%int64(1000/(events[k]+1)) == 0 && i/int64(1000/(events[k]+1)) <= int64(events[k]) {
						all = append(all, stored{topic: 1, t: at, logged: at})
					}
					all = append(all, stored{t: at, logged: at})
				}
			}
			wild := len(all) - 100
			all = slices.Insert(all, wild, stored{topic: 1, t: 1e18, logged: 1e18})
			out, m, _ := place(all, 1)
			if d := cmp.Diff([]int{1000 + events[0], 1000 + events[1]}, counted(out)); d != "" || out[wild].ok || m.Of(1).Wild != 1 {
				t.Errorf("%d events, then %d from %d s: %d wild, %s", events[0], events[1], second/1e9, m.Of(1).Wild, d)
			}
		}
	}
}

// One message whose time is a minute ahead, in a log without times of recording, shows no clock that was set: it is left out, and no
// other one is. A pause is none.
func TestOneTimeFarAhead(t *testing.T) {
	var all []stored
	for i := range int64(1000) {
		at := i * 20 * ms
		if i >= 800 { // a pause
			at += 30e9
		}
		if i == 300 {
			all = append(all, stored{stamped: true, t: at + 60e9 - 2*ms, logged: at + 60e9})
		}
		all = append(all, stored{stamped: true, t: at - 2*ms, logged: at}, stored{topic: 1, t: at, logged: at})
	}
	out, m, tl := place(all, 1)
	if n, _, _ := tl.Jumps(); n != 0 || tl.Sorted || m.Of(0).Wild != 1 || m.Of(0).Behind != 0 {
		t.Errorf("%d epochs, sorted %v, %+v", n, tl.Sorted, m.Of(0))
	}
	for i, p := range out {
		if p.ok != (i != 600) {
			t.Errorf("message %d: %+v", i, p)
		}
	}
}
