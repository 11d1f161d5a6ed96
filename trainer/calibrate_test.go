package trainer

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// made draws folds whose errors over ObsStd are normal with the given scale, which
// the motion has nothing to do with.
func made(rng *rand.Rand, folds, n int, scale func(fold int, distance float64) float64) []*outcomes {
	return stirred(rng, folds, n, func(fold int, distance, _ float64) float64 { return scale(fold, distance) })
}

// stirred is made where the scale depends on the motion, too.
func stirred(rng *rand.Rand, folds, n int, scale func(fold int, distance, motion float64) float64) []*outcomes {
	var out []*outcomes
	for f := range folds {
		o := &outcomes{times: []float64{0.1, 0.5, 1}}
		for range o.times {
			channels := make([][]outcome, 2)
			for window := range n {
				d, motion := math.Exp(0.7*rng.NormFloat64()), 5*math.Exp(0.7*rng.NormFloat64())
				for k := range channels {
					z := scale(f, d, motion) * rng.NormFloat64()
					net := rng.NormFloat64() // helps as it should
					channels[k] = append(channels[k], outcome{left: 2*z + net, net: net, z: z, std: 2, distance: d, motion: motion, window: window, weight: 1})
				}
			}
			o.points = append(o.points, channels)
		}
		out = append(out, o)
	}
	return out
}

var all = FoldConfig{Companion: true, Gain: true, Factors: true, Growth: true, Motion: true}

func shell() *model.Model {
	return &model.Model{K: 2, Horizon: 1, NoiseKnots: []float64{0, 0.1, 1}}
}

// The power and the factor that made the errors are found again.
func TestTheLawIsFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct{ power, factor float64 }{{0, 1.5}, {0.6, 1.4}, {1, 0.7}} {
		l := calibrate(shell(), made(rng, 4, 4000, func(_ int, d float64) float64 {
			return c.factor * math.Pow(math.Max(d, 1), c.power)
		}), all, nil)
		if math.Abs(l.growth-c.power) > 0.1 {
			t.Errorf("growth %v, expected %v", l.growth, c.power)
		}
		for _, w := range l.widen {
			if math.Abs(w/c.factor-1) > 0.06 {
				t.Errorf("power %v: factor %v, expected %v", c.power, w, c.factor)
			}
		}
		if l.stir != 0 {
			t.Errorf("grows with the motion by the power %v, and nothing does", l.stir)
		}
		if math.Abs(l.near-1) > 0.05 {
			t.Errorf("near %v, expected the median 1", l.near)
		}
	}
}

// The power of the motion is found beside that of the distance; where folds do not
// agree on one, there is none.
func TestTheLawOfMotion(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	power := func(p float64) func(int, float64, float64) float64 {
		return func(_ int, d, motion float64) float64 {
			ratio := math.Min(math.Max(motion/5, leastMotion), mostMotion)
			scale := math.Pow(ratio, p)
			if ratio > 1 {
				scale = math.Sqrt(scale)
			}
			return 1.2 * math.Pow(math.Max(d, 1), 0.5) * scale
		}
	}
	for _, p := range []float64{0.5, 1, 1.25} {
		folds := stirred(rng, 4, 2000, power(p))
		l := calibrate(shell(), folds, all, nil)
		if math.Abs(l.stir-p) > stirStep+1e-9 || math.Abs(l.growth-0.5) > 0.15 || math.Abs(l.usual/5-1) > 0.1 {
			t.Errorf("power %v: found %v, of the distance %v, usual motion %v", p, l.stir, l.growth, l.usual)
		}
		if off := calibrate(shell(), folds, FoldConfig{Growth: true, Factors: true}, nil); off.stir != 0 || mean(off.scores) >= mean(l.scores) {
			t.Errorf("switched off: power %v, likelihood %v, with it %v", off.stir, mean(off.scores), mean(l.scores))
		}
	}
	apart := stirred(rng, 4, 2000, func(f int, d, motion float64) float64 {
		return power([]float64{1, -0.8, 0.9, -1}[f])(f, d, motion)
	})
	if l := calibrate(shell(), apart, all, nil); l.stir != 0 {
		t.Errorf("folds that disagree: power %v", l.stir)
	}
}

// The law makes the folds likelier than no law does.
func TestTheLawIsLikelier(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	folds := made(rng, 4, 2000, func(_ int, d float64) float64 { return 1.3 * math.Pow(math.Max(d, 1), 0.8) })
	l := calibrate(shell(), folds, all, nil)
	sum, n := 0.0, 0.0
	for _, o := range folds {
		for i := range o.times {
			for _, channel := range o.points[i] {
				for _, p := range channel {
					sum += -0.5*math.Min(p.z*p.z, zCap) - math.Log(p.std) - 0.5*math.Log(2*math.Pi)
					n++
				}
			}
		}
	}
	if mean(l.scores) <= sum/n {
		t.Errorf("likelihood %v with the law, %v without", mean(l.scores), sum/n)
	}
}

