package ode

import (
	"math"
	"testing"
)

// lotkaVolterra has the invariant x − log x + y − log y (all parameters one).
func lotkaVolterra(dst []float64, _ float64, x []float64) {
	dst[0] = x[0] - x[0]*x[1]
	dst[1] = x[0]*x[1] - x[1]
}

// forced has the solution sin t² and reads the time.
func forced(dst []float64, t float64, _ []float64) { dst[0] = 2 * t * math.Cos(t*t) }

func oscillator(dst []float64, _ float64, x []float64) { dst[0], dst[1] = x[1], -x[0] }

func TestToleranceIsKept(t *testing.T) {
	for _, tol := range []float64{1e-3, 1e-6, 1e-9, 1e-12} {
		d := NewDopri5(2, Config{RTol: tol})
		x := []float64{1, 0}
		if !d.Advance(oscillator, x, 0, 20) {
			t.Fatalf("rtol %g: failed", tol)
		}
		// Errors of about 20 time units' worth of steps add up; an order of
		// magnitude over the tolerance of one step is what is expected.
		if e := math.Hypot(x[0]-math.Cos(20), x[1]+math.Sin(20)); e > 50*tol {
			t.Errorf("rtol %g: error %g", tol, e)
		}
	}
}

func TestErrorFallsWithTheFifthPowerOfTheWork(t *testing.T) {
	var lastErr, lastSteps float64
	for _, tol := range []float64{1e-6, 1e-8, 1e-10} {
		d := NewDopri5(2, Config{RTol: tol})
		x := []float64{1, 0}
		if !d.Advance(oscillator, x, 0, 50) {
			t.Fatal("failed")
		}
		e := math.Hypot(x[0]-math.Cos(50), x[1]+math.Sin(50))
		steps := float64(d.Stats().Steps)
		if lastErr > 0 {
			if order := math.Log(lastErr/e) / math.Log(steps/lastSteps); order < 4.5 || order > 6.5 {
				t.Errorf("rtol %g: order %.2f, want about 5", tol, order)
			}
		}
		lastErr, lastSteps = e, steps
	}
}

// One step of size h must err by O(h^6) and its interpolant by O(h^5).
func TestOrderOfOneStepAndItsInterpolant(t *testing.T) {
	one := func(h float64) (end, middle float64) {
		// Tolerances so loose that the span is done in one step.
		d := NewDopri5(1, Config{RTol: 1e9, First: h, Dense: true})
		dst := make([]float64, 2)
		at := []float64{1 + 0.4*h, 1 + h}
		if !d.Solve(dst, forced, []float64{math.Sin(1)}, 1, at) || d.Stats().Steps != 1 {
			t.Fatalf("h %g: %d steps", h, d.Stats().Steps)
		}
		return math.Abs(dst[1] - math.Sin(at[1]*at[1])), math.Abs(dst[0] - math.Sin(at[0]*at[0]))
	}
	e1, m1 := one(0.1)
	e2, m2 := one(0.05)
	if order := math.Log2(e1 / e2); math.Abs(order-6) > 0.7 {
		t.Errorf("error of a step falls with order %.2f, want 6", order)
	}
	if order := math.Log2(m1 / m2); math.Abs(order-5) > 0.7 {
		t.Errorf("error of the interpolant falls with order %.2f, want 5", order)
	}
}

func TestDenseAgreesWithExact(t *testing.T) {
	times := make([]float64, 200)
	for i := range times {
		times[i] = 10 * float64(i) / 199
	}
	x0 := []float64{1, 2}
	exact, dense := make([]float64, 400), make([]float64, 400)
	a := NewDopri5(2, Config{RTol: 1e-8})
	b := NewDopri5(2, Config{RTol: 1e-8, Dense: true})
	if !a.Solve(exact, lotkaVolterra, x0, 0, times) || !b.Solve(dense, lotkaVolterra, x0, 0, times) {
		t.Fatal("failed")
	}
	for i := range exact {
		if math.Abs(exact[i]-dense[i]) > 1e-5 {
			t.Fatalf("value %d: exact %v, dense %v", i, exact[i], dense[i])
		}
	}
	if a.Stats().Evals < 2*b.Stats().Evals {
		t.Errorf("dense took %d evaluations, exact %d: expected far fewer", b.Stats().Evals, a.Stats().Evals)
	}
}

