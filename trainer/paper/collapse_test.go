package paper

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
)

// A fit whose matching outweighs the data falls into the trivial solution from every start:
// it is refused, and nothing is distilled from it.
func TestCollapsedFitIsRefused(t *testing.T) {
	d := turning(1, 40, 0.1)
	set := small().Settings
	set.Support, set.Steps, set.Lambda = 0, 200, 3000
	if f, err := Train(context.Background(), d, set, 1); !errors.Is(err, errCollapsed) {
		t.Fatalf("%v, data term %v after %v", err, f.Parts.Data, f.Least)
	}
	f, err := trainOnce(context.Background(), d, set, 1, 0)
	if err != nil || !f.collapsed() {
		t.Fatalf("the fit from one start: %v", err)
	}
	if m := (&Model{K: 2, Members: []*Fit{f}}); m.membersMixture() != nil {
		t.Error("the smoother is distilled from a collapsed member")
	}
	set.Lambda = 1
	if f, err := Train(context.Background(), d, set, 1); err != nil || f.Rerun != 0 || f.collapsed() {
		t.Errorf("with the weight of the recipe: %v", err)
	}
}

// A fit that explains nothing of the data is refused though its data term did not rise.
func TestFitOfNoiseAloneIsRefused(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	d := turning(1, 300, 0)
	for i := range d.Trajectories[0].Y {
		d.Trajectories[0].Y[i] = rng.NormFloat64()
	}
	set := small().Settings
	set.Support, set.Anchor, set.DecayS, set.Steps = 0, 0, 30, 800
	if f, err := Train(context.Background(), d, set, 1); !errors.Is(err, errCollapsed) {
		t.Fatalf("%v: the logarithm of the noise is %v", err, f.Params.LogSigma)
	}
}
