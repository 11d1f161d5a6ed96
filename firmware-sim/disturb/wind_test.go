package disturb

import (
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/firmware-sim/seed"
)

// Standard deviation and correlation after one correlation time, whatever the
// step: 200,000 s hold 100,000 independent values, so 1 % is ten times the
// error expected.
func TestWindStatistics(t *testing.T) {
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
