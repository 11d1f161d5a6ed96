package sensor

import (
	"math"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/firmware-sim/fault"
)

const ms = int64(1e6)

var pair = []channel.Channel{
	{Name: "theta", Role: channel.State}, {Name: "omega", Role: channel.State},
}

// sample is what came of one measurement.
type sample struct {
	at, stamp int64
	truth, x  []float64
	ok        bool
}

// measure observes two ramps, 1/s and −2/s, every 5 ms.
func measure(t *testing.T, n int, noise []float64, faults ...string) []sample {
	t.Helper()
	c := Config{Noise: noise, Spike: []float64{0.1, 0.3}, Seed: 1}
	for _, text := range faults {
		f, err := fault.Parse(text, pair, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.Faults = append(c.Faults, f)
	}
	s := New(c, 0)
	out := make([]sample, n)
	for i := range out {
		at := int64(i) * 5 * ms
		truth := []float64{float64(at) / 1e9, -2 * float64(at) / 1e9}
		out[i] = sample{at: at, truth: truth, x: make([]float64, 2)}
		out[i].stamp, out[i].ok = s.Measure(out[i].x, at, truth)
	}
	return out
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-12*(1+math.Abs(b)) }

func TestWithoutNoiseAndFaultsTheTruthComesThrough(t *testing.T) {
	for _, s := range measure(t, 100, nil) {
		if !s.ok || s.stamp != s.at || !slices.Equal(s.x, s.truth) {
			t.Fatalf("%+v", s)
		}
	}
}

func TestNoise(t *testing.T) {
	var sum, square, cross, lag float64
	last := 0.0
	const n = 100_000
	for _, s := range measure(t, n, []float64{0.5, 0.1}) {
		a, b := s.x[0]-s.truth[0], s.x[1]-s.truth[1]
		sum, square, cross, lag = sum+a/n, square+a*a/n, cross+a*b/n, lag+a*last/n
		last = a
	}
	// Standard errors: mean 0.0016, std 0.0011, products 0.0002 and 0.0008.
	if math.Abs(sum) > 0.008 || math.Abs(math.Sqrt(square)-0.5) > 0.006 || math.Abs(cross) > 0.001 || math.Abs(lag) > 0.004 {
		t.Errorf("mean %v, std %v, between states %v, in time %v", sum, math.Sqrt(square), cross, lag)
	}
}

func TestBias(t *testing.T) {
	for _, s := range measure(t, 100, nil, "bias=0.3:100ms@omega") {
		want := s.truth[1]
		if s.at >= 100*ms {
			want += 0.3
		}
		if s.x[0] != s.truth[0] || !near(s.x[1], want) {
			t.Fatalf("at %d ms: %v", s.at/ms, s.x)
		}
	}
}

func TestSpike(t *testing.T) {
	up, down := 0, 0
	for _, s := range measure(t, 100_000, nil, "spike=0.01:5") {
		for i, size := range []float64{0.5, 1.5} {
			switch d := s.x[i] - s.truth[i]; {
			case math.Abs(d) < 1e-9:
			case math.Abs(d-size) < 1e-9:
				up++
			case math.Abs(d+size) < 1e-9:
				down++
			default:
				t.Fatalf("off by %v", d)
			}
		}
	}
	// 2,000 expected of 200,000 values, half of them up; standard errors 45 and 22.
	if math.Abs(float64(up+down)-2000) > 220 || math.Abs(float64(up-down)) > 220 {
		t.Errorf("%d up, %d down", up, down)
	}
}

func TestFreeze(t *testing.T) {
	for _, s := range measure(t, 100, nil, "freeze=100ms:50ms@theta") {
		want := s.truth[0]
		if s.at >= 100*ms && s.at < 150*ms {
			want = 0.095 // the last sample before 100 ms
		}
		if !near(s.x[0], want) || s.x[1] != s.truth[1] {
			t.Fatalf("at %d ms: %v", s.at/ms, s.x)
		}
	}
	// What freezes is the measurement, noise included.
	frozen := measure(t, 40, []float64{1, 1}, "freeze=100ms:50ms")
	for _, s := range frozen[20:30] {
		if !slices.Equal(s.x, frozen[19].x) {
			t.Errorf("a frozen value moved to %v", s.x)
		}
	}
}

func TestDelay(t *testing.T) {
	for _, by := range []float64{0, 0.02, 0.0125, 0.001} { // whole samples, a half, a fifth
		text := "delay=" + map[float64]string{0: "0s", 0.02: "20ms", 0.0125: "12500us", 0.001: "1ms"}[by]
		for _, s := range measure(t, 100, nil, text) {
			past := math.Max(0, float64(s.at)/1e9-by)
			if !near(s.x[0], past) || !near(s.x[1], -2*past) || s.stamp != s.at {
				t.Fatalf("%s: at %d ms: %v", text, s.at/ms, s.x)
			}
		}
	}
	for _, s := range measure(t, 100, nil, "delay=20ms@omega")[10:] {
		if s.x[0] != s.truth[0] || !near(s.x[1], s.truth[1]+0.04) {
			t.Fatalf("delay of one state: %v for %v", s.x, s.truth)
		}
	}
	// Noise belongs to the sensor and is not delayed: it is the same noise.
	plain, late := measure(t, 50, []float64{1, 1}), measure(t, 50, []float64{1, 1}, "delay=20ms")
	for i := range plain {
		a, b := plain[i].x[0]-plain[i].truth[0], late[i].x[0]-math.Max(0, plain[i].truth[0]-0.02)
		if math.Abs(a-b) > 1e-12 {
			t.Fatalf("noise %v became %v", a, b)
		}
	}
}

func TestJitter(t *testing.T) {
	var sum, square float64
	const n = 20_000
	for _, s := range measure(t, n, nil, "jitter=1ms") {
		e := float64(s.stamp-s.at) / 1e6
		sum, square = sum+e/n, square+e*e/n
		if math.Abs(e) > 3 || !slices.Equal(s.x, s.truth) {
			t.Fatalf("stamp off by %v ms, values %v", e, s.x)
		}
	}
	// Cut at three standard deviations the normal's own is 0.9933 of the full one.
	if math.Abs(sum) > 0.035 || math.Abs(math.Sqrt(square)-0.993) > 0.025 {
		t.Errorf("mean %v ms, std %v ms", sum, math.Sqrt(square))
	}
}

func TestClockJump(t *testing.T) {
	for _, by := range []struct {
		text string
		ns   int64
	}{{"clock-jump=100ms:300ms", 300 * ms}, {"clock-jump=100ms:-40ms", -40 * ms}} {
		for _, s := range measure(t, 100, nil, by.text) {
			want := s.at
			if s.at >= 100*ms {
				want += by.ns
			}
			if s.stamp != want || !slices.Equal(s.x, s.truth) {
				t.Fatalf("%s: at %d ms: stamp %d", by.text, s.at/ms, s.stamp)
			}
		}
	}
}

func TestDropout(t *testing.T) {
	for _, c := range []struct {
		text  string
		share float64
		burst int // samples
	}{{"dropout=0.1", 0.1, 1}, {"dropout=0.1:50ms", 0.1, 10}, {"dropout=0", 0, 1}, {"dropout=0.5:8ms", 0.5, 2}} {
		const n = 200_000
		lost, run, shortest := 0, 0, n
		for i, s := range measure(t, n, nil, c.text) {
			switch {
			case !s.ok && i == 0:
				t.Fatal("the first sample is lost")
			case !s.ok:
				lost++
				run++
			case run > 0:
				shortest = min(shortest, run)
				run = 0
			}
		}
		// The standard error grows with the root of the burst's length.
		if e := math.Abs(float64(lost)/n - c.share); e > 0.005*math.Sqrt(float64(c.burst)) {
			t.Errorf("%s: lost %v", c.text, float64(lost)/n)
		}
		if c.share > 0 && shortest != c.burst {
			t.Errorf("%s: shortest burst %d samples", c.text, shortest)
		}
	}
	missing := 0
	for _, s := range measure(t, 10_000, nil, "dropout=0.2@omega") {
		if !s.ok || math.IsNaN(s.x[0]) {
			t.Fatal("more was lost than one state")
		}
		if math.IsNaN(s.x[1]) {
			missing++
		}
	}
	if missing < 1800 || missing > 2200 {
		t.Errorf("%d of 10,000 values missing, want about 2,000", missing)
	}
}

// A fault changes what it is for: everything else stays bit for bit.
func TestFaultsChangeNothingElse(t *testing.T) {
	noise := []float64{0.1, 0.1}
	plain := measure(t, 2000, noise)
	for _, text := range []string{"spike=0.01", "dropout=0.05", "jitter=1ms", "freeze=3s:0.1s", "bias=1:3s@theta", "clock-jump=3s:1s"} {
		same := 0
		for i, s := range measure(t, 2000, noise, text) {
			if slices.Equal(s.x, plain[i].x) {
				same++
			}
		}
		if same < 600 {
			t.Errorf("%s: only %d of 2,000 measurements are as without it", text, same)
		}
	}
	// The order in which faults are given does not matter.
	a := measure(t, 500, noise, "freeze=1s:0.5s", "bias=1@theta", "delay=20ms", "dropout=0.1")
	b := measure(t, 500, noise, "dropout=0.1", "delay=20ms", "bias=1@theta", "freeze=1s:0.5s")
	for i := range a {
		if !slices.Equal(a[i].x, b[i].x) {
			t.Fatalf("sample %d: %v and %v", i, a[i].x, b[i].x)
		}
	}
}

func TestMeasuringAllocatesNothing(t *testing.T) {
	var faults []fault.Fault
	for _, text := range []string{"delay=22ms", "bias=1@theta", "spike=0.1", "freeze=1s:1s", "jitter=1ms", "clock-jump=1s:1s", "dropout=0.1"} {
		f, err := fault.Parse(text, pair, nil)
		if err != nil {
			t.Fatal(err)
		}
		faults = append(faults, f)
	}
	s := New(Config{Noise: []float64{1, 1}, Spike: []float64{1, 1}, Faults: faults}, 0)
	x, at := []float64{1, 2}, int64(0)
	next := func() { s.Measure(x, at, x); at += 5 * ms }
	for range 20 {
		next() // the delay takes its memory
	}
	if n := testing.AllocsPerRun(100, next); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