// Folds that disagree do not narrow as far as their mean, nor beyond 1; one hard
// fold widens as much as its share.
func TestFoldsThatDisagree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	agree := calibrate(shell(), made(rng, 4, 3000, func(int, float64) float64 { return 0.6 }), all, nil)
	apart := calibrate(shell(), made(rng, 4, 3000, func(f int, _ float64) float64 { return []float64{0.3, 0.6, 0.6, 1.2}[f] }), all, nil)
	wild := calibrate(shell(), made(rng, 4, 3000, func(f int, _ float64) float64 { return []float64{0.34, 0.5, 0.9, 2.5}[f] }), all, nil)
	for q := range agree.widen {
		if math.Abs(agree.widen[q]-0.6) > 0.03 {
			t.Errorf("all say 0.6, the factor is %v", agree.widen[q])
		}
		if want := 0.6 * math.Exp(0.5*math.Log(2)/math.Sqrt(6)); math.Abs(apart.widen[q]/want-1) > 0.05 {
			t.Errorf("they say 0.6 on average: factor %v, expected %v", apart.widen[q], want)
		}
		if wild.widen[q] > 1 || wild.widen[q] < 0.85 {
			t.Errorf("they know nothing: factor %v", wild.widen[q])
		}
	}
}

// The hold readout reads the same distances as the plan readout.
func TestReachIsShared(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	one := func(int, float64) float64 { return 1 }
	first := calibrate(shell(), made(rng, 4, 500, one), all, nil)
	second := calibrate(shell(), made(rng, 4, 50, one), all, &first)
	if first.near != second.near || first.far != second.far {
		t.Errorf("%v … %v and %v … %v", first.near, first.far, second.near, second.far)
	}
}

func TestPaired(t *testing.T) {
	gain, luck := paired([]float64{1, 2, 3, 4}, []float64{0, 2, 2, 2})
	if math.Abs(gain-1) > 1e-15 || math.Abs(luck-math.Sqrt(0.5/3)) > 1e-15 {
		t.Errorf("%v ± %v, expected 1 ± %v", gain, luck, math.Sqrt(0.5/3))
	}
}

func TestSwitches(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	folds := made(rng, 4, 2000, func(_ int, d float64) float64 { return 1.5 * math.Pow(math.Max(d, 1), 0.7) })
	for i := range folds {
		for _, times := range folds[i].points {
			for _, channel := range times {
				for j := range channel {
					channel[j].net = rng.NormFloat64() // has nothing to do with what is left
				}
			}
		}
	}
	with := calibrate(shell(), folds, all, nil)
	if with.growth < 0.5 || with.widen[0] < 1.2 || with.gain[0] > 0.3 {
		t.Errorf("growth %v, factor %v, gain %v", with.growth, with.widen[0], with.gain[0])
	}
	without := calibrate(shell(), folds, FoldConfig{}, nil)
	if without.growth != 0 || without.widen[0] != 1 || without.gain[0] != 1 {
		t.Errorf("switched off: growth %v, factor %v, gain %v", without.growth, without.widen[0], without.gain[0])
	}
}

func TestResampledBlocksStayTogether(t *testing.T) {
	var windows []window.Window
	for i := range 100 {
		windows = append(windows, window.Window{Start: i})
	}
	got := resample(windows, 10, rand.New(rand.NewPCG(6, 1)))
	if len(got) != 100 {
		t.Fatalf("%d windows", len(got))
	}
	seen := map[int]bool{}
	for i, w := range got {
		seen[w.Start] = true
		if i%10 > 0 && w.Start != (got[i-1].Start+1)%100 {
			t.Errorf("window %d follows %d", w.Start, got[i-1].Start)
		}
	}
	if len(seen) > 90 || len(seen) < 30 {
		t.Errorf("%d different windows of 100", len(seen))
	}
}

// With folds that tell the channels apart each stands for itself; where they do not, or
// where all are alike, what is common has half of the say.
func TestOwnSay(t *testing.T) {
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
		for k, got := range ownSay(c.own, c.pooled) {
			if got < c.low || got > c.high {
				t.Errorf("%s: channel %d has a say of %v, want %v to %v", c.name, k, got, c.low, c.high)
			}
		}
	}
}
