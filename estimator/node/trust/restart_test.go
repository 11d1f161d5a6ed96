package trust

import (
	"bytes"
	"math"
	"slices"
	"testing"
)

func TestARestartKeepsWhatWasLearned(t *testing.T) {
	w := newWalk(7, 2)
	w.scale = 2.5
	m := monitor(w)
	w.run(m, 100)
	saved := m.Append(nil, "model a")
	again := monitor(w)
	if err := again.Restore(saved, "model a"); err != nil {
		t.Fatal(err)
	}
	var a, b Report
	m.Report(&a)
	again.Report(&b)
	if a.Alarms == 0 || a.Alarms != b.Alarms || !slices.Equal(a.Factor, b.Factor) || !slices.Equal(a.Coverage, b.Coverage) {
		t.Errorf("%+v became %+v", a, b)
	}
	if !bytes.Equal(again.Append(nil, "model a"), saved) {
		t.Error("kept twice it is something else")
	}
	if err := again.Restore(saved, "model b"); err == nil {
		t.Error("another model's was taken")
	}
	other := New(Config{K: 1, Times: w.times, Period: make([]float64, 1)})
	if err := other.Restore(saved, "model a"); err == nil {
		t.Error("that of other channels was taken")
	}
	for i := 0; i < len(saved); i++ {
		if i > 300 && i < len(saved)-10 {
			i += 36
		}
		damaged := slices.Clone(saved)
		damaged[i] ^= 0x10
		if err := again.Restore(damaged, "model a"); err == nil {
			t.Fatalf("damage at %d was not noticed", i)
		}
		if err := again.Restore(saved[:i], "model a"); err == nil {
			t.Fatalf("cut at %d was not noticed", i)
		}
	}
}

func FuzzRestore(f *testing.F) {
	w := newWalk(7, 1)
	m := monitor(w)
	w.run(m, 10)
	f.Add(m.Append(nil, "a"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m := monitor(w)
		if m.Restore(b, "a") != nil {
			return
		}
		w.run(m, 2)
		for i := range m.series {
			if q := m.series[i].factor; !(q >= lowest && q <= highest) {
				t.Errorf("factor %v", q)
			}
		}
	})
}

func TestOddTimes(t *testing.T) {
	// One time only, an angle, a clock that jumps back, a horizon cut short, gaps.
	m := New(Config{K: 1, Times: []float64{0.1}, Period: []float64{2 * math.Pi}})
	m.Predicted(0, []float64{3.1}, []float64{0.1})
	m.Observed(50e6, []float64{0})
	m.Observed(100e6, []float64{3.2 - 2*math.Pi})
	if s := m.series[0]; s.checks != 1 || s.coverage != 1 {
		t.Errorf("an angle was compared as %+v", s)
	}
	m.Predicted(-5e9, []float64{0}, []float64{1})
	m.Observed(-4.9e9, []float64{0})
	if m.series[0].checks != 2 {
		t.Error("nothing was checked after the clock was set back")
	}
	long := New(Config{K: 1, Times: []float64{0.1, 0.2, 1}, Period: []float64{0}})
	long.Predicted(0, []float64{0}, []float64{1}) // one row of three
	for i := range int64(20) {
		long.Observed(i*100e6, []float64{0})
	}
	if long.series[0].checks != 1 || long.series[len(long.series)-1].checks != 0 {
		t.Errorf("checks of what was not predicted: %+v", long.series)
	}
	if n := testing.AllocsPerRun(100, func() {
		long.Predicted(long.last+1e9, []float64{0, 0, 0}, []float64{1, 1, 1})
		long.Observed(long.last+150e6, []float64{0})
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
