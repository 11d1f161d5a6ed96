package trust

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
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
			i = min(i+36, len(saved)-10)
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

// A number that cannot be is refused though the checksum fits.
func TestImplausibleTrustStateIsRefused(t *testing.T) {
	w := newWalk(7, 1)
	m := monitor(w)
	w.run(m, 10)
	saved := m.Append(nil, "a")
	var first [8]byte
	binary.LittleEndian.PutUint64(first[:], math.Float64bits(m.series[0].checks))
	from := bytes.LastIndex(saved[:200], first[:]) // the first number of the first series
	if from < 0 {
		t.Fatal("the first series is not where it was")
	}
	for number, bad := range map[int][]float64{
		0: {-1, math.NaN()}, 1: {-0.1, 1.1}, 2: {-0.1, 7}, 3: {-1, 1e7}, 4: {-200, 3}, 5: {-1, math.Inf(1)}, 5 + len(alternatives) + 1: {-1}, seriesSize - 1: {-1, 1e7},
	} {
		for _, v := range bad {
			b := slices.Clone(saved)
			binary.LittleEndian.PutUint64(b[from+8*number:], math.Float64bits(v))
			if err := monitor(w).Restore(seal(b), "a"); err == nil {
				t.Errorf("number %d: %v was taken", number, v)
			}
		}
	}
	if err := monitor(w).Restore(seal(saved), "a"); err != nil {
		t.Errorf("what was not changed is refused: %v", err)
	}
}

// seal gives what looks like a kept state the checksum that fits: behind one that does
// not, nothing would be tried.
func seal(b []byte) []byte {
	r := msgbin.NewReader(b)
	if n, err := r.Array(8); err != nil || n != 8 {
		return b
	}
	for range 4 {
		if r.Skip() != nil {
			return b
		}
	}
	n, err := r.Array(1000)
	if err != nil {
		return b
	}
	from := r.Offset()
	for range n {
		if r.Skip() != nil {
			return b
		}
	}
	to := r.Offset()
	if r.Skip() != nil {
		return b
	}
	rest := b[r.Offset():]
	return append(msgbin.Append(slices.Clone(b[:to]), func(w *msgbin.Writer) {
		w.Uint(uint64(crc32.Checksum(b[from:to], castagnoli)))
	}), rest...)
}

// A state of an earlier release, without tubes, is restored.
func TestStateWithoutTubes(t *testing.T) {
	w := newWalk(7, 1)
	m := monitor(w)
	w.run(m, 10)
	b := m.Append(nil, "a")
	r := msgbin.NewReader(b)
	if _, err := r.Array(8); err != nil {
		t.Fatal(err)
	}
	for range 6 {
		if err := r.Skip(); err != nil {
			t.Fatal(err)
		}
	}
	b = b[:r.Offset()]
	b[0] = 0x96 // an array of six
	var first, again Report
	m.Report(&first)
	restored := monitor(w)
	if err := restored.Restore(b, "a"); err != nil {
		t.Fatal(err)
	}
	if restored.Report(&again); !slices.Equal(first.Factor, again.Factor) {
		t.Errorf("factors %v became %v", first.Factor, again.Factor)
	}
}

// Whatever is kept, a number of it changed and the checksum made to fit: it is
// refused, or what is then said of the intervals is within its bounds.
func FuzzRestore(f *testing.F) {
	w := newWalk(7, 1)
	m := monitor(w)
	w.run(m, 10)
	saved := m.Append(nil, "a")
	f.Add(saved, uint16(0), 0.5)
	f.Add(saved, uint16(40), math.Inf(1))
	f.Add(saved, uint16(2300), -1.)
	f.Fuzz(func(t *testing.T, b []byte, at uint16, v float64) {
		b = slices.Clone(b)
		if i := int(at); i+8 <= len(b) {
			binary.LittleEndian.PutUint64(b[i:], math.Float64bits(v))
		}
		w := newWalk(7, 1)
		m := monitor(w)
		if m.Restore(b, "a") != nil && m.Restore(seal(b), "a") != nil {
			return
		}
		w.run(m, 2)
		var r Report
		m.Report(&r)
		for i := range r.Factor {
			if q := r.Factor[i]; !(q >= lowest && q <= highest) {
				t.Errorf("factor %v", q)
			}
			if r.Checks[i] > 0 && (!(r.Coverage[i] >= 0 && r.Coverage[i] <= 1) || !(r.Recalibrated[i] >= 0 && r.Recalibrated[i] <= 1) || !(r.Nees[i] >= 0 && r.Nees[i] <= 1e6)) {
				t.Errorf("coverage %v and %v, squared error %v after %v checks", r.Coverage[i], r.Recalibrated[i], r.Nees[i], r.Checks[i])
			}
		}
		if err := monitor(w).Restore(m.Append(nil, "a"), "a"); err != nil {
			t.Errorf("what was taken and kept again is refused: %v", err)
		}
	})
}

func TestOddTimes(t *testing.T) {
	// One time only, an angle, a clock that jumps back, a horizon cut short, gaps.
	m := New(Config{K: 1, Times: []float64{0.1}, Period: []float64{2 * math.Pi}})
	m.Predicted(0, []float64{3.1}, []float64{0.1}, Tube{})
	m.Observed(50e6, []float64{0})
	m.Observed(100e6, []float64{3.2 - 2*math.Pi})
	if s := m.series[0]; s.checks != 1 || s.coverage != 1 {
		t.Errorf("an angle was compared as %+v", s)
	}
	m.Predicted(-5e9, []float64{0}, []float64{1}, Tube{})
	m.Observed(-4.9e9, []float64{0})
	if m.series[0].checks != 2 {
		t.Error("nothing was checked after the clock was set back")
	}
	long := New(Config{K: 1, Times: []float64{0.1, 0.2, 1}, Period: []float64{0}})
	long.Predicted(0, []float64{0}, []float64{1}, Tube{}) // one row of three
	for i := range int64(20) {
		long.Observed(i*100e6, []float64{0})
	}
	if long.series[0].checks != 1 || long.series[len(long.series)-1].checks != 0 {
		t.Errorf("checks of what was not predicted: %+v", long.series)
	}
	if n := testing.AllocsPerRun(100, func() {
		long.Predicted(long.last+1e9, []float64{0, 0, 0}, []float64{1, 1, 1}, Tube{})
		long.Observed(long.last+150e6, []float64{0})
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
