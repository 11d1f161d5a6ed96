package blackbox_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/blackbox"
)

// What is damaged is skipped up to the next whole frame, and reported; what is read is what was written.
func TestDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	r := &recorder{}
	want := r.flight(rng, 640, 1e6)
	whole := slices.Clone(r.Bytes())
	head := bytes.LastIndex(whole, []byte("\nH Field P encoding")) + 1
	head += bytes.IndexByte(whole[head:], '\n') + 1
	at := map[float64]int{}
	for i, w := range want {
		at[float64(w[0])] = i
	}
	lost, wrong := 0, 0
	for range 200 {
		log := slices.Clone(whole)
		from := head + rng.IntN(len(log)-head-40)
		for i := range 1 + rng.IntN(30) {
			log[from+i] = byte(rng.Uint32())
		}
		g := read(t, log)
		if g.err != nil {
			t.Fatal(g.err)
		}
		lost += max(0, len(want)-len(g.values))
		for i := range g.values {
			j, ok := at[g.values[i][0]]
			if !ok || g.times[i] != int64(want[j][1])*1000 {
				wrong++
			}
		}
	}
	t.Logf("of %d frames %d were lost and %d had another time or number", 200*640, lost, wrong)
	if lost > 200*40 || wrong > 200*16 {
		t.Errorf("of %d frames %d were lost and %d had another time or number", 200*640, lost, wrong)
	}
	for cut := head; cut < len(whole); cut += 97 {
		if g := read(t, whole[:cut]); g.err != nil || len(g.values) > len(want) {
			t.Fatalf("cut at %d: %v, %d frames", cut, g.err, len(g.values))
		}
	}
}

func TestRefusals(t *testing.T) {
	good := func() *recorder {
		r := &recorder{}
		r.head([]string{"loopIteration", "time"}, []int{1, 1})
		return r
	}
	for text, log := range map[string]string{
		"no blackbox log":           "GIF89a",
		"no fields":                 "H Product:Blackbox flight data recorder\nH Data version:2\n",
		"version \"1\"":             strings.Replace(good().String(), "version:2", "version:1", 1),
		"encoding 5 is not known":   strings.Replace(good().String(), "I encoding:1,1", "I encoding:1,5", 1),
		"predictor 12 is not known": strings.Replace(good().String(), "I predictor:0,0", "I predictor:0,12", 1),
		"which only frames P do":    strings.Replace(good().String(), "I predictor:0,0", "I predictor:0,1", 1),
		"2 names, 2 signs, 2 predictors and 1 encodings": strings.Replace(good().String(), "I encoding:1,1", "I encoding:1", 1),
		"within a group of encoding 8":                   strings.Replace(good().String(), "I encoding:1,1", "I encoding:1,8", 1),
		"no time":                                        strings.Replace(good().String(), "loopIteration,time", "loopIteration,thyme", 1),
		"no number":                                      strings.Replace(good().String(), "I encoding:1,1", "I encoding:1,one", 1),
	} {
		if g := read(t, []byte(log)); g.err == nil || !strings.Contains(g.err.Error(), text) || !strings.HasPrefix(g.err.Error(), "log.bbl: byte ") {
			t.Errorf("%q: %v", text, g.err)
		}
	}
}

// A header that was cut off costs its own log, and the next one is read.
func TestCutHeader(t *testing.T) {
	r, rng := &recorder{}, rand.New(rand.NewPCG(6, 6))
	first := r.flight(rng, 40, 8e6)
	r.end()
	cut := &recorder{}
	cut.flight(rng, 1, 1e6)
	r.Write(cut.Bytes()[:bytes.Index(cut.Bytes(), []byte("H Field I encoding"))])
	second := r.flight(rng, 30, 2e6)
	g := read(t, r.Bytes())
	if len(g.problems) != 1 || g.problems[0].Record != "header" {
		t.Error(g.problems)
	}
	one, two := g, g
	if len(g.values) != 70 {
		t.Fatalf("%d frames: %v", len(g.values), g.err)
	}
	one.values, one.times, two.values, two.times = g.values[:40], g.times[:40], g.values[40:], g.times[40:]
	check(t, &one, first, int64(first[0][1]))
	check(t, &two, second, int64(second[0][1]))
}

// A further header whose first line has no end is reported, and the reading ends.
func TestHeaderWithoutAnEnd(t *testing.T) {
	r := &recorder{}
	r.flight(rand.New(rand.NewPCG(9, 9)), 5, 1e6)
	r.end()
	r.Write(blackbox.Magic)
	r.Write(bytes.Repeat([]byte("x"), 20000))
	if g := read(t, r.Bytes()); g.err != nil || len(g.values) != 5 || len(g.problems) != 1 || g.problems[0].Record != "header" {
		t.Errorf("%d frames, %v, %v", len(g.values), g.problems, g.err)
	}
}

// Where the battery goes before a log is closed, memory that was never written follows its last frame.
func TestErasedMemory(t *testing.T) {
	r := &recorder{}
	want := r.flight(rand.New(rand.NewPCG(7, 7)), 40, 8e6)
	r.Write(bytes.Repeat([]byte{0xff}, 3000))
	g := read(t, r.Bytes())
	if check(t, &g, want, int64(want[0][1])); len(g.problems) != 0 {
		t.Error(g.problems)
	}
}

// What damage hides may be longer than frames are ever apart.
func TestLongGapBehindDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	r := &recorder{}
	names, encodings, _ := every()
	r.head(names, encodings)
	head := r.Len()
	all := &recorder{}
	all.flight(rng, 64, 5e6)
	late := &recorder{}
	want := late.flight(rng, 96, 65e6)
	r.Write(all.Bytes()[head:])
	r.Write(bytes.Repeat([]byte{0x55}, 200))
	r.Write(late.Bytes()[head:])
	g := read(t, r.Bytes())
	if n := len(g.times); n < 64+60 || g.times[n-1] != int64(want[95][1])*1000 {
		t.Errorf("%d frames, %v", n, g.problems)
	}
}
