package outside

import (
	"math"

	"github.com/dgm-robotics/dgm/trainer/window"
)

// Inputs returns the least and the largest value of every input (P) over all
// samples.
func Inputs(flights []window.Flight, P int) (low, high []float64) {
	if P == 0 {
		return nil, nil
	}
	low, high = make([]float64, P), make([]float64, P)
	for p := range P {
		low[p], high[p] = math.Inf(1), math.Inf(-1)
	}
	for i := range flights {
		for n := range flights[i].N() {
			for p, v := range flights[i].Input(n) {
				if !math.IsNaN(v) {
					low[p], high[p] = math.Min(low[p], v), math.Max(high[p], v)
				}
			}
		}
	}
	for p := range P {
		if low[p] > high[p] {
			low[p], high[p] = 0, 0
		}
	}
	return low, high
}
