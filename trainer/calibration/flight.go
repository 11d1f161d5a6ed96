package calibration

import "math"

// flightEffect returns the standard deviation between flights of their mean errors at the
// horizon, over the standard deviation of an error (K), by the method of moments: the mean
// square of the flights' means, less what means of so many independent windows have. nil
// where folds hold out no whole flights.
//
// The width holds this variance from the first prediction on: the regression is fitted to
// errors about 0, not about the flights' means.
func (f *Folds) flightEffect(folds []*heldErrors, c *cells, r *regression) []float64 {
	if !f.Whole {
		return nil
	}
	K, last := c.K, c.T-1
	out := make([]float64, K)
	for k := range K {
		type flight struct{ n, sum, squares float64 }
		flights, inOrder := map[[2]int]*flight{}, []*flight(nil) // sums in one order have the same last bits
		for i, e := range folds {
			e.each(K, last, k, func(w *heldWindow, at *heldError) {
				id := [2]int{i, w.flight}
				if flights[id] == nil {
					flights[id] = &flight{}
					inOrder = append(inOrder, flights[id])
				}
				z := at.z * math.Exp(-r.level[k][last])
				flights[id].n++
				flights[id].sum += z
				flights[id].squares += z * z
			})
		}
		between, within, n := 0.0, 0.0, 0.0
		for _, v := range inOrder {
			independent := math.Max(v.n/windowsPerHorizon, 1)
			mean := v.sum / v.n
			spread := math.Max(0, v.squares/v.n-mean*mean)
			between += mean*mean - spread/independent
			within += spread
			n++
		}
		out[k] = math.Sqrt(math.Max(0, between/n) / math.Max(within/n, 1e-300))
	}
	return out
}

// windowsPerHorizon is how many windows start within one horizon.
const windowsPerHorizon = 20
