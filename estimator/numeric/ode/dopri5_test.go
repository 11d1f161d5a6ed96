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
		steps := float64(d.steps)
		if lastErr > 0 {
			if order := math.Log(lastErr/e) / math.Log(steps/lastSteps); order < 4.5 || order > 6.5 {
				t.Errorf("rtol %g: order %.2f, want about 5", tol, order)
			}
		}
		lastErr, lastSteps = e, steps
	}
}

// One step of size h must err by O(h^6).
func TestOrderOfOneStep(t *testing.T) {
	one := func(h float64) float64 {
		d := NewDopri5(1, Config{})
		d.x[0] = math.Sin(1)
		forced(d.fx, 1, nil)
		d.trial(forced, 1, h)
		return math.Abs(d.y[0] - math.Sin((1+h)*(1+h)))
	}
	if order := math.Log2(one(0.1) / one(0.05)); math.Abs(order-6) > 0.7 {
		t.Errorf("error of a step falls with order %.2f, want 6", order)
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
	d := NewDopri5(2, Config{RTol: 1e-9})
	dst := make([]float64, 10)
	if !d.Solve(dst, oscillator, []float64{1, 0}, 0, []float64{0, 0, 1, 1, 2}) {
		t.Fatal("failed")
	}
	for i, at := range []float64{0, 0, 1, 1, 2} {
		if math.Abs(dst[2*i]-math.Cos(at)) > 1e-6 {
			t.Errorf("at %v got %v", at, dst[2*i])
		}
	}
	if !d.Solve(nil, oscillator, []float64{1, 0}, 0, nil) {
		t.Error("no times asked for is not a failure")
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
	if few.steps+few.rejected != 10 || !finite(x) {
		t.Errorf("gave up after %d steps and %d rejected ones at %v", few.steps, few.rejected, x)
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
	d := NewDopri5(2, Config{RTol: 1e-9})
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
