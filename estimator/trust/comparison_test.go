package trust

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The closed form is the integral of (F(y) − [y ≥ measured])².
func TestCRPSIsItsIntegral(t *testing.T) {
	for _, c := range [...]struct{ off, std float64 }{{0, 1}, {0.7, 1}, {-3, 0.5}, {10, 2}} {
		sum, step := 0.0, 1e-3
		for y := -30.0; y < 30; y += step {
			f := 0.5 * math.Erfc(-(y+step/2)/c.std/math.Sqrt2)
			sum += step * math.Pow(f-indicator(y+step/2 >= c.off), 2)
		}
		if got := crps(c.off, c.std); math.Abs(got-sum) > 1e-3 {
			t.Errorf("%+v: %v, integral %v", c, got, sum)
		}
	}
}

func TestComparison(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 2))
	c := NewComparison(2)
	off, std := [2][]float64{make([]float64, 2), make([]float64, 2)}, [2][]float64{{1, 2}, {1, 2}}
	const n = 4000
	add := func() bool {
		for i := range 2 {
			// a is wrong by twice its standard deviation, b is right.
			off[1][i] = std[1][i] * src.NormFloat64()
			off[0][i] = off[1][i] + 2*std[0][i]
		}
		return c.Add(off, std)
	}
	for range n {
		add()
	}
	for i := range 2 {
		if b := c.Covered[1][i]; math.Abs(b-0.95) > 0.02 {
			t.Errorf("b covers %v", b)
		}
		if a := c.Covered[0][i]; math.Abs(a-0.484) > 0.03 { // P(|2 + n| < 1.96)
			t.Errorf("a covers %v", a)
		}
		if got, want := c.CRPS[1][i], std[1][i]/math.Sqrt(math.Pi); math.Abs(got-want) > 0.05*want {
			t.Errorf("CRPS of b %v, expected %v", got, want)
		}
	}
	want := 0.0
	for i := range 2 {
		want += (c.CRPS[1][i] - c.CRPS[0][i]) / std[0][i] / 2
	}
	if c.Windows != n || math.Abs(c.Mean-want) > 1e-9 || c.Std <= 0 {
		t.Errorf("%d windows, mean %v, expected %v, std %v", c.Windows, c.Mean, want, c.Std)
	}
	off[0][0] = math.NaN()
	if before := c.Mean; c.Add(off, std) || c.Mean != before || c.Windows != n {
		t.Error("a window that is not finite counts")
	}
	if a := testing.AllocsPerRun(100, func() { add() }); a != 0 {
		t.Errorf("%v allocations", a)
	}
}
