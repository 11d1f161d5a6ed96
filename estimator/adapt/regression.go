package adapt

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// constant is the coordinate of a mean error, which is learned faster than the others.
const constant = 5.

// coordinates are those that the errors of a series are linear in: a constant, and the standardised,
// bounded ones of the equation at the start, with the mean input up to the end of a bucket.
type coordinates struct {
	of   *priordynamics.Model
	mean []float64 // P
	at   []float64 // F
}

func newCoordinates(e *priordynamics.Model) coordinates {
	return coordinates{of: e, mean: make([]float64, len(e.UMean)), at: make([]float64, 1+e.Lift.Dim()+len(e.UMean))}
}

// set sets those of a start x0 (K) under the input u (nil without inputs) up to h, s, and returns them (F).
func (c *coordinates) set(x0 []float64, u channel.Signal, h float64) []float64 {
	c.at[0] = constant
	c.of.Bounded(c.at[1:], nil, x0, c.mean)
	return c.until(u, h)
}

// until sets those of the start that was set last under the input u up to another h, s, and returns them (F).
func (c *coordinates) until(u channel.Signal, h float64) []float64 {
	if len(c.mean) > 0 {
		u.Mean(c.mean, 0, h)
		c.of.BoundedInput(c.at[1:], c.mean)
	}
	return c.at
}

// gainOf updates the covariance P (F×F) of the coefficients of a regression by an error at
// coordinates v (F), of a variance over that of a measurement, and writes the gain of the
// coefficients to dst (F).
func gainOf(dst, P, v []float64, variance float64) {
	n := len(v)
	for i := range dst {
		dst[i] = dot(P[i*n:(i+1)*n], v)
	}
	total := dot(dst, v) + variance
	for i, a := range dst {
		for j, b := range dst[:i+1] {
			p := P[i*n+j] - a*b/total
			P[i*n+j], P[j*n+i] = p, p
		}
	}
	for i := range dst {
		dst[i] /= total
	}
}

func finite(v []float64) bool {
	return !slices.ContainsFunc(v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}

// dot adds four sums side by side: one would wait for each addition.
func dot(a, b []float64) float64 {
	var s0, s1, s2, s3 float64
	i := 0
	for b = b[:len(a)]; i+4 <= len(a); i += 4 {
		x, y := (*[4]float64)(a[i:]), (*[4]float64)(b[i:])
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + (s2 + s3)
}
