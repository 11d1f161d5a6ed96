package ood_test

import (
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/ood"
)

// moving returns displacements of three channels, the last of which never moves.
func moving(size, tau float64) []float64 {
	return []float64{size * tau, 3 * size * math.Sqrt(tau), 0}
}

func running(m *ood.RMSDisplacement, knots []float64, size float64) ood.RunningRMS {
	c := ood.NewRunningRMS(m, knots)
	for q, tau := range knots {
		c.Knot(q, moving(size, tau))
	}
	return c
}

// What moves as typical has the ratio 1 at all knots, twice as much 2, and between the
// knots it is near that; a channel that never moves does not count.
func TestRatio(t *testing.T) {
	knots := []float64{0, 0.05, 0.1, 0.3, 0.6, 1}
	m := ood.RMSDisplacement{Typical: make([]float64, 3*len(knots))}
	for q, tau := range knots {
		for k, d := range moving(1, tau) {
			m.Typical[k*len(knots)+q] = d
		}
	}
	for _, size := range []float64{1, 2, -0.5} {
		c := running(&m, knots, size)
		for _, tau := range knots[1:] {
			if got := c.Ratio(tau, moving(size, tau)); math.Abs(got/math.Abs(size)-1) > 1e-12 {
				t.Errorf("size %v, τ %v: %v", size, tau, got)
			}
		}
		for tau := 0.055; tau < 1; tau += 0.013 {
			if got := c.Ratio(tau, moving(size, tau)); math.Abs(got/math.Abs(size)-1) > 0.06 {
				t.Errorf("size %v, τ %v: %v", size, tau, got)
			}
		}
	}
	none := ood.RMSDisplacement{Typical: make([]float64, 3*len(knots))}
	c := running(&none, knots, 5)
	if got := c.Ratio(0.4, moving(5, 0.4)); got != 1 {
		t.Errorf("where nothing counts: %v", got)
	}
}

// The ratio is continuous in time, and is that of all the way: who comes back to
// the start has moved.
func TestRatioCountsTheWholePath(t *testing.T) {
	knots := []float64{0, 0.1, 0.25, 0.5, 1}
	m := ood.RMSDisplacement{Typical: []float64{0, 1, 1, 1, 1}}
	back := func(tau float64) []float64 { return []float64{2 * math.Sin(2*math.Pi*tau)} }
	c := ood.NewRunningRMS(&m, knots)
	for q, tau := range knots {
		c.Knot(q, back(tau))
	}
	if got := c.Ratio(1, back(1)); got < 0.5 {
		t.Errorf("back at the start: %v", got)
	}
	last := c.Ratio(0.1, back(0.1))
	for tau := 0.1; tau <= 1; tau += 1e-4 {
		got := c.Ratio(tau, back(tau))
		if math.Abs(got-last) > 0.01 {
			t.Fatalf("τ %v: from %v to %v", tau, last, got)
		}
		last = got
	}
}

func TestFactorIsBounded(t *testing.T) {
	m := ood.RMSDisplacement{Min: 0.25, Max: 4, Exponent: []float64{0.5, 0}}
	for _, c := range []struct {
		ratio   float64
		readout int
		want    float64
	}{{1, 0, 1}, {4, 0, math.Sqrt2}, {1e9, 0, math.Sqrt2}, {0, 0, 0.5}, {0.25, 0, 0.5}, {4, 1, 1}, {4, 2, 1}} {
		if got := m.Factor(c.ratio, c.readout); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
