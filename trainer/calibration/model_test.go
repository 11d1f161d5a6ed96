package calibration

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/trainer/rows"
)

// made draws folds whose errors over ObsStd are normal with the given scale, which
// the motion has nothing to do with.
func made(rng *rand.Rand, folds, n int, scale func(fold int, distance float64) float64) []*heldErrors {
	return moved(rng, folds, n, func(fold int, distance, _ float64) float64 { return scale(fold, distance) })
}

// moved is made where the scale depends on the motion, too.
func moved(rng *rand.Rand, folds, n int, scale func(fold int, distance, motion float64) float64) []*heldErrors {
	const T, K = 3, 2
	var out []*heldErrors
	for f := range folds {
		e := &heldErrors{times: []float64{0.1, 0.5, 1}}
		for range n {
			w := heldWindow{distance: math.Exp(0.7 * rng.NormFloat64()), weight: 1, factor: []float64{1, 1, 1}}
			for range T {
				motion := 5 * math.Exp(0.7*rng.NormFloat64())
				w.motion = append(w.motion, motion)
				for range K {
					z := scale(f, w.distance, motion) * rng.NormFloat64()
					net := rng.NormFloat64() // helps as it should
					w.errors = append(w.errors, heldError{residual: 2*z + net, network: net, z: z, std: 2})
				}
			}
			e.windows = append(e.windows, w)
		}
		out = append(out, e)
	}
	return out
}

var all = Switches{NetworkWeight: true, ScaleFactor: true, Distance: true, Motion: true}

func frame() *rows.Frame {
	return &rows.Frame{K: 2, Inputs: feature.Inputs{Horizon: 1}, NoiseKnots: []float64{0, 0.1, 1}}
}

// The power and the factor that made the errors are found again.
func TestModelIsFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct{ power, factor float64 }{{0, 1.5}, {0.6, 1.4}, {1, 0.7}} {
		l := fit(frame(), made(rng, 4, 4000, func(_ int, d float64) float64 {
			return c.factor * math.Pow(math.Max(d, 1), c.power)
		}), all, nil)
		if math.Abs(l.DistanceExponent-c.power) > 0.1 {
			t.Errorf("growth %v, expected %v", l.DistanceExponent, c.power)
		}
		for _, w := range l.ScaleFactor {
			if math.Abs(w/c.factor-1) > 0.06 {
				t.Errorf("power %v: factor %v, expected %v", c.power, w, c.factor)
			}
		}
		if l.MotionExponent != 0 {
			t.Errorf("grows with the motion by the power %v, and nothing does", l.MotionExponent)
		}
		if math.Abs(l.Near-1) > 0.05 {
			t.Errorf("near %v, expected the median 1", l.Near)
		}
	}
}

// The power of the motion is found beside that of the distance; where folds do not
// agree on one, there is none.
func TestMotionExponent(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	power := func(p float64) func(int, float64, float64) float64 {
		return func(_ int, d, motion float64) float64 {
			ratio := math.Min(math.Max(motion/5, minMotion), maxMotion)
			scale := math.Pow(ratio, p)
			if ratio > 1 {
				scale = math.Sqrt(scale)
			}
			return 1.2 * math.Pow(math.Max(d, 1), 0.5) * scale
		}
	}
	for _, p := range []float64{0.5, 1, 1.25} {
		folds := moved(rng, 4, 2000, power(p))
		l := fit(frame(), folds, all, nil)
		if math.Abs(l.MotionExponent-p) > motionStep+1e-9 || math.Abs(l.DistanceExponent-0.5) > 0.15 || math.Abs(l.TypicalMotion/5-1) > 0.1 {
			t.Errorf("power %v: found %v, of the distance %v, usual motion %v", p, l.MotionExponent, l.DistanceExponent, l.TypicalMotion)
		}
		if off := fit(frame(), folds, Switches{Distance: true, ScaleFactor: true}, nil); off.MotionExponent != 0 || average(off.Scores) >= average(l.Scores) {
			t.Errorf("switched off: power %v, likelihood %v, with it %v", off.MotionExponent, average(off.Scores), average(l.Scores))
		}
	}
	apart := moved(rng, 4, 2000, func(f int, d, motion float64) float64 {
		return power([]float64{1, -0.8, 0.9, -1}[f])(f, d, motion)
	})
	if l := fit(frame(), apart, all, nil); l.MotionExponent != 0 {
		t.Errorf("folds that disagree: power %v", l.MotionExponent)
	}
}

// The calibration model raises the likelihood of the folds.
func TestCalibrationRaisesTheLikelihood(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	folds := made(rng, 4, 2000, func(_ int, d float64) float64 { return 1.3 * math.Pow(math.Max(d, 1), 0.8) })
	l := fit(frame(), folds, all, nil)
	sum, n := 0.0, 0.0
	for _, fold := range folds {
		for _, w := range fold.windows {
			for _, e := range w.errors {
				sum += logLikelihood(e.z, e.std)
				n++
			}
		}
	}
	if average(l.Scores) <= sum/n {
		t.Errorf("likelihood %v with the law, %v without", average(l.Scores), sum/n)
	}
}

