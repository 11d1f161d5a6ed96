package ardupilot_test

import (
	"slices"
	"strings"
	"testing"
)

// Logs of which one is put behind the other are read each by its own definitions, as one topic, though the second gives its types other
// numbers and has its fields in another order; also where the first was cut off.
func TestAnotherLogBehind(t *testing.T) {
	const n = 20
	first := newLog().format(30, 3+8+4+4, "POS", "Qff", "TimeUS,X,Y").format(31, 3+8+4, "ALT", "Qf", "TimeUS,H")
	second := newLog().format(31, 3+8+8+4+4, "POS", "Qdff", "TimeUS,New,Y,X").format(30, 3+8+2, "ALT", "Qh", "TimeUS,H")
	for i := range n {
		first.record(30, uint64(1000*i+5), float32(i), float32(-i)).record(31, uint64(1000*i+5), float32(2*i))
		second.record(31, uint64(1000*i+7), 0.5, float32(-i), float32(i)).record(30, uint64(1000*i+7), int16(2*i))
	}
	for name, c := range map[string]struct{ cut, rows, problems int }{"whole": {0, 2 * n, 0}, "the first was cut off": {8, 2*n - 1, 1}} {
		log := append(first.Bytes()[:first.Len()-c.cut:first.Len()-c.cut], second.Bytes()...)
		for topic, want := range map[string]func(k float64) []float64{"POS": func(k float64) []float64 { return []float64{k, -k} }, "ALT": func(k float64) []float64 { return []float64{2 * k} }} {
			g := read(t, log, topic)
			rows := 2 * n
			if topic == "ALT" {
				rows = c.rows
			}
			if len(g.values) != rows || len(g.problems) != c.problems {
				t.Fatalf("%s: %s: %d rows, %v", name, topic, len(g.values), g.problems)
			}
			for i, v := range g.values {
				k := i
				if i >= rows-n {
					k = i - (rows - n)
				}
				if !slices.Equal(v[1:], want(float64(k))) || g.topics[i] != topic {
					t.Errorf("%s: row %d: %s %v", name, i, g.topics[i], v)
				}
			}
		}
	}
	third := newLog().format(30, 3+8+4, "POS", "Qf", "TimeUS,Z").record(30, uint64(5), float32(1)).record(30, uint64(6), float32(1))
	g := read(t, append(slices.Clone(first.Bytes()), third.Bytes()...), "POS")
	if len(g.values) != n || len(g.problems) != 1 || !strings.Contains(g.problems[0].Reason, `a log behind the first one defines it anew, and there is no "X"`) {
		t.Error(len(g.values), g.problems)
	}
}

// A counter of µs in 32 bits that wraps goes on, for a record that comes late, too; a restart is one.
func TestTimesOfThirtyTwoBits(t *testing.T) {
	log := newLog().format(30, 3+8+4, "POS", "Qf", "TimeUS,X")
	want := []int64{}
	for i := range 40 {
		us := uint64(1<<32) - 20_000 + 1000*uint64(i)
		if i == 25 {
			us -= 10_000
		}
		log.record(30, us%(1<<32), float32(i))
		want = append(want, int64(us)*1000)
	}
	log.record(30, uint64(5), float32(40))
	if g := read(t, log.Bytes(), "POS"); !slices.Equal(g.times, append(want, 1000<<32+5000)) {
		t.Errorf("%v\nwant %v", g.times, want)
	}
	again := newLog().format(30, 3+8+4, "POS", "Qf", "TimeUS,X")
	for i := range 40 {
		again.record(30, uint64(1_000_000_000+1000*i)%1_000_020_000, float32(i))
	}
	if g := read(t, again.Bytes(), "POS"); g.times[20] != 0 {
		t.Error(g.times)
	}
}
