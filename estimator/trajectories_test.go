package estimator_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
)

// falling is a model of a position, its velocity, and a third state.
func falling() *model.Model {
	m := artificial.New(artificial.Size{K: 3, P: 1, Features: 20, Basis: 1, Points: 20, Horizon: 1}, 3)
	m.Channels[0].Derivative = m.Channels[1].Name
	return m
}

// draws returns n trajectories and the prediction that they are drawn from.
func draws(t *testing.T, m *model.Model, q *estimator.Query, n int) (*estimator.Prediction, [][]float64) {
	t.Helper()
	p, err := estimator.NewFast(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := p.NewPrediction()
	s, err := estimator.NewTrajectories(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Predict(d, q) || !s.Start(d, q) {
		t.Fatal("no prediction")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	all := make([][]float64, n)
	for i := range all {
		all[i] = make([]float64, len(d.Mean))
		s.Draw(all[i], rng.NormFloat64)
	}
	normal := rng.NormFloat64
	if allocations := testing.AllocsPerRun(10, func() { s.Draw(all[0], normal) }); allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
	return d, all
}

func normalShare(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// At every time each channel has the distribution of the prediction: the share of it below
// a draw is uniform.
func TestTrajectoriesHaveTheDistributionOfThePrediction(t *testing.T) {
	const n, bins = 4000, 10
	for name, q := range map[string]estimator.Query{
		"usual":            {X0: []float64{0.1, -0.2, 0.3}, U: []float64{0.5}},
		"uncertain start":  {X0: []float64{0.1, -0.2, 0.3}, U: []float64{0.5}, P0: []float64{0.04, 0.01, 0, 0.01, 0.09, 0, 0, 0, 0.01}},
		"degenerate start": {X0: []float64{0.1, -0.2, 0.3}, Plan: []float64{0.5, 1}, P0: []float64{0.04, 0.04, 0, 0.04, 0.04, 0, 0, 0, 0}},
	} {
		d, all := draws(t, falling(), &q, n)
		for j := range d.Mean {
			var counts [bins]float64
			inside := 0
			for _, x := range all {
				z := (x[j] - d.Mean[j]) / d.Std[j]
				counts[min(int(bins*normalShare(z)), bins-1)]++
				if math.Abs(z) <= 1.96 {
					inside++
				}
			}
			chi := 0.0
			for _, c := range counts {
				chi += (c - n/bins) * (c - n/bins) / (n / bins)
			}
			if cover := float64(inside) / n; chi > 40 || math.Abs(cover-0.95) > 0.017 { // of 9 degrees of freedom: 1e-5; 5 standard errors
				t.Errorf("%s, number %d: χ² %.1f of 9, coverage %.3f", name, j, chi, cover)
			}
		}
	}
}

// Neighbours in time are near each other, and a position moves by what its velocity is in
// error.
func TestTrajectoriesAreSmoothAndConsistent(t *testing.T) {
	m := falling()
	d, all := draws(t, m, &estimator.Query{X0: []float64{0.1, -0.2, 0.3}, U: []float64{0.5}}, 2000)
	K, T := 3, len(d.Times)
	z := func(x []float64, i, k int) float64 { return (x[i*K+k] - d.Mean[i*K+k]) / d.Std[i*K+k] }
	for k := range K {
		var step, twice float64
		for _, x := range all {
			for i := T / 2; i < T-1; i++ {
				a, b, c := z(x, i-1, k), z(x, i, k), z(x, i+1, k)
				step += (c - b) * (c - b)
				twice += (c - 2*b + a) * (c - 2*b + a)
			}
		}
		if n := float64(len(all) * (T - 1 - T/2)); step/n > 0.01 || twice/step > 0.5 {
			t.Errorf("channel %d: mean squares of steps %.4f, of their differences %.4f of it", k, step/n, twice/step)
		}
	}
	var together, apart float64
	for _, x := range all {
		together += z(x, T-1, 0) * z(x, T-1, 1)
		apart += z(x, T-1, 0) * z(x, T-1, 2)
	}
	together, apart = together/float64(len(all)), apart/float64(len(all))
	if together < 0.6 || math.Abs(apart) > 0.5 {
		t.Errorf("correlation of position and velocity %.2f, of position and another state %.2f", together, apart)
	}
}

// A trajectory passes its times one after the other.
func TestTimesOfTrajectoriesAscend(t *testing.T) {
	m := falling()
	f, err := estimator.NewFast(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, times := range [][]float64{{0.2, 0.1}, {0.1, 0.1}} {
		if _, err := estimator.NewTrajectories(m, times); err == nil {
			t.Errorf("times %v are accepted", times)
		}
		if _, err := f.Trajectories(times); err == nil {
			t.Errorf("times %v are accepted by a Fast", times)
		}
	}
}
