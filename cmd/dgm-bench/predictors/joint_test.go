package predictors

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Of errors with a correlation, ellipses by it hold what they promise, and by the right volume
// less; as if states were independent they do not.
func TestEllipse(t *testing.T) {
	all, names := ellipsesOf([]channel.Channel{{Name: "z"}, {Name: "vz"}, {Name: "x"}})
	if len(all) != 1 || names[0] != "height, its rate" {
		t.Fatalf("ellipses %v", names)
	}
	const n, r = 20000, 0.8
	e, rng := all[0], rand.New(rand.NewPCG(1, 1))
	correlation := []float64{1, r, 0, r, 1, 0, 0, 0, 1}
	std := []float64{2, 0.5, 1}
	for range n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		if err := e.add([]float64{2 * a, 0.5 * (r*a + math.Sqrt(1-r*r)*b), math.NaN()}, std, correlation); err != nil {
			t.Fatal(err)
		}
	}
	if math.Abs(e.in50[0]/n-0.5) > 0.02 || math.Abs(e.in95[0]/n-0.95) > 0.01 || math.Abs(e.squares[0]/n-2) > 0.1 {
		t.Errorf("inside %v and %v of %v, mean square %v", e.in50[0], e.in95[0], n, e.squares[0]/n)
	}
	if e.in95[1]/n > 0.94 || math.Abs(math.Exp(e.area/n)-0.6) > 1e-9 || math.Abs(e.gain/n+0.5*math.Log(1-r*r)) > 0.05 {
		t.Errorf("independent %v, volume %v, gain %v", e.in95[1]/n, math.Exp(e.area/n), e.gain/n)
	}
	if err := e.add([]float64{1, 1, 1}, std, []float64{1, 1, 0, 1, 1, 0, 0, 0, 1}); err == nil {
		t.Error("a singular correlation is taken")
	}
}

// The energy score of draws with the right correlation is lower than that of independent ones.
func TestEnergyScore(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	var right, independent float64
	for range 400 {
		draw := func(r float64) []float64 {
			a, b := rng.NormFloat64(), rng.NormFloat64()
			return []float64{a, r*a + math.Sqrt(1-r*r)*b}
		}
		truth := draw(0.95)
		var with, without [][]float64
		for range energyDraws {
			with, without = append(with, draw(0.95)), append(without, draw(0))
		}
		right += energyScore(truth, with, 0)
		independent += energyScore(truth, without, 0)
	}
	if right >= independent {
		t.Errorf("score %v, of independent draws %v", right, independent)
	}
	if v := energyScore([]float64{1, math.NaN()}, [][]float64{{1, 5}, {1, 7}}, 0); v != 0 {
		t.Errorf("score %v of what is exact and what is not measured", v)
	}
}
