package latency

import (
	"math"
	"math/rand/v2"
	"testing"
)

// wheelOfSlowCommands is a wheel that follows slow commands within 40 ms: how far it is behind is little more than the noise of its sensor.
var wheelOfSlowCommands = plant{
	name: "wheel under slow commands", states: []string{"speed"}, inputs: 1, start: []float64{0},
	field: func(dst, x, v []float64) { dst[0] = 25 * (v[0] - x[0]) },
	pilot: func(r *rand.Rand) func(float64, []float64) []float64 {
		a, b, c := r.Float64(), r.Float64(), r.Float64()
		return func(t float64, _ []float64) []float64 {
			return []float64{math.Sin(1.1*t+7*a) + math.Sin(2.3*t+7*b) + math.Sin(0.5*t+7*c)}
		}
	},
}

// Where the noise of a sensor hides how late inputs act, that they act at once is not known: it is not known, or the intervals hold the truth. What equations
// read is nearer to the truth than what a regression on noisy states finds.
func TestNoiseThatHidesALatency(t *testing.T) {
	for seed := range uint64(2) {
		truth := pair{0.04 + 0.02*float64(seed), 0}
		res, err := Estimate(t.Context(), wheelOfSlowCommands.fly(seed, 60, 0.02, 0.02, []pair{truth}), wheelOfSlowCommands.channels())
		if err != nil {
			t.Fatal(err)
		}
		l, read := res.Inputs[0], res.fitted[0]
		t.Log(l, read, truth)
		if l.Known && (truth[0] < l.DeadLow || truth[0] > l.DeadHigh) {
			t.Errorf("seed %d: %v, expected %v", seed, l, truth)
		}
		if sum := read.Dead + read.Lag; math.Abs(sum-truth[0]) > 0.03 {
			t.Errorf("seed %d: equations read the input %.0f ms late, expected %v", seed, 1000*sum, truth)
		}
	}
}
