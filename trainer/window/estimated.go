package window

import "slices"

// Estimated returns the flight with the states x (n×K) that a filter made of its own, which predictions start from, and
// the measurements y (n×K). like (K) names the state of f in whose gaps a state of x has its own.
func (f *Flight) Estimated(x, y []float64, like []int) Flight {
	out := *f
	out.K, out.X, out.Y, out.Target, out.Exact, out.maxGap = len(like), x, y, nil, nil, make([]float64, len(like))
	for k, of := range like {
		out.maxGap[k] = f.maxGap[of]
	}
	if f.X0 != nil {
		out.X0 = nil // of which the estimated part is not known
	}
	return out
}

// Measured returns the flight with what was measured in place of estimates, where it has these.
func (f *Flight) Measured() Flight {
	out := *f
	if out.Target = nil; f.Y != nil {
		out.X, out.Y = f.Y, nil
	}
	return out
}

// Compared returns flights that are compared with measurements, whatever training aims at.
func Compared(flights []Flight) []Flight {
	out := slices.Clone(flights)
	for i := range out {
		out[i].Target = nil
	}
	return out
}
