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
		type flight struct{ n, independent, sum, squares float64 }
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
				flights[id].independent += 1 / e.apart
				flights[id].sum += z
				flights[id].squares += z * z
			})
		}
		between, within, n := 0.0, 0.0, 0.0
		for _, v := range inOrder {
			independent := math.Max(v.independent, 1)
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

// windowsPerHorizon is how many windows start within one horizon, at most.
const windowsPerHorizon = 20

func square(v float64) float64 { return v * v }

// mostEffect bounds what flights add to each other.
const mostEffect = 0.45

// anotherFlight is the flight effect that folds do not show: the standard deviation of what
// another flight adds to the errors, over their own, at τ. For folds that hold out blocks of
// the flights that they are fitted to it is that of eight Crazyflie flights, each predicted by
// models of one or two others. Whole flights have it in the errors of their channels; in which
// one the next flight differs most they do not show, so that all get the effect of all (K; root
// mean square), as far as these flights needed it (docs/notes/trainer.md).
func (f *Folds) anotherFlight(tau float64, effect []float64) float64 {
	if !f.Whole {
		return 0.5 + 0.5*math.Sqrt(tau)
	}
	sum := 0.0
	for _, v := range effect {
		sum += v * v / float64(len(effect))
	}
	return math.Min(math.Sqrt(sum), mostEffect)
}

// wholeFlights returns how many whole flights were held out of the errors.
func wholeFlights(f *Folds, of []*heldErrors) int {
	if !f.Whole {
		return 0
	}
	flights := map[int]bool{}
	for _, fold := range of {
		for i := range fold.windows {
			flights[fold.windows[i].flight] = true
		}
	}
	return len(flights)
}
