package trust

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// walk is a robot whose measured position is a random walk with noise, and the
// predictor that knows it: the distribution that it gives is the true one while
// scale is 1.
type walk struct {
	rng   *rand.Rand
	t     int64 // ns
	x     []float64
	scale float64 // of what pushes it; the predictor does not know
	times []float64
	mean  []float64
	std   []float64
	y     []float64
}

const (
	period    = int64(10e6) // ns
	diffusion = 1.          // units squared a second
	noise     = 0.02
)

func newWalk(seed uint64, K int) *walk {
	w := &walk{rng: rand.New(rand.NewPCG(seed, 0)), x: make([]float64, K), y: make([]float64, K), scale: 1}
	for i := range 25 {
		t := 0.02 * float64(i+1)
		w.times = append(w.times, t)
		for range K {
			w.std = append(w.std, math.Sqrt(diffusion*t+2*noise*noise))
		}
	}
	w.mean = make([]float64, len(w.std))
	return w
}

// step moves the robot by one period and lets the monitor see it and a prediction.
func (w *walk) step(m *Monitor) {
	w.t += period
	K := len(w.x)
	for k := range w.x {
		w.x[k] += w.scale * math.Sqrt(diffusion*float64(period)*1e-9) * w.rng.NormFloat64()
		w.y[k] = w.x[k] + noise*w.rng.NormFloat64()
	}
	m.Observed(w.t, w.y)
	for i := range w.times {
		copy(w.mean[i*K:(i+1)*K], w.y)
	}
	m.Predicted(w.t, w.mean, w.std, Tube{})
}

func (w *walk) run(m *Monitor, seconds float64) {
	for range int(seconds * 1e9 / float64(period)) {
		w.step(m)
	}
}

func monitor(w *walk) *Monitor {
	return New(Config{K: len(w.x), Times: w.times, Period: make([]float64, len(w.x))})
}

func TestTrueModelRaisesNoAlarm(t *testing.T) {
	w := newWalk(1, 2)
	m := monitor(w)
	w.run(m, 2000)
	var r Report
	m.Report(&r)
	if r.Alarms != 0 {
		t.Errorf("%d alarms", r.Alarms)
	}
	if !slices.EqualFunc(r.Buckets, []float64{0.06, 0.14, 0.26, 0.5}, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
		t.Fatalf("buckets %v", r.Buckets)
	}
	for i := range r.Checks {
		// 400 checks, four of which overlap: 100 that count, so 0.022 is one standard deviation.
		if math.Abs(r.Coverage[i]-0.95) > 0.07 || math.Abs(r.Recalibrated[i]-0.95) > 0.07 || math.Abs(r.Nees[i]-1) > 0.5 || r.Factor[i] < 0.6 || r.Factor[i] > 1.6 {
			t.Errorf("series %d: coverage %.3f, recalibrated %.3f, nees %.2f, factor %.2f", i, r.Coverage[i], r.Recalibrated[i], r.Nees[i], r.Factor[i])
		}
		if want := 2000 / r.Buckets[i/2] * perBucket * 0.3; r.Checks[i] < want {
			t.Errorf("series %d: %v checks, expected more than %v", i, r.Checks[i], want)
		}
	}
}

// The robot is not the one of the training data: gusts make errors 2.5 times as large. Raw
// coverage falls, the alarm comes within what the derivation says, the recalibrated
// intervals hold again within 40 horizons; and all of it ends with the gusts.
func TestGustsRaiseAnAlarmAndAreRecalibrated(t *testing.T) {
	const horizon = 0.5
	for seed := range uint64(5) {
		w := newWalk(seed+10, 2)
		m := monitor(w)
		w.run(m, 300)
		if m.Miscalibrated() > 0 {
			t.Fatalf("seed %d: an alarm before the gusts", seed)
		}
		w.scale = 2.5
		alarmAt := -1.
		for s := 0.; s < 20*horizon && alarmAt < 0; s += 0.1 {
			w.run(m, 0.1)
			if m.Miscalibrated() > 0 {
				alarmAt = s + 0.1
			}
		}
		// In the shortest bucket, 0.06 s, log c = 17.5 is passed after about 50 checks of 0.07 s; twice that is rare.
		if alarmAt < 0 || alarmAt > 7 {
			t.Errorf("seed %d: the alarm came after %v s", seed, alarmAt)
		}
		w.run(m, 40*horizon)
		raw, again, n := held(w, m, 400*horizon)
		if n < 1000 {
			t.Fatalf("seed %d: %v checks", seed, n)
		}
		if raw > 0.70 {
			t.Errorf("seed %d: raw coverage %.3f in the gusts", seed, raw)
		}
		if math.Abs(again-0.95) > 0.02 {
			t.Errorf("seed %d: recalibrated coverage %.3f, want 0.95 ± 0.02", seed, again)
		}
		w.scale = 1
		w.run(m, 600*horizon)
		if m.Miscalibrated() > 0 {
			t.Errorf("seed %d: the alarm does not end", seed)
		}
		for i := range m.series {
			if f := m.series[i].factor; f > 1.7 {
				t.Errorf("seed %d: series %d still has factor %.2f", seed, i, f)
			}
		}
	}
}

