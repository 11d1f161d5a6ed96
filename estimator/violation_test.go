package estimator_test

import (
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
	first, second, box := make([]float64, T), make([]float64, T), make([]float64, T)
	d.ViolationOf(first, l.HalfSpaces[:4])
	d.ViolationOf(second, l.HalfSpaces[4:])
	rng := rand.New(rand.NewPCG(5, 1))
	whole := s.Violation(box, &l, n, rng.NormFloat64)
	if math.Abs(first[last]-0.158655) > 1e-6 || math.Abs(second[last]-0.5) > 1e-9 {
		t.Errorf("probabilities %v and %v", first[last], second[last])
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
	none := s.Violation(nil, &estimator.Limits{HalfSpaces: []float64{1, 0, 0, 1e9}}, 50, rng.NormFloat64)
	sure := s.Violation(nil, &estimator.Limits{HalfSpaces: []float64{0, 0, 0, -1}}, 50, rng.NormFloat64)
	if none != 0 || sure < 1-1e-9 {
		t.Errorf("never %v, always %v", none, sure)
	}
	d.ViolationOf(first, []float64{0, 0, 0, -1})
	d.ViolationOf(second, []float64{0, 0, 0, 1})
	if first[0] != 1 || second[0] != 0 {
		t.Errorf("without variance %v and %v", first[0], second[0])
	}
	normal := rng.NormFloat64
	if n := testing.AllocsPerRun(10, func() { s.Violation(box, &l, 10, normal); d.ViolationOf(first, l.HalfSpaces[:4]) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
