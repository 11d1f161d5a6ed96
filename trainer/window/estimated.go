package window

// Estimated returns the flight with the states x (n×K) that a filter made of its own, which predictions start from, and
// what they are compared with (n×K). like (K) names the state of f in whose gaps a state of x has its own.
func (f *Flight) Estimated(x, compared []float64, like []int) Flight {
	out := *f
	out.K, out.X, out.Exact, out.maxGap = len(like), x, compared, make([]float64, len(like))
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
	if f.Exact != nil {
		out.X, out.Exact = f.Exact, nil
	}
	return out
}
