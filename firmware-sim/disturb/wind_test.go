package disturb

import (
	"math"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/firmware-sim/seed"
)

// Standard deviation and correlation after one correlation time, whatever the
// step: 200,000 s hold 100,000 independent values, so 1 % is ten times the
// error expected.
func TestLawOfTheWind(t *testing.T) {
	for _, step := range []float64{0.05, 0.5} {
		w := NewWind(Gusts{Std: 0.7, Time: 2}, 2, step, seed.New(1, seed.Wind, 0, 0))
		lag := int(math.Round(2 / step))
		n := int(200_000 / step)
		past := make([]float64, lag)
		var sum, square, product, cross float64
		for i := range n {
			v := w.Now()
			sum += v[0]
			square += v[0] * v[0]
			cross += v[0] * v[1]
			if i >= lag {
				product += v[0] * past[i%lag]
			}
			past[i%lag] = v[0]
			w.Next()
		}
		std := math.Sqrt(square / float64(n))
		if math.Abs(std-0.7) > 0.01 || math.Abs(sum/float64(n)) > 0.01 {
			t.Errorf("step %v: mean %v, std %v, want 0 and 0.7", step, sum/float64(n), std)
		}
		if c := product / square; math.Abs(c-math.Exp(-1)) > 0.02 {
			t.Errorf("step %v: correlation after one time %v, want %v", step, c, math.Exp(-1))
		}
		if c := cross / square; math.Abs(c) > 0.02 {
			t.Errorf("step %v: components are correlated by %v", step, c)
		}
	}
}

func TestParseGusts(t *testing.T) {
	if g, err := ParseGusts("0.5:250ms"); err != nil || g != (Gusts{Std: 0.5, Time: 0.25}) {
		t.Errorf("%v %v", g, err)
	}
	if g, err := ParseGusts("0.5:1s:20s:5s"); err != nil || g != (Gusts{0.5, 1, Onset{20, 5}}) {
		t.Errorf("%v %v", g, err)
	}
	if g, err := ParseGusts("3"); err != nil || g != (Gusts{Std: 3, Time: 1}) {
		t.Errorf("%v %v", g, err)
	}
	for _, bad := range []string{"", "x", "-1", "NaN", "Inf", "1:", "1:2", "1:-2s", "1:1s:x", "1:1s:1s:-1s", "1:1s:1s:1s:1s"} {
		if _, err := ParseGusts(bad); err == nil || !strings.Contains(err.Error(), "write wind=") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