// Folds that disagree do not narrow as far as their mean, nor beyond 1; one hard
// fold widens as much as its share.
func TestFoldsThatDisagree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	agree := fit(frame(), made(rng, 4, 3000, func(int, float64) float64 { return 0.6 }), all, nil)
	apart := fit(frame(), made(rng, 4, 3000, func(f int, _ float64) float64 { return []float64{0.3, 0.6, 0.6, 1.2}[f] }), all, nil)
	wild := fit(frame(), made(rng, 4, 3000, func(f int, _ float64) float64 { return []float64{0.34, 0.5, 0.9, 2.5}[f] }), all, nil)
	for q := range agree.ScaleFactor {
		if math.Abs(agree.ScaleFactor[q]-0.6) > 0.03 {
			t.Errorf("all say 0.6, the factor is %v", agree.ScaleFactor[q])
		}
		if want := 0.6 * math.Exp(0.5*math.Log(2)/math.Sqrt(6)); math.Abs(apart.ScaleFactor[q]/want-1) > 0.05 {
			t.Errorf("they say 0.6 on average: factor %v, expected %v", apart.ScaleFactor[q], want)
		}
		if wild.ScaleFactor[q] > 1 || wild.ScaleFactor[q] < 0.85 {
			t.Errorf("they know nothing: factor %v", wild.ScaleFactor[q])
		}
	}
}

// The hold readout reads the same distances as the plan readout.
func TestReadoutsShareDistances(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	one := func(int, float64) float64 { return 1 }
	first := fit(frame(), made(rng, 4, 500, one), all, nil)
	second := fit(frame(), made(rng, 4, 50, one), all, &first)
	if first.Near != second.Near || first.Far != second.Far {
		t.Errorf("%v … %v and %v … %v", first.Near, first.Far, second.Near, second.Far)
	}
}

func TestPairedDifference(t *testing.T) {
	gain, standardError := PairedDifference([]float64{1, 2, 3, 4}, []float64{0, 2, 2, 2})
	if math.Abs(gain-1) > 1e-15 || math.Abs(standardError-math.Sqrt(0.5/3)) > 1e-15 {
		t.Errorf("%v ± %v, expected 1 ± %v", gain, standardError, math.Sqrt(0.5/3))
	}
}

func TestSwitches(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	folds := made(rng, 4, 2000, func(_ int, d float64) float64 { return 1.5 * math.Pow(math.Max(d, 1), 0.7) })
	for _, fold := range folds {
		for _, w := range fold.windows {
			for j := range w.errors {
				w.errors[j].network = rng.NormFloat64() // has nothing to do with the residual
			}
		}
	}
	with := fit(frame(), folds, all, nil)
	if with.DistanceExponent < 0.5 || with.ScaleFactor[0] < 1.2 || with.NetworkWeight[0] > 0.3 {
		t.Errorf("growth %v, factor %v, gain %v", with.DistanceExponent, with.ScaleFactor[0], with.NetworkWeight[0])
	}
	without := fit(frame(), folds, Switches{}, nil)
	if without.DistanceExponent != 0 || without.ScaleFactor[0] != 1 || without.NetworkWeight[0] != 1 {
		t.Errorf("switched off: growth %v, factor %v, gain %v", without.DistanceExponent, without.ScaleFactor[0], without.NetworkWeight[0])
	}
}

// With folds that tell the channels apart each stands for itself; where they do not, or
// where all are alike, what is common has half of the say.
func TestOwnShare(t *testing.T) {
	for _, c := range []struct {
		name      string
		own       [][]float64
		pooled    []float64
		low, high float64
	}{
		{"apart beyond doubt", [][]float64{{-0.5, -0.51, -0.49, -0.5}, {0.5, 0.49, 0.51, 0.5}}, []float64{0, 0.01, 0, -0.01}, 0.99, 1},
		{"apart by chance", [][]float64{{-0.5, 0.6, 0.1, -0.1}, {0.5, -0.7, -0.1, 0.4}}, []float64{0, 0, 0, 0.1}, 0.5, 0.5},
		{"alike", [][]float64{{0.2, 0.2, 0.2, 0.2}, {0.2, 0.2, 0.2, 0.2}}, []float64{0.2, 0.2, 0.2, 0.2}, 0.5, 0.5},
	} {
		for k, got := range ownShare(c.own, c.pooled) {
			if got < c.low || got > c.high {
				t.Errorf("%s: channel %d has a say of %v, want %v to %v", c.name, k, got, c.low, c.high)
			}
		}
	}
}

func average(v []float64) float64 {
	mean, _ := Mean(v)
	return mean
}

// Where every fold wants less than the least factor, or more than the largest, the
// factors are on the bound.
func TestScaleFactorsAreBounded(t *testing.T) {
	for z, want := range map[float64]float64{0.1: 1.0 / MaxScaleFactor, 20: MaxScaleFactor} {
		folds := make([]*heldErrors, 3)
		for i := range folds {
			e := heldError{z: z * (1 + 0.1*float64(i)), std: 1}
			window := heldWindow{factor: []float64{1}, errors: []heldError{e, e, e}}
			folds[i] = &heldErrors{times: []float64{0.5}, windows: slices.Repeat([]heldWindow{window}, 50)}
		}
		for _, got := range scaleFactors(3, folds, true)[0] {
			if math.Abs(got/want-1) > 1e-12 {
				t.Errorf("errors of %v: factor %v, want %v", z, got, want)
			}
		}
	}
}
