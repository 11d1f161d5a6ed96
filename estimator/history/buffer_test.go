package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Rows agree with their definition at the model's own rate, for jittering stamps, for lost
// samples and for other rates.
func TestRowsAreAsDefined(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		step   int64
		jitter float64
		kept   int // of four samples
	}{
		"own rate": {10 * ms, 0, 4}, "jitter": {10 * ms, 0.4, 4}, "lost": {10 * ms, 0.4, 2}, "slow": {33 * ms, 0.4, 4}, "fast": {3 * ms, 0.4, 2}, "drift": {10*ms + 333, 0, 4},
	} {
		var times []int64
		for i := range int64(400) {
			if int(i%4) < c.kept {
				times = append(times, i*c.step+int64(c.jitter*float64(c.step)*(rng.Float64()-0.5)))
			}
		}
		samples := stream(times)
		for _, spec := range []Spec{evenly(20, 0.01), widening, {Edges: []float64{0.013}}} {
			b := newBuffer(spec)
			for i, s := range samples {
				if r := b.Add(s.t, s.x[:], s.u[:]); r != Continued {
					t.Fatalf("%s: %v", name, r)
				}
				if i > 0 && i%7 == 0 {
					same(t, filled(b, s), defined(samples[:i+1], spec), 1e-11)
				}
			}
			if got := len(filled(b, samples[len(samples)-1])); got != 3*spec.Rows() {
				t.Errorf("%s: %d numbers at the end", name, got)
			}
		}
	}
}

// A stream that is much faster than the model's is thinned: the means of the input stay
// exact but for the edges, states are interpolated between samples an eighth of a row apart.
func TestFastStreamIsThinned(t *testing.T) {
	samples := stream(even(5000, ms/4))
	b := newBuffer(evenly(20, 0.01))
	for i, s := range samples {
		b.Add(s.t, s.x[:], s.u[:])
		if i%101 != 0 || i < 1000 {
			continue
		}
		got, want := filled(b, s), defined(samples[:i+1], evenly(20, 0.01))
		same(t, got, want, 2e-3) // slope of the input, times the time between samples
		for j := range 20 {
			if math.Abs(got[3*j]-want[3*j]) > 1e-5 || math.Abs(got[3*j+1]-want[3*j+1]) > 1e-5 {
				t.Fatalf("row %d: %v, want %v", j+1, got[3*j:3*j+3], want[3*j:3*j+3])
			}
		}
	}
}

// Rows grow one by one with the stream, and none reaches before its first sample.
func TestRowsGrow(t *testing.T) {
	b := newBuffer(evenly(5, 0.01))
	if _, any := b.Newest(); any || b.Fill(make([]float64, 15), 0, make([]float64, 2)) != 0 {
		t.Error("rows of nothing")
	}
	for i, s := range stream(even(9, 10*ms)) {
		b.Add(s.t, s.x[:], s.u[:])
		if got := len(filled(b, s)) / 3; got != min(i, 5) {
			t.Errorf("%d rows of %d samples", got, i+1)
		}
	}
}

func TestResets(t *testing.T) {
	base := func() []sample { return stream(even(30, 10*ms)) }
	last := base()[29].t
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		then   []sample
		resets []Reset
		rows   int // at the last of then
	}{
		"five intervals are no gap":  {[]sample{{t: last + 50*ms}}, nil, 20},
		"more is one":                {[]sample{{t: last + 50*ms + 1}}, []Reset{Gap}, 0},
		"rows after it":              {[]sample{{t: last + 100*ms}, {t: last + 110*ms}, {t: last + 120*ms}}, []Reset{Gap}, 2},
		"a clock that was set back":  {[]sample{{t: last - 1}}, []Reset{Backward}, 0},
		"both":                       {[]sample{{t: last + 100*ms}, {t: 0}, {t: 10 * ms}}, []Reset{Gap, Backward}, 1},
		"the same time again":        {[]sample{{t: last, x: [2]float64{99, 0}}, {t: last + 10*ms}}, nil, 20},
		"a state that is no number":  {[]sample{{t: last + 10*ms, x: [2]float64{nan, 0}}, {t: last + 20*ms}}, nil, 20},
		"an input that is no number": {[]sample{{t: last + 10*ms, u: [1]float64{inf}}, {t: last + 20*ms}}, nil, 20},
		"from one end of time":       {[]sample{{t: math.MinInt64}, {t: math.MaxInt64}}, []Reset{Backward, Gap}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBuffer(evenly(20, 0.01))
			add(b, base())
			if got := add(b, c.then); !slices.Equal(got, c.resets) {
				t.Errorf("resets %v, want %v", got, c.resets)
			}
			got := filled(b, c.then[len(c.then)-1])
			if len(got) != 3*c.rows {
				t.Errorf("%d rows, want %d", len(got)/3, c.rows)
			}
			for _, v := range got {
				if !(math.Abs(v) < 50) {
					t.Errorf("rows %v", got)
				}
			}
		})
	}
}

