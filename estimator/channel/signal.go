package channel

// Signal is the input u over one horizon, time measured from its start.
type Signal interface {
	// Mean writes the mean of u over [a, b], seconds, a < b, to dst (P).
	Mean(dst []float64, a, b float64)
	// At writes u(t) to dst (P); at a step, the value that begins there.
	At(dst []float64, t float64)
}
