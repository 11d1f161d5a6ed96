package calibration

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// spreadOut returns folds in which one window of twenty has components that are e² times as far apart as usual, and errors that are larger by a factor.
func spreadOut(rng *rand.Rand, factor float64) []*heldErrors {
	folds := made(rng, 4, 2000, func(int, int, []float64) float64 { return 1 })
	for _, e := range folds {
		for i := range e.windows {
			for j := range e.windows[i].errors {
				at := &e.windows[i].errors[j]
				if at.all[model.CovariateSpread] = rng.Float64(); i%21 == 0 {
					at.all[model.CovariateSpread] = 3
					at.z, at.residual = factor*at.z, factor*(at.residual-at.network)+at.network
				}
			}
		}
	}
	return folds
}

// Where components are farther apart than usual, intervals grow by a coefficient that folds do not fit, and cover what is as wrong as that says.
func TestIntervalsBeyondBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	folds := spreadOut(rng, math.Exp(2*furtherSpread))
	m := calibrated(folds, Switches{NetworkWeight: true, ScaleFactor: true, Distance: true, Motion: true}, true)
	c := &m.Intervals
	most, further := c.Bounds(model.CovariateSpread)
	if most < 0.9 || most > 1 || further != furtherSpread {
		t.Fatalf("the spread counts fully up to %.3g, by %v beyond; expected 0.9 to 1, %v", most, further, furtherSpread)
	}
	if most, further := c.Bounds(model.CovariateLeverage); most != math.Log1p(mostLeverage) || further != furtherLeverage {
		t.Errorf("the leverage counts fully up to %v, by %v beyond", most, further)
	}
	if most, _ := c.Bounds(model.CovariateMotion); !math.IsInf(most, 1) {
		t.Errorf("the motion counts up to %v", most)
	}
	for _, beyond := range []bool{false, true} {
		inside, n := 0.0, 0.0
		for _, e := range folds {
			for i := range e.windows {
				if (i%21 == 0) == beyond {
					inside += float64(insideOf(c, &e.windows[i]))
					n += float64(len(e.windows[i].errors))
				}
			}
		}
		if inside/n < 0.93 || inside/n > 0.99 {
			t.Errorf("beyond the bound %t: %.3f of the errors are inside 95 %% intervals", beyond, inside/n)
		}
	}
}

// insideOf returns how many errors of a window are inside their 95 % intervals.
func insideOf(c *model.Calibration, w *heldWindow) (n int) {
	for j := range w.errors {
		at, log := &w.errors[j], c.LogScale[j%2*3+j/2]
		for of, b := range c.Coefficient {
			if within, added := c.Counted(model.Covariate(of), at.all[of]); len(b) > 0 {
				log += b[j%2]*(within-c.Centre[of]) + added
			}
		}
		if math.Abs(at.residual-at.network) < normal95*at.plain*math.Exp(log) {
			n++
		}
	}
	return n
}

// A second fit to the same errors, as to those of one more fold, widens them once.
func TestBoundsAreAppliedOnce(t *testing.T) {
	folds := spreadOut(rand.New(rand.NewPCG(32, 1)), 2)
	on := Switches{NetworkWeight: true, ScaleFactor: true, Distance: true, Motion: true}
	once := calibrated(folds, on, true)
	twice := calibrated(folds, on, true)
	for i, v := range once.Intervals.LogScale {
		if twice.Intervals.LogScale[i] != v {
			t.Fatalf("place %d: log scale %v, then %v", i, v, twice.Intervals.LogScale[i])
		}
	}
	if at := &folds[0].windows[0].errors[0]; math.Abs(math.Log(at.std/at.plain)-furtherSpread*(3-once.Intervals.Most[model.CovariateSpread])) > 1e-9 {
		t.Errorf("a standard deviation of %v is widened to %v", at.plain, at.std)
	}
}
