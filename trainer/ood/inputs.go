package ood

import (
	"math"

	"github.com/dgm-robotics/dgm/trainer/window"
)

// Inputs returns the least and the largest mean of every input (P) over any so many
// seconds from a sample on; of the samples themselves where block is 0. An input that
// chatters has a wide range of samples and a narrow one of means: a plan is compared with
// the range of what the nets read, which are means.
func Inputs(flights []window.Flight, P int, block float64) (low, high []float64) {
	if P == 0 {
		return nil, nil
	}
	low, high = make([]float64, P), make([]float64, P)
	for p := range P {
		low[p], high[p] = math.Inf(1), math.Inf(-1)
	}
	mean := make([]float64, P)
	for i := range flights {
		f := &flights[i]
		last := f.T[f.N()-1]
		for n, t := range f.T {
			if t+block > last {
				break
			}
			u := f.Input(n)
			if block > 0 {
				f.InputMean(mean, t, t+block)
				u = mean
			}
			for p, v := range u {
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
