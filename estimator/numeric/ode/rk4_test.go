package ode

import (
	"math"
	"testing"
)

func TestRK4Order(t *testing.T) {
	run := func(n int) float64 {
		x := []float64{math.Sin(1)}
		if !NewRK4(1).Advance(forced, x, 1, 2, n) {
			t.Fatal("failed")
		}
		return math.Abs(x[0] - math.Sin(4))
	}
	if order := math.Log2(run(40) / run(80)); math.Abs(order-4) > 0.3 {
		t.Errorf("order %.2f, want 4", order)
	}
}

func TestRK4ReportsNonFiniteStates(t *testing.T) {
	explode := func(dst []float64, _ float64, x []float64) { dst[0] = x[0] * x[0] }
	if NewRK4(1).Advance(explode, []float64{100}, 0, 100, 20) {
		t.Error("a state that is not finite was called good")
	}
}
