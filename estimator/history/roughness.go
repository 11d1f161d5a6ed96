package history

import "math"

// smooth is the degree of the polynomial that a smooth history is.
const smooth = 3

// Roughness measures what a cubic in time leaves of a channel's start and history: the noise
// of its sensor, vibration, and all that changes faster than the rows. Its zero value has no
// rows, and measures nothing.
type Roughness struct {
	basis    [smooth + 1][]float64 // n+1: orthonormal, of the start and the means over the rows
	residual []float64             // n+1
}

// NewRoughness returns that of the rows of a spec; nothing is measured by fewer than five.
func NewRoughness(spec Spec) Roughness {
	n := spec.Rows()
	r := Roughness{}
	if n <= smooth+1 {
		return r
	}
	r.residual = make([]float64, n+1)
	for p := range r.basis {
		// The mean of t^p over a row, t in units of the reach.
		q, from := make([]float64, n+1), 0.0
		q[0] = math.Pow(0, float64(p))
		for j, e := range spec.Edges {
			to := e / spec.Reach()
			q[j+1] = (math.Pow(to, float64(p+1)) - math.Pow(from, float64(p+1))) / (float64(p+1) * (to - from))
			from = to
		}
		for range 2 { // once more: the first powers are nearly alike
			for _, other := range r.basis[:p] {
				subtract(q, other)
			}
		}
		norm := 1 / math.Sqrt(dot(q, q))
		for j := range q {
			q[j] *= norm
		}
		r.basis[p] = q
	}
	return r
}

// Measures reports whether there are rows enough.
func (r *Roughness) Measures() bool { return r.residual != nil }

// Of returns the root mean square of what is left of channel k, in its unit; history has all
// rows of the spec, each of so many numbers, and x0 is the state at the start.
func (r *Roughness) Of(history []float64, row, k int, x0 float64) float64 {
	d := r.residual
	for j := range d[1:] {
		d[j+1] = history[j*row+k] - x0
	}
	d[0] = 0
	for _, q := range r.basis {
		subtract(d, q)
	}
	return math.Sqrt(dot(d, d) / float64(len(d)-len(r.basis)))
}

// Residuals returns the matrix ((n+1)×n, row-major) by which the residuals follow from the rows of a channel less its start:
// Of is their root mean square over n+1−4 degrees of freedom.
func (r *Roughness) Residuals() []float64 {
	n := len(r.residual) - 1
	out := make([]float64, (n+1)*n)
	for j := range n {
		d := make([]float64, n+1)
		d[j+1] = 1
		for _, q := range r.basis {
			subtract(d, q)
		}
		for i, v := range d {
			out[i*n+j] = v
		}
	}
	return out
}

// Freedom returns the degrees of freedom of the residuals.
func (r *Roughness) Freedom() int { return len(r.residual) - len(r.basis) }

// subtract takes from v its part along q, of norm 1.
func subtract(v, q []float64) {
	along := dot(v, q)
	for j, x := range q {
		v[j] -= along * x
	}
}

func dot(a, b []float64) (sum float64) {
	for j, x := range a {
		sum += x * b[j]
	}
	return sum
}
