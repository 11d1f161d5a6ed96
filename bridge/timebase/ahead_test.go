package timebase_test

import (
	"cmp"
	"slices"
	"testing"
)

// Measurements that are all sent half a second after they were made, by the clock of the recorder, are waited for.
func TestStampsOfTheRecorderThatAreLate(t *testing.T) {
	var all []stored
	for i := range int64(500) {
		at := 20 * ms * i
		all = append(all, stored{0, "", true, at, at}, stored{1, "", true, at + 5*ms - 500*ms, at + 5*ms})
	}
	if _, _, tl := place(all, 1); tl.Behind < 515*ms && !tl.Sorted {
		t.Errorf("waits for %d ns", tl.Behind)
	}
}

// Times of a topic that run ahead of those stored beside them, all or from the middle on, show; topics in parts, late messages and a
// clock that was set do not.
func TestTopicAheadOfTheOthers(t *testing.T) {
	for name, c := range map[string]struct {
		shift func(topic int, at int64) int64 // ms
		parts bool
		want  int64
	}{
		"in order":      {func(int, int64) int64 { return 0 }, false, 0},
		"all":           {func(topic int, _ int64) int64 { return 3000 * int64(topic) }, false, 2990},
		"from the half": {func(topic int, at int64) int64 { return at / 10_000 * 5000 * int64(topic) }, false, 4990},
		"clock set":     {func(_ int, at int64) int64 { return -at / 10_000 * 5000 }, false, 0},
		"parts":         {func(int, int64) int64 { return 0 }, true, 0},
	} {
		var all []stored
		for at := int64(0); at < 20_000; at += 20 {
			for topic := range 2 {
				at := at + 10*int64(topic)
				time := (at + c.shift(topic, at)) * ms
				all = append(all, stored{topic, "", true, time, time})
			}
		}
		if c.parts { // of 2 s
			slices.SortStableFunc(all, func(a, b stored) int { return cmp.Or(int(a.t/2e9-b.t/2e9), a.topic-b.topic) })
		}
		_, m, _ := place(all, 1)
		if got := m.Ahead(1); got != c.want*ms || m.Ahead(0) != 0 {
			t.Errorf("%s: %d and %d ns", name, got, m.Ahead(0))
		}
	}
}
