package ridge

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Column sets with equal errors count alike, one with a tenth more less, one with ten times as much not at all. Within one, a penalty
// has the share of a smaller one where it errs about as little, in the mean and in every fold.
func TestShares(t *testing.T) {
	var scores [][][]float64
	for _, ratios := range [][2]float64{
		{1, 1}, {1.001, 1.001}, {1.02, 0.984}, {1.08, 0.928}, {1.2, 1.2}, {10, 10},
		{1.3, 1.3}, {1.2, 1.2}, {1.1, 1.1}, {1, 1}, {1.003, 1.003}, {10, 10},
		{10, 10}, {10, 10}, {10, 10}, {10, 10}, {10, 10}, {10, 10},
	} {
		scores = append(scores, [][]float64{{2 * math.Log(ratios[0])}, {2 * math.Log(ratios[1])}})
	}
	odds := func(ratios ...float64) (sum float64) {
		for _, r := range ratios {
			sum += math.Pow(r, -8)
		}
		return sum
	}
	middle, wide := math.Sqrt(1.02*0.984), math.Sqrt(1.08*0.928)
	want := make([]float64, len(scores))
	want[2], want[3], want[4] = odds(1, 1.001, middle), odds(wide), odds(1.2)
	want[9], want[10] = odds(1), odds(1.3, 1.2, 1.1, 1.003)
	all := 0.0
	for _, w := range want {
		all += w
	}
	cfg := Config{Sharpness: 8}
	shares, least := cfg.share(scores, 0)
	for c := range want {
		if math.Abs(shares[c]-want[c]/all) > 1e-6 {
			t.Errorf("share %v of candidate %d, want %v", shares[c], c, want[c]/all)
		}
	}
	if math.Abs(least) > 1e-15 {
		t.Errorf("least score %v", least)
	}
}

// driven returns a flight of x⁺ = 0.97 x + 0.1 u (1 + 0.3 x) under an input, measured with noise.
func driven(segment int, seed uint64, u func(i int) float64) window.Flight {
	rng := rand.New(rand.NewPCG(uint64(segment), seed))
	x, inputs, now := make([]float64, 600), make([]float64, 600), 0.0
	for i := range x {
		inputs[i], x[i] = u(i), now+0.05*rng.NormFloat64()
		now = 0.97*now + 0.1*inputs[i]*(1+0.3*now)
	}
	return flight(segment, even(len(x)), x, inputs)
}

// Inputs that change slowly do not show what steps do. Of penalties that folds do not distinguish the
// small ones, which leave that to the noise, do not count.
func TestStepsAfterSlowInputs(t *testing.T) {
	logs := 0.0
	for seed := range uint64(4) {
		var flights []window.Flight
		for i := range 5 {
			flights = append(flights, driven(i, seed, func(j int) float64 {
				return math.Sin(0.03*float64(j)+float64(i)) + 0.5*math.Sin(0.018*float64(j)+2*float64(i))
			}))
		}
		cfg := Config{Times: []float64{0.3}, Sharpness: 8, Shorter: 2, History: history.Spec{Edges: append(lags(5).Edges, 0.1, 0.2)}, Rows: []int{7}}
		logs += math.Log(accuracy(fit(t, flights, cfg), driven(9, seed, func(j int) float64 { return float64(j / 40 % 2) }), 7)) / 4
	}
	if ratio := math.Exp(logs); !(ratio < 1.1) { // 1.39 with the small ones
		t.Errorf("%v of the error of holding", ratio)
	}
}