func TestLotkaVolterraInvariant(t *testing.T) {
	invariant := func(x []float64) float64 { return x[0] - math.Log(x[0]) + x[1] - math.Log(x[1]) }
	d := NewDopri5(2, Config{RTol: 1e-11})
	x := []float64{1, 2}
	want := invariant(x)
	for i := range 100 {
		if !d.Advance(lotkaVolterra, x, float64(i), float64(i+1)) {
			t.Fatal("failed")
		}
		if got := invariant(x); math.Abs(got-want) > 1e-8 {
			t.Fatalf("after %d s the invariant is %v, was %v", i+1, got, want)
		}
	}
}

func TestBackwardsReturnsToTheStart(t *testing.T) {
	d := NewDopri5(2, Config{RTol: 1e-11})
	x := []float64{1, 2}
	if !d.Advance(lotkaVolterra, x, 0, 7) || !d.Advance(lotkaVolterra, x, 7, 0) {
		t.Fatal("failed")
	}
	if math.Hypot(x[0]-1, x[1]-2) > 1e-9 {
		t.Errorf("came back to %v", x)
	}
}

func TestTimesMayStartAtTheStartAndRepeat(t *testing.T) {
	for _, dense := range []bool{false, true} {
		d := NewDopri5(2, Config{RTol: 1e-9, Dense: dense})
		dst := make([]float64, 10)
		if !d.Solve(dst, oscillator, []float64{1, 0}, 0, []float64{0, 0, 1, 1, 2}) {
			t.Fatalf("dense %v: failed", dense)
		}
		for i, at := range []float64{0, 0, 1, 1, 2} {
			if math.Abs(dst[2*i]-math.Cos(at)) > 1e-6 {
				t.Errorf("dense %v: at %v got %v", dense, at, dst[2*i])
			}
		}
		if !d.Solve(nil, oscillator, []float64{1, 0}, 0, nil) {
			t.Error("no times asked for is not a failure")
		}
	}
}

func TestFailures(t *testing.T) {
	explode := func(dst []float64, _ float64, x []float64) { dst[0] = x[0] * x[0] } // pole at t = 1
	d := NewDopri5(1, Config{RTol: 1e-9})
	dst := make([]float64, 2)
	if d.Solve(dst, explode, []float64{1}, 0, []float64{0.5, 2}) {
		t.Error("integrated through a pole")
	}
	if math.Abs(dst[0]-2) > 1e-6 || !math.IsNaN(dst[1]) {
		t.Errorf("rows %v: want 2 before the pole and NaN after", dst)
	}
	nan := func(dst []float64, _ float64, _ []float64) { dst[0] = math.NaN() }
	if d.Advance(nan, []float64{1}, 0, 1) {
		t.Error("accepted a right-hand side that is not a number")
	}
	if d.Advance(explode, []float64{math.Inf(1)}, 0, 1) {
		t.Error("accepted an infinite state")
	}
	few := NewDopri5(2, Config{RTol: 1e-12, MaxSteps: 10})
	x := []float64{1, 0}
	if few.Advance(oscillator, x, 0, 100) {
		t.Error("went beyond the number of steps")
	}
	if s := few.Stats(); s.Steps+s.Rejected != 10 || !finite(x) {
		t.Errorf("gave up after %+v at %v", s, x)
	}
}

func TestMisusePanics(t *testing.T) {
	d := NewDopri5(2, Config{})
	for name, c := range map[string]struct {
		call func()
		want string
	}{
		"size":      {func() { d.Advance(oscillator, []float64{1}, 0, 1) }, badSize},
		"dst":       {func() { d.Solve(make([]float64, 3), oscillator, []float64{1, 0}, 0, []float64{1}) }, badSize},
		"order":     {func() { d.Solve(make([]float64, 4), oscillator, []float64{1, 0}, 0, []float64{2, 1}) }, badTimes},
		"nan":       {func() { d.Solve(make([]float64, 2), oscillator, []float64{1, 0}, 0, []float64{math.NaN()}) }, badTimes},
		"no states": {func() { NewDopri5(0, Config{}) }, badSize},
		"no steps":  {func() { NewRK4(2).Advance(oscillator, []float64{1, 0}, 0, 1, 0) }, badStep},
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

func TestNoAllocationAfterNew(t *testing.T) {
	times := []float64{0.5, 1, 1.5, 2}
	dst, x := make([]float64, 8), []float64{1, 2}
	d := NewDopri5(2, Config{RTol: 1e-9, Dense: true})
	r := NewRK4(2)
	if n := testing.AllocsPerRun(20, func() {
		x[0], x[1] = 1, 2
		d.Solve(dst, lotkaVolterra, x, 0, times)
		d.Advance(lotkaVolterra, x, 0, 1)
		r.Advance(lotkaVolterra, x, 1, 2, 10)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