// Errors that no factor covers, as of a sensor with false values, leave nothing behind: intervals have returned within twenty horizons of the end.
func TestTheFactorReturnsAfterErrorsBeyondItsBound(t *testing.T) {
	const horizon = 0.5
	for seed := range uint64(5) {
		w := newWalk(seed+20, 2)
		m := monitor(w)
		w.run(m, 100)
		usual := meanFactor(m)
		w.scale = 50
		w.run(m, 40*horizon)
		if f := meanFactor(m); f < 0.9*highest {
			t.Errorf("seed %d: the factor is %.2f, far from its bound", seed, f)
		}
		w.scale = 1
		w.run(m, 15*horizon)
		late := 0.0
		for range 10 {
			w.run(m, horizon)
			late += meanFactor(m) / 10
		}
		if late > 1.25*usual {
			t.Errorf("seed %d: twenty horizons after the end the factor is %.2f, before %.2f", seed, late, usual)
		}
		if _, again, n := held(w, m, 100*horizon); again < 0.93 {
			t.Errorf("seed %d: then %.3f of %v checks are covered", seed, again, n)
		}
	}
}

// meanFactor returns the geometric mean over the series.
func meanFactor(m *Monitor) float64 {
	sum := 0.0
	for i := range m.series {
		sum += math.Log(m.series[i].factor)
	}
	return math.Exp(sum / float64(len(m.series)))
}

// held returns the share of checks within the raw and the recalibrated intervals
// over some seconds, over all series.
func held(w *walk, m *Monitor, seconds float64) (raw, again, n float64) {
	type sum struct{ checks, raw, again float64 }
	before := make([]series, len(m.series))
	var s sum
	for range int(seconds * 1e9 / float64(period)) {
		copy(before, m.series)
		w.step(m)
		for i := range m.series {
			a, b := &before[i], &m.series[i]
			if b.checks == a.checks {
				continue
			}
			weight := max(1/b.checks, 1./memory)
			s.checks++
			s.raw += math.Round((b.coverage-a.coverage)/weight + a.coverage)
			s.again += math.Round((b.recalibrated-a.recalibrated)/weight + a.recalibrated)
		}
	}
	return s.raw / s.checks, s.again / s.checks, s.checks
}

// Under the worst of the null hypothesis the mean number of checks until an alarm
// is at least c, whether misses are independent or come in a pattern that keeps
// their chance given the past at the band.
func TestFalseAlarmRateIsWithinItsBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	for _, c := range []float64{30, 300} {
		const runs = 1000
		total := 0.
		for range runs {
			a := alarm{limit: c}
			state := 0.
			for !a.on {
				// The chance depends on the past, never above the band.
				p := band * (1 - 0.5*state)
				miss := rng.Float64() < band
				if state > 0 {
					miss = rng.Float64() < p
				}
				state = indicator(miss && rng.Float64() < 0.3)
				a.add(miss)
				total++
			}
		}
		if mean := total / runs; mean < c {
			t.Errorf("c = %v: alarms after %v checks on average", c, mean)
		}
	}
}

func TestAlarmComesInTimeAndEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 0))
	const c = 1e8
	worst, mean := 0, 0.
	for range 200 {
		a := alarm{limit: c}
		n := 0
		for ; !a.on; n++ {
			a.add(rng.Float64() < 0.5)
		}
		worst, mean = max(worst, n), mean+float64(n)/200
		for n = 0; a.on; n++ {
			if a.add(rng.Float64() < 0.03); n > 5000 {
				t.Fatal("the alarm does not end")
			}
		}
	}
	if mean > 50 || worst > 120 {
		t.Errorf("alarms after %v checks on average, at most %d", mean, worst)
	}
}