// Between the newest sample and a later start the state is interpolated to the start, and
// the input is held.
func TestStartAfterTheNewestSample(t *testing.T) {
	b := newBuffer(evenly(4, 0.01))
	add(b, []sample{{t: 0, x: [2]float64{1, 3}, u: [1]float64{5}}, {t: 10 * ms, x: [2]float64{2, 3.1}, u: [1]float64{7}}})
	x0 := []float64{4, 3.3 - 2*math.Pi}
	dst := make([]float64, 12)
	if n := b.Fill(dst, 25*ms, x0); n != 2 {
		t.Fatalf("%d rows", n)
	}
	same(t, dst[:6], []float64{2 + 4./3, 3.1 + 0.4/3 - 2*math.Pi, 7, (2 + 1./3 + 1.75) / 2, (3.1+0.1/3+3.075)/2 - 2*math.Pi, 6}, 1e-12)
	// Samples at the start and after it do not count.
	if n := b.Fill(dst, 10*ms, x0); n != 1 || dst[0] != 2.5 || dst[2] != 5 {
		t.Errorf("%d rows, %v", n, dst)
	}
	// After a gap there are none, as there are none where a sample ends it.
	for t0, want := range map[int64]int{60 * ms: 4, 60*ms + 1: 0, math.MaxInt64: 0} {
		if n := b.Fill(dst, t0, x0); n != want {
			t.Errorf("%d rows %d ns after the start", n, t0)
		}
	}
}

// An angle is continuous from the start backwards, however many turns there were.
func TestAnglesAreContinuous(t *testing.T) {
	b := newBuffer(evenly(20, 0.01))
	var last sample
	for i := range 40 {
		last = sample{t: int64(i) * 10 * ms, x: [2]float64{0, math.Remainder(2.5*float64(i), 2*math.Pi)}}
		b.Add(last.t, last.x[:], last.u[:])
	}
	last.x[1] += 6 * math.Pi
	got := filled(b, last)
	for j := range 20 {
		if want := last.x[1] - 2.5*(float64(j)+0.5); math.Abs(got[3*j+1]-want) > 1e-9 {
			t.Errorf("row %d: angle %g, want %g", j+1, got[3*j+1], want)
		}
	}
}

// What a buffer was told before its rows changes nothing.
func TestRowsDependOnTheirSpanOnly(t *testing.T) {
	samples := stream(even(500, 10*ms))
	a, b := newBuffer(evenly(20, 0.01)), newBuffer(evenly(20, 0.01))
	add(a, samples)
	add(b, samples[470:])
	if !slices.Equal(filled(a, samples[499]), filled(b, samples[499])) {
		t.Error("rows depend on samples before them")
	}
}

// A buffer of another spec takes over the samples.
func TestCopyFrom(t *testing.T) {
	samples := stream(even(100, 10*ms))
	a, b := newBuffer(evenly(20, 0.01)), newBuffer(evenly(5, 0.02))
	add(a, samples)
	add(b, samples[:7])
	b.CopyFrom(a)
	same(t, filled(b, samples[99]), defined(samples, evenly(5, 0.02)), 1e-12)
	next := sample{t: 1000 * ms, x: [2]float64{1, 1}, u: [1]float64{1}}
	b.Add(next.t, next.x[:], next.u[:])
	same(t, filled(b, next), defined(append(samples, next), evenly(5, 0.02)), 1e-12)
	twin := newBuffer(evenly(20, 0.01))
	twin.CopyFrom(a)
	if !slices.Equal(filled(twin, samples[99]), filled(a, samples[99])) {
		t.Error("a copy has other rows")
	}
	b.CopyFrom(nil)
	if _, any := b.Newest(); any {
		t.Error("samples of nothing")
	}
	var none *Buffer
	none.CopyFrom(a)
	if none.Add(0, nil, nil) != Continued || none.Rows() != 0 || none.Fill(nil, 0, nil) != 0 {
		t.Error("a buffer of no rows keeps something")
	}
	if NewBuffer(states, 1, Spec{}) != nil {
		t.Error("a buffer of no rows")
	}
}

