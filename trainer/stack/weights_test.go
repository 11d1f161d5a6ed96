package stack

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// made returns outcomes of two folds and three horizons for which weights w (J) are best.
func made(w []float64, noise float64) []outcome {
	rng := rand.New(rand.NewPCG(1, 2))
	var out []outcome
	for i := range 6000 {
		o := outcome{fold: i % 2, at: i % 3, weight: 1, residual: noise * rng.NormFloat64()}
		for _, v := range w {
			a := rng.NormFloat64()
			o.additions = append(o.additions, a)
			o.residual += v * a
		}
		out = append(out, o)
	}
	return out
}

var thirds = Hats([]float64{0, 1}, []float64{0.1, 0.5, 1})

// Weights do not exceed 1 by rounding: a model with one that does is refused.
func TestWeightsAreAtMostOne(t *testing.T) {
	w := []float64{2.2350737974493846, 0.00015688009966010973, 0}
	if project(w, []float64{5.417597902707904, 0.0002715114942824636, 0.8195442093816646}, 3, 1, 0); w[0] > 1 {
		t.Errorf("%v", w)
	}
}

// A knot before the first horizon has the target of that horizon, and finite weights.
func TestKnotsBeforeTheFirstHorizon(t *testing.T) {
	hats := Hats([]float64{0, 0.02, 0.3, 1}, []float64{0.5, 0.8, 1})
	drawn := targets([][]float64{{0, 0, 0}, {-1, 0, 1}}, hats, sharpness)
	for q, want := range []float64{1, 1, 1, 0} {
		if math.Abs(drawn[q]-want) > 0.01 {
			t.Errorf("targets %v: at knot %d, want %v", drawn, q, want)
		}
	}
	for _, w := range weigh(made([]float64{0.7}, 0.5), 1, hats, drawn, pull) {
		if math.IsNaN(w) || w < 0 || w > 1 {
			t.Errorf("weight %v", w)
		}
	}
}

func TestWeights(t *testing.T) {
	for _, c := range []struct {
		of, want []float64
		best     int
	}{ // drawn to one of them, or none
		{[]float64{2, 1}, []float64{2 / (1 + pull), 1 / (1 + pull)}, 0},
		{[]float64{0.7, -0.4}, []float64{(0.7 + pull) / (1 + pull), 0}, 1},
		{[]float64{0, 0, 0}, []float64{0, 0, pull / (1 + pull)}, 3},
		{[]float64{-1, 2}, []float64{(pull - 1) / (1 + pull), 2 / (1 + pull)}, 1},
	} {
		targets := make([]float64, 2*len(c.of))
		if c.best > 0 {
			targets[2*c.best-2], targets[2*c.best-1] = 1, 1
		}
		got := weigh(made(c.of, 0.5), len(c.of), thirds, targets, pull)
		for j, want := range c.want {
			for q := range 2 {
				if math.Abs(got[j*2+q]-want) > 0.08 {
					t.Errorf("weights %v: component %d at knot %d has %.3f, want %v", c.of, j, q, got[j*2+q], want)
				}
			}
		}
	}
}

// Weights are the best whatever the sizes of what candidates add: a small addition that is right beside a large one that is not.
func TestWeightsOfAdditionsOfDifferentSizes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	var outcomes []outcome
	for i := range 6000 {
		small := 0.01 * rng.NormFloat64()
		outcomes = append(outcomes, outcome{fold: i % 2, at: i % 3, weight: 1, residual: small, additions: []float64{rng.NormFloat64(), small}})
	}
	got := weigh(outcomes, 2, thirds, []float64{0, 0, 1, 1}, pull)
	for i, want := range []float64{0, 0, 1, 1} {
		if math.Abs(got[i]-want) > 0.01 {
			t.Errorf("weights %.3f, want %.3f at %d", got, want, i)
		}
	}
}

// Of weights whose sum is above 1 the nearest by curvature are taken: the one of the larger curvature moves less.
func TestProjection(t *testing.T) {
	w := []float64{1, 0.9, -0.2}
	project(w, []float64{1, 3, 1}, 3, 1, 0)
	for i, want := range []float64{1 - 0.675, 0.9 - 0.225, 0} {
		if math.Abs(w[i]-want) > 1e-12 {
			t.Errorf("%v", w)
		}
	}
}

