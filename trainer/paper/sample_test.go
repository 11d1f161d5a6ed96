package paper

import (
	"context"
	"math"
	"testing"
)

// A rollout without ε follows the mean of the dynamics, one with ε leaves it.
func TestRolloutFollowsTheDynamics(t *testing.T) {
	d := turning(4, 8, 0.05)
	fit, err := Train(context.Background(), d, small().Settings, 3)
	if err != nil {
		t.Fatal(err)
	}
	x0, times := []float64{1, 0}, []float64{0, 2, 4}
	one, mean := make([]float64, 6), make([]float64, 6)
	if !fit.Rollout(one, []float64{0, 0}, x0, times) || !fit.newFlow(d, netAlone).predict(mean, nil, nil, x0, nil, times) {
		t.Fatal("cannot be integrated")
	}
	for i := range mean {
		if !(math.Abs(one[i]-mean[i]) <= 1e-4) { // of the fixed steps
			t.Errorf("number %d: rollout %v, flow %v", i, one[i], mean[i])
		}
	}
	other := make([]float64, 6)
	fit.Rollout(other, []float64{1, -1}, x0, times)
	if other[0] != one[0] || other[2] == one[2] {
		t.Errorf("with ε %v, without %v", other, one)
	}
}
