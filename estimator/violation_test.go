package estimator_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
)

// The probability of a half-space is the Gaussian's, that of a box is the share of draws, and
// that of the whole horizon is at least each of them and at most their sum.
func TestViolation(t *testing.T) {
	m, q := joined(), starts["uncertain start"]
	p, err := estimator.New(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := p.NewPrediction().WithCorrelation()
	s, err := estimator.NewTrajectories(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Predict(d, &q) || !s.Start(d, &q) {
		t.Fatal("no prediction")
	}
	const K, n = 3, 4000
	T, last := len(d.Times), len(d.Times)-1
	inf := math.Inf(1)
	// One standard deviation above the last mean of state 0, as a half-space and as a box; and
	// the sum of states 0 and 1.
	edge := d.Mean[last*K] + d.Std[last*K]
	l := estimator.Limits{HalfSpaces: []float64{1, 0, 0, edge, 1, 1, 0, d.Mean[last*K] + d.Mean[last*K+1]}, Boxes: []float64{edge, -inf, -inf, inf, inf, inf}}
	if l.Count(K) != 3 {
		t.Errorf("%d limits", l.Count(K))
	}
	rng := rand.New(rand.NewPCG(5, 1))
	all := make([]float64, 3*T)
	whole := s.Violation(all, &l, n, rng.NormFloat64)
	first, second, box := all[:T], all[T:2*T], all[2*T:]
	if math.Abs(first[last]-0.158655) > 1e-6 || math.Abs(second[last]-0.5) > 1e-9 {
		t.Errorf("probabilities %v and %v", first[last], second[last])
	}
	d.Covariance(d.Correlation)
	for i := range T {
		c, mean := d.Correlation[i*K*K:], d.Mean[i*K]+d.Mean[i*K+1]-l.HalfSpaces[7]
		want := 0.5 * math.Erfc(-mean/math.Sqrt(2*(c[0]+c[1]+c[K]+c[K+1])))
		if math.Abs(second[i]-want) > 1e-9 {
			t.Errorf("time %d: probability %v of the sum, %v by the covariance", i, second[i], want)
		}
	}
	most := 0.0
	for i := range box {
		if math.Abs(box[i]-first[i]) > 5*math.Sqrt(0.25/n) {
			t.Errorf("time %d: %v of the draws are in the box, %v by the Gaussian", i, box[i], first[i])
		}
		most = math.Max(most, second[i])
	}
	if whole < most-0.04 || whole > 1 {
		t.Errorf("whole horizon %v, at one time %v", whole, most)
	}
	none := s.Violation(first, &estimator.Limits{HalfSpaces: []float64{1, 0, 0, 1e9}}, 50, rng.NormFloat64)
	sure := s.Violation(second, &estimator.Limits{HalfSpaces: []float64{0, 0, 0, -1}}, 50, rng.NormFloat64)
	if none != 0 || sure < 1-1e-9 || first[0] != 0 || second[0] != 1 {
		t.Errorf("never %v, %v, always %v, %v", none, first[0], sure, second[0])
	}
	normal := rng.NormFloat64
	if n := testing.AllocsPerRun(10, func() { s.Violation(all, &l, 10, normal) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestWrongLimitsAreNamed(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		l     estimator.Limits
		field string
	}{
		{estimator.Limits{HalfSpaces: []float64{1, 0}}, "half_spaces"},
		{estimator.Limits{HalfSpaces: []float64{1, 0, math.Inf(1)}}, "half_spaces"},
		{estimator.Limits{Boxes: []float64{0, 0, 1}}, "boxes"},
		{estimator.Limits{Boxes: []float64{0, 0, 1, nan}}, "boxes"},
		{estimator.Limits{HalfSpaces: []float64{1, 0, 3}, Boxes: []float64{0, math.Inf(-1), 1, math.Inf(1)}}, ""},
	} {
		var wrong *estimator.QuestionError
		if errors.As(c.l.Check(2), &wrong) != (c.field != "") || wrong != nil && wrong.Field != c.field {
			t.Errorf("%+v: %v", c.l, wrong)
		}
	}
}