// One fold in which a component diverges on a hundredth of the windows takes its weight.
func TestDivergingComponentLosesItsWeight(t *testing.T) {
	outcomes := made([]float64{0.9}, 0.1)
	for i := range outcomes {
		if i%100 == 0 {
			outcomes[i].additions[0] *= 300
		}
	}
	for q, w := range weigh(outcomes, 1, thirds, make([]float64, 2), pull) {
		if w > 0.05 {
			t.Errorf("weight %v at knot %d", w, q)
		}
	}
}

func TestNothingToAdd(t *testing.T) {
	for _, w := range weigh([]outcome{{weight: 1, residual: 1, additions: []float64{0}}}, 1, thirds, make([]float64, 2), pull) {
		if w != 0 {
			t.Errorf("weight %v", w)
		}
	}
}

// Targets are by horizon: equal errors share, a tenth less error is over five times the
// weight, and a candidate that is much worse has none.
func TestTargets(t *testing.T) {
	tenth := math.Log(0.9)
	logs := [][]float64{{0, 0, 0}, {tenth, 0, 0}, {3, 3, 0}}
	hats := [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	got := targets(logs, hats, sharpness)
	odds := math.Pow(0.9, -sharpness)
	for i, want := range []float64{odds / (1 + odds), 0.5, 1 / 3., 0, 0, 1 / 3.} {
		if math.Abs(got[i]-want) > 1e-9 {
			t.Errorf("target %d is %v, want %v", i, got[i], want)
		}
	}
}

// Weights of the input held are drawn towards the errors with the input held, not towards those with the plan.
func TestTargetsByCondition(t *testing.T) {
	p := predictions{K: 1, T: 1, J: 2, fades: make([]bool, 2), conditions: []model.Condition{model.Plan.Condition(false), model.Hold.Condition(false)}}
	for range 20 {
		p.windows = append(p.windows, heldWindow{measured: []float64{1}, by: [][][]float64{{{0.5}, {0.99}}, {{0.9}, {0.5}}}, ranges: [][]float64{{1}, {1}}})
	}
	hats := [][]float64{{1}}
	got := p.targets(hats, sharpness, p.cells)
	if got[0][0][0] < 0.99 || got[1][0][0] > 0.01 {
		t.Errorf("targets of the second candidate: %v with the plan, %v with the input held", got[0], got[1])
	}
}

// A candidate that fades is not held to what it predicts far from its training data: there it does not count.
func TestTargetsOfACandidateThatFades(t *testing.T) {
	for _, fades := range []bool{false, true} {
		p := predictions{K: 1, T: 1, J: 2, fades: []bool{false, fades}, conditions: []model.Condition{model.Plan.Condition(false)}}
		for i := range 40 {
			w := heldWindow{fold: i % 2, measured: []float64{1}, by: [][][]float64{{{0.9}, {0.99}}}, ranges: [][]float64{{1}}}
			if w.fold == 1 {
				w.leverage, w.by[0][1] = 1e6, []float64{50}
			}
			p.windows = append(p.windows, w)
		}
		if got := p.targets([][]float64{{1}}, sharpness, p.cells)[0][0][0]; (got > 0.99) != fades || (got < 0.01) == fades {
			t.Errorf("target %v of one that fades: %v", got, fades)
		}
	}
}

// Where one candidate is better for a channel in all folds, that channel's weights are drawn towards it, whatever is better for the others;
// where folds differ as much as channels do, all channels have the same.
func TestTargetsByChannel(t *testing.T) {
	const K, folds = 3, 4
	pooled := [][]float64{{-1}, {-1.2}}
	cells := func(noise float64) [][]float64 {
		rng := rand.New(rand.NewPCG(1, 1))
		out := make([][]float64, 2)
		for f := range folds {
			for k := range K {
				difference := -0.7 // the second candidate is better
				if k == 2 && noise == 0 {
					difference = 1.2
				}
				out[0] = append(out[0], -1+0.01*rng.NormFloat64()+float64(f))
				out[1] = append(out[1], -1+difference+(0.01+noise)*rng.NormFloat64()+float64(f))
			}
		}
		return out
	}
	hats := [][]float64{{1}}
	of := func(noise float64, k int) float64 {
		return targets(channelErrors(cells(noise), pooled, K, folds)[k], hats, sharpness)[0]
	}
	if a, b := of(0, 0), of(0, 2); a < 0.99 || b > 0.01 {
		t.Errorf("target of the second candidate: %v of a channel that it predicts better, %v of one that it does not", a, b)
	}
	if a, b := of(0.5, 0), of(0.5, 2); math.Abs(a-b) > 0.2 {
		t.Errorf("targets of two channels that folds do not distinguish: %v and %v", a, b)
	}
}
