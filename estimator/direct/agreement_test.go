package direct

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestAgreement(t *testing.T) {
	for _, c := range []struct{ c, a, b, s, want float64 }{
		{0.5, 0, 1, 1, 0.5},      // within the interval
		{0.5, 1, 0, 1, 0.5},      // whichever is larger
		{1, 0, 1, 1e-9, 1},       // at its end
		{1.01, 0, 1, 1, 1.01},    // hardly beyond
		{6, 0, 1, 1, 3.5},        // five times as far as usual: half of it is left
		{-5, 1, 0, 1, -2.5},      //
		{1e6, 0, 1, 1, 1},        // far beyond: the nearer end
		{-1e300, 2, 3, 1e-12, 2}, //
	} {
		if got := agree(c.c, c.a, c.b, c.s).value; !(math.Abs(got-c.want) < 1e-4) {
			t.Errorf("%v beyond %v and %v, usual %v: %v, expected %v", c.c, c.a, c.b, c.s, got, c.want)
		}
	}
	rng := rand.New(rand.NewPCG(3, 1))
	for range 1000 {
		c, a, b, s := 4*rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), 0.1+rng.Float64()
		g := agree(c, a, b, s)
		const h = 1e-6
		slope := func(dc, da, db, ds float64) float64 {
			return (agree(c+dc*h, a+da*h, b+db*h, s+ds*h).value - agree(c-dc*h, a-da*h, b-db*h, s-ds*h).value) / (2 * h)
		}
		others := [2]float64{}
		others[g.nearest] = 1 - g.own
		close(t, "by c", g.own, slope(1, 0, 0, 0), 1e-5)
		close(t, "by a", others[0], slope(0, 1, 0, 0), 1e-5)
		close(t, "by b", others[1], slope(0, 0, 1, 0), 1e-5)
		close(t, "by s", g.byApart, slope(0, 0, 0, 1), 1e-5)
		close(t, "moved", g.moved(), (c-math.Max(math.Min(a, b), math.Min(c, math.Max(a, b))))*(c-g.value), 1e-12)
	}
}

func TestBoundedLevelsAreChecked(t *testing.T) {
	for name, c := range map[string]struct {
		change func(m *Model)
		want   string
	}{
		"length":       {func(m *Model) { m.Levels[2].Apart = m.Levels[2].Apart[1:] }, "8 numbers, expected 9"},
		"too small":    {func(m *Model) { m.Levels[2].Apart[4] = 0 }, "0 is below 1e-12"},
		"infinite":     {func(m *Model) { m.Levels[2].Apart[4] = math.Inf(1) }, "apart: number 4 is +Inf"},
		"nothing less": {func(m *Model) { m.Levels[4].Apart = make([]float64, 3*K) }, "there are no two levels that read less history"},
		"other times":  {func(m *Model) { m.Levels[4].Times = []float64{0.05, 0.2, 0.8} }, "other times"},
	} {
		m := bounded(1, rand.New(rand.NewPCG(1, 1)))
		c.change(m)
		if err := m.Check(K, P, 4); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
