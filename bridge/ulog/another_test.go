package ulog_test

import (
	"slices"
	"strings"
	"testing"
)

// Logs of which one is put behind the other are read each by its own definitions, as one topic; what the first left unfinished is left
// out, and a field that the second has not is reported.
func TestAnotherLogBehind(t *testing.T) {
	first := newLog().format("p:uint64_t timestamp;float x;float y;").subscribe(3, 0, "p")
	for i := range 20 {
		first.data(3, le64(uint64(1000+i)), le32f(float32(i)), le32f(float32(-i)))
	}
	second := newLog().format("p:uint64_t timestamp;float y;float x;uint8_t z;").format("q:uint64_t timestamp;float x;").subscribe(0, 0, "q").subscribe(9, 0, "p")
	for i := range 20 {
		second.data(9, le64(uint64(500+i)), le32f(float32(-i)), le32f(float32(i)), []byte{7})
	}
	for name, c := range map[string]struct {
		cut, rows int
		problem   string
	}{"whole": {0, 40, ""}, "the first was cut off": {10, 39, "another log begins behind it, 11 bytes are not read"}} {
		g := read(t, append(first.Bytes()[:first.Len()-c.cut:first.Len()-c.cut], second.Bytes()...))
		if g.err != nil || len(g.values) != c.rows || (len(g.problems) == 0) != (c.problem == "") || c.problem != "" && !strings.Contains(g.problems[0].Reason, c.problem) {
			t.Fatalf("%s: %d rows, %v, %v", name, len(g.values), g.problems, g.err)
		}
		for i, v := range g.values {
			k := float64(i)
			if i >= c.rows-20 {
				k = float64(i - c.rows + 20)
			}
			if !slices.Equal(v[1:], []float64{k, -k}) || g.topics[i] != "p" {
				t.Fatalf("%s: row %d: %s %v", name, i, g.topics[i], v)
			}
		}
	}
	third := newLog().format("p:uint64_t timestamp;float x;").subscribe(1, 0, "p").data(1, le64(5), le32f(1))
	g := read(t, append(slices.Clone(first.Bytes()), third.Bytes()...))
	if len(g.values) != 20 || len(g.problems) != 1 || !strings.Contains(g.problems[0].Reason, `topic "p" is not read: a log behind the first one defines it anew, and there is no`) {
		t.Error(len(g.values), g.problems, g.err)
	}
}

// A counter of µs in 32 bits that wraps goes on, and a restart is one.
func TestTimesOfThirtyTwoBits(t *testing.T) {
	log := newLog().format("pos:uint64_t timestamp;float x;").subscribe(1, 0, "pos")
	var want []int64
	for i := range 40 {
		us := uint64(1<<32-20_000) + uint64(1000*i)
		log.data(1, le64(us%(1<<32)), le32f(float32(i)))
		want = append(want, int64(us)*1000)
	}
	log.data(1, le64(5), le32f(40))
	if g := read(t, log.Bytes()); !slices.Equal(g.times, append(want, 1000<<32+5000)) {
		t.Errorf("%v\nwant %v", g.times, want)
	}
	again := newLog().format("pos:uint64_t timestamp;float x;").subscribe(1, 0, "pos")
	for i := range 40 {
		again.data(1, le64((1_000_000_000+1000*uint64(i))%1_000_020_000), le32f(float32(i)))
	}
	if g := read(t, again.Bytes()); g.times[20] != 0 {
		t.Error(g.times)
	}
}
