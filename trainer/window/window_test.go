package window

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

const ms = int64(time.Millisecond)

func states(n int) []channel.Channel {
	out := make([]channel.Channel, n)
	for i := range out {
		out[i] = channel.Channel{Name: string(rune('a' + i)), Role: channel.State}
	}
	return out
}

// times returns n times, dt ns apart.
func times(n int, dt int64) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = 1_700_000_000_000_000_000 + int64(i)*dt
	}
	return out
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestLinearMotionIsInterpolatedExactly(t *testing.T) {
	tt := times(50, 7*ms)
	x := make([]float64, 2*len(tt))
	at := func(s float64) (float64, float64) { return 3 - 2*s, 5 * s }
	for i := range tt {
		x[2*i], x[2*i+1] = at(float64(i) * 0.007)
	}
	f := Prepare(0, Series{T: tt, X: x}, states(2), 0, Options{})
	if len(f) != 1 || f[0].N() != 50 {
		t.Fatalf("got %d flights", len(f))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	dst := make([]float64, 2)
	for range 200 {
		s := rng.Float64() * f[0].Duration()
		if !f[0].StateAt(dst, s) {
			t.Fatalf("no state at %v", s)
		}
		a, b := at(s)
		near(t, "a", dst[0], a, 1e-12)
		near(t, "b", dst[1], b, 1e-12)
	}
	if !f[0].Displacement(dst, 10, 0.1) {
		t.Fatal("no displacement")
	}
	near(t, "displacement", dst[0], -0.2, 1e-12)
	if f[0].StateAt(dst, -1e-6) || f[0].StateAt(dst, f[0].Duration()+1e-6) {
		t.Error("there is a state outside of the flight")
	}
	if !f[0].StateAt(dst, f[0].T[14]+f[0].T[35]) {
		t.Error("the last sample is lost to rounding")
	}
}

func TestAnglesAreUnwrapped(t *testing.T) {
	c := states(1)
	c[0].Period = channel.Angle
	tt := times(400, 5*ms)
	x := make([]float64, len(tt))
	want := func(i int) float64 { return 2.5 + 4*float64(i)*0.005 - 6*math.Sin(float64(i)*0.02) }
	for i := range tt {
		x[i] = math.Remainder(want(i), channel.Angle)
	}
	x[100] = math.NaN()
	f := Prepare(0, Series{T: tt, X: x}, c, 0, Options{})[0]
	turns := f.X[0] - want(0)
	for i := range tt {
		if i != 100 {
			near(t, "angle", f.X[i], want(i)+turns, 1e-12)
		}
	}
	dst := []float64{0}
	if f.Displacement(dst, 0, 1.9); math.Abs(dst[0]-(want(380)-want(0))) > 1e-12 {
		t.Errorf("displacement %v, want %v", dst[0], want(380)-want(0))
	}
	if !f.StateAt(dst, 0.5) || math.Abs(dst[0]-want(100)-turns) > 1e-2 {
		t.Errorf("a single missing value is not interpolated: %v", dst[0])
	}
}

// A time in a flight is told from where its segment began, whatever was cut off.
func TestTimesCountFromTheSegment(t *testing.T) {
	tt := times(300, 10*ms)
	for i := 200; i < len(tt); i++ {
		tt[i] += 500 * ms
	}
	x := make([]float64, len(tt))
	whole := Prepare(0, Series{T: tt, X: x}, states(1), 0, Options{})
	rest := Prepare(0, Series{T: tt[50:], X: x[50:], Before: tt[50] - tt[0]}, states(1), 0, Options{})
	cut := rest[0].Slice(30, 60)
	for _, c := range []struct {
		f       Flight
		i, from int
	}{{whole[0], 0, 0}, {whole[0], 7, 0}, {whole[1], 3, 200}, {rest[0], 0, 50}, {rest[1], 4, 200}, {cut, 5, 80}} {
		near(t, "time in the segment", c.f.InSegment(c.i), seconds(tt[c.from+c.i]-tt[0]), 1e-12)
	}
}

func TestWindowsNeverStraddleAGap(t *testing.T) {
	tt := times(300, 10*ms)
	for i := 120; i < len(tt); i++ {
		tt[i] += 80 * ms
	}
	for i := 200; i < len(tt); i++ {
		tt[i] -= 500 * ms // the clock goes back
	}
	tt[50] = tt[49] // a duplicate
	x := make([]float64, len(tt))
	for i := range x {
		x[i] = float64(i)
	}
	s := Series{Name: "s", T: tt, X: x, X0: []float64{0}}
	f := Prepare(3, s, states(1), 0, Options{})
	if len(f) != 3 || f[0].N() != 119 || f[1].N() != 80 || f[2].N() != 100 {
		t.Fatalf("flights: %d", len(f))
	}
	if f[0].X0 == nil || f[1].X0 != nil || f[1].Segment != 3 || f[2].Name != "s" {
		t.Error("the flight has lost what it is")
	}
	if w := Prepare(0, s, states(1), 0, Options{MaxGap: 100 * time.Millisecond}); len(w) != 2 {
		t.Errorf("a gap within MaxGap splits: %d flights", len(w))
	}
	for _, w := range Cut(f, 0.2, 0) {
		fl := f[w.Flight]
		from, to := fl.Samples(w.Start, 0.2)
		if fl.T[w.Start]+0.2 > fl.T[fl.N()-1]+snap {
			t.Errorf("window %v ends behind its flight", w)
		}
		if fl.X[to-1]-fl.X[from-1] > 22 {
			t.Errorf("window %v spans a gap", w)
		}
	}
}

func TestGapOfOneChannel(t *testing.T) {
	tt := times(200, 10*ms)
	x := make([]float64, 2*len(tt))
	for i := range tt {
		x[2*i], x[2*i+1] = float64(i), float64(i)
		if i%5 != 0 || (i > 40 && i < 90) { // b comes at a fifth of the rate, and once not at all
			x[2*i+1] = math.NaN()
		}
	}
	f := Prepare(0, Series{T: tt, X: x}, states(2), 0, Options{})[0]
	dst := make([]float64, 2)
	if !f.StateAt(dst, 0.123) {
		t.Error("a slow channel is not interpolated between its own values")
	}
	near(t, "b", dst[1], 12.3, 1e-9)
	if f.StateAt(dst, 0.6) || dst[0] != 60 || !math.IsNaN(dst[1]) {
		t.Errorf("inside the gap of b: %v", dst)
	}
	for _, s := range f.Starts(nil, 0.1, 0) {
		if s%5 != 0 || (s > 40 && s < 90) {
			t.Errorf("window starts at %d, where b is not measured", s)
		}
	}
}

func TestStartsKeepTheStride(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	tt := times(5000, 5*ms)
	for i := range tt {
		tt[i] += int64(rng.Float64() * 2e6)
	}
	f := Prepare(0, Series{T: tt, X: make([]float64, len(tt))}, states(1), 0, Options{})[0]
	got := f.Starts(nil, 1, 0.02)
	if want := int((f.Duration()-1)/0.02) + 1; len(got) < want-1 || len(got) > want+1 {
		t.Errorf("%d starts, want about %d", len(got), want)
	}
	for i := 1; i < len(got); i++ {
		if got[i] <= got[i-1] {
			t.Fatal("starts do not increase")
		}
	}
	if len(f.Starts(nil, 30, 0.02)) != 0 {
		t.Error("a window longer than the flight starts")
	}
}

func TestMeanOfSteps(t *testing.T) {
	// Against a sum over fine steps, with irregular samples and a missing value.
	rng := rand.New(rand.NewPCG(5, 6))
	tt := times(100, 10*ms)
	for i := range tt {
		tt[i] += int64(rng.Float64() * 8e6)
	}
	u := make([]float64, 2*len(tt))
	for i := range u {
		u[i] = rng.NormFloat64()
	}
	u[2*40] = math.NaN()
	f := Prepare(0, Series{T: tt, X: make([]float64, len(tt)), U: u}, states(1), 2, Options{})[0]
	if f.U[80] != f.U[78] {
		t.Error("a missing input does not keep its value")
	}
	got, v := make([]float64, 2), make([]float64, 2)
	for range 50 {
		a := rng.Float64() * 0.8
		b := a + rng.Float64()*(f.Duration()-a)
		f.InputMean(got, a, b)
		const n = 20000
		sum := [2]float64{}
		for i := range n {
			f.InputAt(v, a+(b-a)*(float64(i)+0.5)/n)
			sum[0] += v[0] / n
			sum[1] += v[1] / n
		}
		near(t, "mean", got[0], sum[0], 1e-2)
		near(t, "mean", got[1], sum[1], 1e-2)
	}
	f.InputMean(got, f.T[10], f.T[11])
	near(t, "mean over one sample", got[1], f.U[21], 1e-13)
	f.InputMean(got, f.T[10], f.T[12])
	want := (f.U[20]*(f.T[11]-f.T[10]) + f.U[22]*(f.T[12]-f.T[11])) / (f.T[12] - f.T[10])
	near(t, "mean over two samples", got[0], want, 1e-13)
	f.InputMean(got, f.Duration()+1, f.Duration()+2)
	near(t, "mean after the end", got[0], f.U[2*99], 1e-13)

	for _, b := range []float64{0.3, 0.3 + 1e-17, 0.3 - 1e-16} {
		f.InputMean(got, 0.3, b) // no length, or lost in rounding
		f.InputAt(v, 0.3)
		near(t, "mean over nothing", got[0], v[0], 0)
	}

	in := &Input{Flight: &f, Start: 30}
	in.Mean(got, 0, f.T[31]-f.T[30])
	near(t, "input of a window", got[0], f.U[60], 1e-13)
	in.At(got, 0)
	near(t, "input of a window", got[1], f.U[61], 0)
	if starts := (&Flight{T: []float64{0, 1}, X: []float64{0, 0}, U: []float64{math.NaN(), 1}, K: 1, P: 1}).Starts(nil, 0, 0); len(starts) != 1 {
		t.Error("a window starts where its input is not known")
	}
}

// Otherwise a regression takes the rounding of the means for a signal.
func TestMeanOfConstantInputIsExact(t *testing.T) {
	tt := times(5000, 10*ms)
	u := make([]float64, 2*len(tt))
	for i := range tt {
		u[2*i], u[2*i+1] = 12.1, 0.1
	}
	u[2*len(tt)-1] = 0.2 // the second input changes at the end
	f := Prepare(0, Series{T: tt, X: make([]float64, len(tt)), U: u}, states(1), 2, Options{})[0]
	s := f.Slice(2000, 4000)
	for _, of := range []*Flight{&f, &s} {
		var got [2]float64
		of.InputMean(got[:], 25.001, 25.0117)
		if got[0] != 12.1 {
			t.Errorf("the mean of 12.1 is off by %g", got[0]-12.1)
		}
		near(t, "mean", got[1], 0.1, 1e-9)
	}
}

func TestSliceSeesTheSame(t *testing.T) {
	tt := times(100, 10*ms)
	x, u := make([]float64, 100), make([]float64, 100)
	for i := range x {
		x[i], u[i] = math.Sin(float64(i)), math.Cos(float64(i))
	}
	f := Prepare(0, Series{T: tt, X: x, U: u}, states(1), 1, Options{})[0]
	s := f.Slice(20, 60)
	var a, b [1]float64
	for _, at := range []float64{0.2, 0.333, 0.59} {
		if f.StateAt(a[:], at); !s.StateAt(b[:], at) || a != b {
			t.Errorf("state at %v: %v, want %v", at, b, a)
		}
	}
	f.InputMean(a[:], 0.21, 0.47)
	s.InputMean(b[:], 0.21, 0.47)
	near(t, "mean", b[0], a[0], 1e-14)
	if s.StateAt(b[:], 0.19) || s.StateAt(b[:], 0.6) {
		t.Error("a slice sees outside of itself")
	}
}

func TestLookUpsDoNotAllocate(t *testing.T) {
	tt := times(1000, 10*ms)
	f := Prepare(0, Series{T: tt, X: make([]float64, 2000), U: make([]float64, 1000)}, states(2), 1, Options{})[0]
	dst := make([]float64, 2)
	in := &Input{Flight: &f, Start: 3}
	if n := testing.AllocsPerRun(100, func() {
		f.Displacement(dst, 5, 0.1234)
		f.SampleDisplacement(dst, 5, 9)
		in.Mean(dst, 0.1, 0.5)
		in.At(dst, 0.2)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A displacement ends in one measurement, whose noise is that of one: between samples too.
// What is straight stays straight.
func TestDisplacementHasTheNoiseOfOneMeasurement(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	var s Series
	for i := range 4000 {
		s.T, s.X = append(s.T, int64(i)*2e7), append(s.X, rng.NormFloat64(), 3*float64(i)*0.02)
	}
	f := Prepare(0, s, []channel.Channel{{Name: "noise", Role: channel.State}, {Name: "line", Role: channel.State}}, 0, Options{})[0]
	d := make([]float64, 2)
	for h, most := range map[float64]float64{0.04: 1.05, 0.045: 1.1, 0.05: 1.2, 0.057: 1.1} {
		square, n := 0.0, 0
		for start := range f.N() - 10 {
			if !f.Displacement(d, start, h) {
				t.Fatalf("none from sample %d on", start)
			}
			if math.Abs(d[1]-3*h) > 1e-9 {
				t.Fatalf("displacement %v of the line after %v s", d[1], h)
			}
			end := d[0] + f.State(start)[0]
			square, n = square+end*end, n+1
		}
		if v := square / float64(n); v < 0.95 || v > most {
			t.Errorf("after %v s: variance %v, expected 1 to %v", h, v, most)
		}
	}
}

// Between the samples of a channel that is measured more slowly than the flight is sampled it
// is not measured, but in the half of a step next to them.
func TestSampled(t *testing.T) {
	states := []channel.Channel{{Name: "slow"}, {Name: "fast"}}
	s := Series{}
	for i := range 11 {
		s.T = append(s.T, int64(i)*20_000_000)
		slow := math.NaN()
		if i%5 == 0 {
			slow = float64(i)
		}
		s.X = append(s.X, slow, float64(i))
	}
	f := Prepare(0, s, states, 0, Options{})[0]
	for at, want := range map[float64]bool{0: true, 0.009: true, 0.011: false, 0.05: false, 0.089: false, 0.091: true, 0.1: true, 0.2: true, -0.1: false} {
		if f.Sampled(0, at) != want || f.Sampled(1, at) != (at >= 0) {
			t.Errorf("at %g s: %v and %v", at, f.Sampled(0, at), f.Sampled(1, at))
		}
	}
}