func TestMisusePanics(t *testing.T) {
	b := newBuffer(evenly(2, 0.01))
	descending := Spec{Edges: []float64{2, 1}}
	for name, c := range map[string]struct {
		call func()
		want string
	}{
		"spec":  {func() { newBuffer(descending) }, "history: " + descending.Check().Error()},
		"state": {func() { b.Add(0, []float64{1}, []float64{1}) }, wrongLength},
		"input": {func() { b.Add(0, []float64{1, 2}, nil) }, wrongLength},
		"rows":  {func() { b.Fill(make([]float64, 5), 0, []float64{1, 2}) }, wrongLength},
		"start": {func() { b.Fill(make([]float64, 6), 0, []float64{1}) }, wrongLength},
	} {
		func() {
			defer func() {
				if p := recover(); p != c.want {
					t.Errorf("%s: %v, want %s", name, p, c.want)
				}
			}()
			c.call()
		}()
	}
}

func TestNothingIsAllocated(t *testing.T) {
	b, o := newBuffer(evenly(20, 0.01)), newBuffer(evenly(10, 0.02))
	samples := stream(even(10000, 3*ms))
	dst := make([]float64, 60)
	i := 0
	if n := testing.AllocsPerRun(1000, func() {
		s := &samples[i]
		i++
		b.Add(s.t, s.x[:], s.u[:])
		b.Fill(dst, s.t, s.x[:])
		o.CopyFrom(b)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAddAndFill(b *testing.B) {
	for _, step := range []int64{10 * ms, 2 * ms} {
		b.Run(fmt.Sprintf("12 states, 4 inputs, 8 rows of 400 ms, a sample each %d ms", step/ms), func(b *testing.B) {
			var twelve []channel.Channel
			for range 12 {
				twelve = append(twelve, channel.Channel{Role: channel.State})
			}
			twelve[3].Period = channel.Angle
			h := NewBuffer(twelve, 4, widening)
			dst, x, u := make([]float64, 8*16), make([]float64, 12), make([]float64, 4)
			t := int64(0)
			for b.Loop() {
				t += step
				h.Add(t, x, u)
				h.Fill(dst, t, x)
			}
		})
	}
}

// Whatever comes, rows are means of what came: they lie between the least and the greatest
// of it, for any spec, also where the start is after the newest sample.
func TestRowsAreWithinTheSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	one, full := []channel.Channel{{Name: "x", Role: channel.State}}, 0
	for range 300 {
		var spec Spec
		e := 0.0
		for range 1 + rng.IntN(12) {
			e += 0.002 + 0.1*rng.Float64()*rng.Float64()
			spec.Edges = append(spec.Edges, e)
		}
		b := NewBuffer(one, 1, spec)
		dst, now := make([]float64, 2*spec.Rows()), int64(0)
		least, most := math.Inf(1), math.Inf(-1)
		for range 400 {
			step := int64(rng.ExpFloat64() * 2e6)
			if rng.IntN(200) == 0 {
				step = int64(4e8 * (rng.Float64() - 0.5))
			}
			now += step
			x, u := rng.NormFloat64(), rng.NormFloat64()
			least, most = min(least, x, u), max(most, x, u)
			b.Add(now, []float64{x}, []float64{u})
			n := b.Fill(dst, now+int64(rng.IntN(3))*ms, []float64{x})
			if n == spec.Rows() {
				full++
			}
			for _, v := range dst[:2*n] {
				if !(v >= least-1e-9 && v <= most+1e-9) {
					t.Fatalf("%v of samples in [%g, %g]: %v", spec.Edges, least, most, dst[:2*n])
				}
			}
		}
	}
	if full < 10000 {
		t.Errorf("all rows %d times", full)
	}
}