// Gibbs & Candès' proposition 4.1 for errors that no assumption holds for: the
// share of misses of the published intervals is as near 0.05 as they say.
func TestTheFactorKeepsTheLongRunShareWhateverComes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 0))
	for name, error := range map[string]func(i int, factor float64) float64{
		"normal":      func(int, float64) float64 { return rng.NormFloat64() },
		"heavy tails": func(int, float64) float64 { return rng.NormFloat64() / math.Max(math.Abs(rng.NormFloat64()), 0.2) },
		"seasons":     func(i int, _ float64) float64 { return rng.NormFloat64() * (1 + 2*math.Abs(math.Sin(float64(i)/500))) },
		"small":       func(int, float64) float64 { return 0.6 * rng.NormFloat64() },
		"an adversary": func(i int, factor float64) float64 { // just outside what was published, in bursts
			if i%100 < 50 {
				return 1.01 * factor * width
			}
			return 0
		},
	} {
		var s series
		s.reset(1e9)
		const n = 20000
		missed, start := 0., s.alpha
		lowestAlpha := s.alpha
		for i := range n {
			z := error(i, s.factor)
			missed += indicator(math.Abs(z)/width > s.factor)
			s.add(z, s.factor, true)
			lowestAlpha = min(lowestAlpha, s.alpha)
		}
		if name == "an adversary" {
			if lowestAlpha != leastAlpha { // it drives the factor to its bound, where the promise ends
				t.Errorf("%s: α fell to %v, its bound is %v", name, lowestAlpha, leastAlpha)
			}
			continue
		}
		// From the recursion itself; with α within [−γ, 1 + γ] it is their bound.
		if d := missed/n - nominal - (start-s.alpha)/(learning*n); lowestAlpha > leastAlpha && math.Abs(d) > 1e-9 {
			t.Errorf("%s: the recursion is off by %v", name, d)
		}
		if math.Abs(missed/n-nominal) > 0.006 {
			t.Errorf("%s: %v misses", name, missed/n)
		}
	}
}

func TestQuantilesAreThoseOfTheLastScores(t *testing.T) {
	var of scores
	s := of.ring()
	s.reset(normal)
	if q := s.above(nominal); math.Abs(q-1) > 0.01 {
		t.Errorf("the quantile of a normal distribution is %v", q)
	}
	rng := rand.New(rand.NewPCG(6, 0))
	var all []float32
	for range 1000 {
		v := rng.Float32() * 4
		if rng.IntN(3) == 0 {
			v = 1 // ties
		}
		all = append(all, v)
		s.add(v)
		if !slices.IsSorted(s.sorted) {
			t.Fatal("not sorted")
		}
	}
	want := slices.Clone(all[len(all)-recent:])
	slices.Sort(want)
	if !slices.Equal(want, s.sorted) {
		t.Error("these are not the last scores")
	}
	for _, alpha := range []float64{-5, -0.1, 0, 0.001, 0.05, 0.5, 0.9999, 1, 7} {
		if q, next := s.above(alpha), s.above(alpha+0.01); q < next || q > 2*float64(want[recent-1]) {
			t.Errorf("at %v: %v, then %v", alpha, q, next)
		}
	}
}

// Between the ends of two buckets the factor is interpolated, at an end it is that
// of the bucket, before the first and behind the last it stays.
func TestFactorsBetweenBuckets(t *testing.T) {
	var times []float64
	for i := range 20 {
		times = append(times, 0.05*float64(i+1))
	}
	m := New(Config{K: 1, Times: times, Period: []float64{0}})
	for b := range m.until {
		m.series[b].factor = float64(int(1) << b)
	}
	got := make([]float64, 20)
	m.Factors(got)
	for i, want := range map[int]float64{0: 1, 1: 1, 4: 2, 9: 4, 19: 8, 14: 6, 3: 1 + 2./3} {
		if math.Abs(got[i]-want) > 1e-9 {
			t.Errorf("at %v s: %v, want %v", times[i], got[i], want)
		}
	}
}

func BenchmarkFactors(b *testing.B) {
	var times []float64
	for i := range 100 {
		times = append(times, 0.01*float64(i+1))
	}
	m := New(Config{K: 12, Times: times, Period: make([]float64, 12)})
	dst := make([]float64, 1200)
	for b.Loop() {
		m.Factors(dst)
	}
}
