package motion

import "math"

const quantile = 2.02 // of 95 %, of Student's t with so many blocks

// intervals sets the intervals of 95 % of the equation's parameters at θ: of the variance over blocks of windows, and, with a precision
// a priori, of what that leaves open.
func (f *problem) intervals() {
	msq, _ := f.errors(f.theta, f.delta)
	normal, _, scores := f.gather(f.theta, f.delta, msq)
	with := f.with(normal, f.prior)
	variances, inverse := f.sandwich(with, scores), solve(f.m, with, identity(f.m), 0)
	if inverse == nil { // a direction that neither data nor prior determine
		inverse = solve(f.m, with, identity(f.m), 1e-9)
	}
	for i, v := range f.theta {
		p := &f.e.Parameters[i]
		if p.Value, p.Low, p.High = v, -math.MaxFloat32, math.MaxFloat32; variances == nil || inverse == nil {
			continue // nothing is known of them
		}
		variance := variances[i]
		for j, prior := range f.prior { // κ H⁻¹ Λ H⁻¹, of what the data leave open
			variance += f.kappa * inverse[i*f.m+j] * inverse[i*f.m+j] * prior
		}
		half := quantile * math.Sqrt(variance)
		p.Low, p.High = v-half, v+half
	}
}

// sandwich returns the variances of the parameters by the gradients of blocks of windows, nil where they are not determined.
func (f *problem) sandwich(normal, scores []float64) []float64 {
	right := make([]float64, f.m*blocks) // a column for each block
	for i := range f.m {
		mean := 0.0 // of a precision a priori
		for b := range blocks {
			mean += scores[b*f.m+i] / blocks
		}
		for b := range blocks {
			right[i*blocks+b] = scores[b*f.m+i] - mean
		}
	}
	moves := solve(f.m, normal, right, 1e-9)
	if moves == nil {
		return nil
	}
	out := make([]float64, f.m)
	for i := range out {
		for _, d := range moves[i*blocks : (i+1)*blocks] {
			out[i] += d * d * blocks / (blocks - 1)
		}
	}
	return out
}
