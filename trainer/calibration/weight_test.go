package calibration

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	prior "github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// decay is some flights of x⁺ = 0.98 x, exactly linear, with a little noise.
func decay(seed uint64, n int) []window.Flight {
	rng := rand.New(rand.NewPCG(seed, 0))
	var out []window.Flight
	for at := 0; at < n; at += 100 {
		s := window.Series{Name: "decay"}
		x := 2 * rng.NormFloat64()
		for i := range min(100, n-at) {
			s.T = append(s.T, int64(i)*1e7)
			s.X = append(s.X, x+1e-4*rng.NormFloat64())
			x -= 0.02 * x
		}
		out = append(out, window.Prepare(at, s, one, 0, window.Options{})...)
	}
	return out
}

var one = []channel.Channel{{Name: "x", Role: channel.State}}

// bent returns the equation with its slope multiplied.
func bent(m *prior.Model, factor float64) *prior.Model {
	c := *m
	c.Weights = append([]float64(nil), m.Weights...)
	for i := range c.Weights {
		c.Weights[i] *= factor
	}
	return &c
}

// The better of two models gets the weight; where folds disagree, the prior dynamics
// keeps it.
func TestSecondaryWeight(t *testing.T) {
	shape := priordynamics.Shape{Step: 0.01, Degree: 1, Ridge: 1e-9}
	task := window.Task{States: one, Horizon: 0.5}
	choice := priordynamics.Choice{Shape: shape, Secondary: shape}
	fitted, err := choice.Fit(context.Background(), decay(1, 1000), task, priordynamics.Effort{Windows: 10, Iterations: 1})
	if err != nil {
		t.Fatal(err)
	}
	good := fitted.Secondary
	bad := bent(good, 1.5)
	folds := []window.Fold{{Held: decay(2, 300)}, {Held: decay(3, 300)}, {Held: decay(4, 300)}}
	pairs := func(first, secondary *prior.Model) []priordynamics.Pair {
		return slices.Repeat([]priordynamics.Pair{{Prior: first, Secondary: secondary}}, len(folds))
	}
	weight := func(pairs []priordynamics.Pair) []float64 {
		return SecondaryWeight(folds, pairs, task, []float64{0, 0.1, 1})
	}
	if w := weight(pairs(bad, good)); w[1] < 0.9 || w[2] < 0.9 {
		t.Errorf("a perfect secondary model has the weights %v", w)
	}
	if w := weight(pairs(good, bad)); slices.Max(w) > 0.05 {
		t.Errorf("a bad secondary model has the weights %v", w)
	}
	// Two that err to opposite sides: the truth lies between.
	if w := weight(pairs(bent(good, 1.2), bent(good, 0.9))); math.Abs(w[2]-2/3.) > 0.08 {
		t.Errorf("weight %v, expected two thirds", w[2])
	}
	mixed := append(pairs(bad, good)[:1], pairs(good, bad)[1:]...)
	if w := weight(mixed); w[2] > 0.1 {
		t.Errorf("one fold in three is for the secondary model, its weight is %v", w[2])
	}
}
