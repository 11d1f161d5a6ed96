package trust

import (
	"math"
	"math/rand/v2"
	"testing"
)

// flown is a monitor of a robot whose error after a prediction is a random walk in two
// channels, of a spread that a test changes.
type flown struct {
	m      *Monitor
	rng    *rand.Rand
	t      int64
	inside Tube // separate trajectories within what was published
	n      float64
}

// flownTimes are the times of its predictions, s.
var flownTimes = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}

// walks are its factors: about those of two random walks with ten steps.
var walks = Tube{1.9, 2.9, 3.2}

func newFlown() *flown {
	return &flown{m: New(Config{K: 2, Times: flownTimes, Period: make([]float64, 2)}), rng: rand.New(rand.NewPCG(3, 4))}
}

// fly flies so many trajectories one after the other.
func (f *flown) fly(n int, spread float64) {
	std, mean := make([]float64, 2*len(flownTimes)), make([]float64, 2*len(flownTimes))
	for i, t := range flownTimes {
		std[2*i], std[2*i+1] = math.Sqrt(t), math.Sqrt(t)
	}
	for range n {
		published := f.m.Tube(walks)
		f.m.Predicted(f.t, mean, std, walks)
		x, largest := make([]float64, 2), 0.0
		for _, t := range flownTimes {
			f.t += 1e8
			for k := range x {
				x[k] += spread * math.Sqrt(0.1) * f.rng.NormFloat64()
				largest = math.Max(largest, math.Abs(x[k])/math.Sqrt(t))
			}
			f.m.Observed(f.t, x)
		}
		f.n++
		for l, factor := range published {
			f.inside[l] += indicator(largest <= factor)
		}
		f.t += 1e7
	}
}

// Before anything was seen the factors are the model's; then the shares of trajectories inside
// are the nominal ones within .02, through a change by which all errors are three times as large.
func TestTubesKeepTheLongRunShareThroughAChange(t *testing.T) {
	f := newFlown()
	if got := f.m.Tube(walks); got != walks {
		t.Errorf("factors %v at the start", got)
	}
	for _, spread := range []float64{1, 3, 0.8} {
		f.inside, f.n = Tube{}, 0
		f.fly(6000, spread)
		for l, p := range levels {
			if share := f.inside[l] / f.n; math.Abs(share-p) > 0.02 {
				t.Errorf("spread %v: %.3f of the trajectories within the tube of %v", spread, share, p)
			}
		}
	}
	if c := f.m.tubes.covered[2]; math.Abs(c-0.95) > 0.04 || f.m.tubes.checks < 17000 {
		t.Errorf("running share %v of %v trajectories", c, f.m.tubes.checks)
	}
	observed := []float64{0, 0}
	if n := testing.AllocsPerRun(100, func() { f.t += 1e7; f.m.Observed(f.t, observed); f.m.Tube(walks) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	b := f.m.Append(nil, "a")
	again := newFlown()
	if err := again.m.Restore(b, "a"); err != nil || again.m.Tube(walks) != f.m.Tube(walks) {
		t.Errorf("%v: factors %v after a restart, %v before", err, again.m.Tube(walks), f.m.Tube(walks))
	}
}

// A prediction without factors, one of a part of the horizon and one whose end was not seen
// change nothing.
func TestTubesOfWholeTrajectoriesAlone(t *testing.T) {
	f := newFlown()
	n := 2 * len(flownTimes)
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	for i, given := range []struct {
		tube Tube
		rows int
		seen int
	}{{Tube{}, 10, 10}, {walks, 5, 10}, {walks, 10, 4}, {walks, 10, 2}} {
		f.t += 10e9
		f.m.Predicted(f.t, make([]float64, 2*given.rows), ones[:2*given.rows], given.tube)
		for j := range given.seen {
			f.m.Observed(f.t+int64(j+1)*1e8, []float64{100, 100})
		}
		f.m.Observed(f.t+5e9, []float64{100, 100})
		if f.m.tubes.checks != 0 || f.m.Tube(walks) != walks {
			t.Errorf("case %d: %v checks, factors %v", i, f.m.tubes.checks, f.m.Tube(walks))
		}
	}
	if f.m.Tube(Tube{}) != (Tube{}) {
		t.Error("factors of a model without")
	}
}

// Factors and probabilities are mapped there and back, equal factors too.
func TestProbabilityAndFactorAreInverse(t *testing.T) {
	for _, p := range []float64{0.01, 0.5, 0.7, 0.93, 0.95, 1, 2.5} {
		if got := walks.probability(walks.factor(p)); math.Abs(got-p) > 1e-12 {
			t.Errorf("probability %v becomes %v", p, got)
		}
	}
	same := Tube{2, 2, 2}
	if p := same.probability(2); p != 0.5 || math.IsNaN(same.factor(0.7)) || same.factor(0.7) != 2 {
		t.Errorf("equal factors: %v, %v", p, same.factor(0.7))
	}
}

// A measurement is compared with all predictions that wait for one.
func BenchmarkObserved(b *testing.B) {
	times := make([]float64, 100)
	for i := range times {
		times[i] = float64(i+1) / 100
	}
	const K = 12
	m := New(Config{K: K, Times: times, Period: make([]float64, K)})
	mean, std, x := make([]float64, 100*K), make([]float64, 100*K), make([]float64, K)
	for i := range std {
		std[i] = 1
	}
	t := int64(0)
	for b.Loop() {
		t += 1e7
		m.Predicted(t, mean, std, walks)
		m.Observed(t, x)
	}
}
