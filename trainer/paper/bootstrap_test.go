package paper

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// Flows refined on noisy data of another flow have the errors that they claim, or somewhat
// larger ones where terms were chosen, which refits correct.
func TestErrorsOfRefitsAreThoseClaimed(t *testing.T) {
	d := turning(5, 20, 0.05)
	r := small()
	f, err := Train(context.Background(), d, r.Settings, 1)
	if err != nil {
		t.Fatal(err)
	}
	learned := func(d *Data) *Model {
		flow := f.newFlow(d, sparse)
		if !flow.Shoot(context.Background(), d, 12) {
			t.Fatal("cannot be integrated")
		}
		return &Model{K: d.K, VarianceInflation: 1, Members: []*Fit{f}, Flows: []*Flow{flow}}
	}
	truth := learned(d)
	const n = 40
	sum := 0.0
	for i := range uint64(n) {
		own, ok := truth.simulate(d, truth.Flows[0], rand.New(rand.NewPCG(2, i)))
		if !ok {
			t.Fatal("cannot be integrated")
		}
		m := learned(own)
		ratio, ok := m.squaredErrorRatio(truth, d)
		if !ok {
			t.Fatal("no ratio")
		}
		sum += ratio
		for j := range m.Flows[0].Inv {
			m.Flows[0].Inv[j] *= 0.5
		}
		m.Flows[0].setPosterior(m.Flows[0].Inv)
		if halved, _ := m.squaredErrorRatio(truth, d); !(math.Abs(halved-4*ratio) <= 1e-9*halved) {
			t.Fatalf("half of the standard deviation makes %v of %v", halved, ratio)
		}
	}
	// Weak terms are left out in some draws and kept in others: 2.2 here.
	if mean := sum / n; !(mean >= 0.8) || !(mean <= 3.5) {
		t.Errorf("the ratio of variances is %v", mean)
	}
	plain, wide := make([]float64, 4), make([]float64, 4)
	truth.mixture(make([]float64, 4), plain, d.Trajectories[0].X0, []float64{1, 2})
	truth.VarianceInflation = 4
	truth.mixture(make([]float64, 4), wide, d.Trajectories[0].X0, []float64{1, 2})
	truth.VarianceInflation = 1
	for i, v := range plain {
		if !(math.Abs(wide[i]-4*v) <= 1e-12*wide[i]) {
			t.Errorf("variance %v, four times as large %v", v, wide[i])
		}
	}
	r.Refits = 3
	if err := truth.inflate(context.Background(), d, r, 1); err != nil || truth.VarianceInflation == 1 || !(truth.VarianceInflation >= leastInflation) || !(truth.VarianceInflation <= mostInflation) {
		t.Errorf("factor %v, %v", truth.VarianceInflation, err)
	}
	if _, ok := (&Model{K: d.K, VarianceInflation: 1}).squaredErrorRatio(truth, d); ok {
		t.Error("a ratio without flows")
	}
}

// One refit in another optimum does not dominate the factor, and without such it is the mean.
func TestWinsorisedMean(t *testing.T) {
	for _, x := range []struct {
		ratios []float64
		want   float64
	}{
		{[]float64{0.5, 1.5, 1, 2}, 1.25},
		{[]float64{1, 1, 1e6, 1, 1, 1, 1, 1}, 1.25},
		{[]float64{1, 1, math.Inf(1), 1, 3}, 9. / 5},
		{[]float64{7}, 7},
	} {
		if got := winsorisedMean(x.ratios); !(math.Abs(got-x.want) <= 1e-12) {
			t.Errorf("of %v: %v, want %v", x.ratios, got, x.want)
		}
	}
}
