package modeltest

import (
	"math"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// ellipsoid bounds n coordinates to a length of about 2.5, unequally and askew.
func ellipsoid(n int) (e priordynamics.Ellipsoid) {
	for i := range n {
		for j := range i {
			e = append(e, 0.1*math.Sin(float64(i+3*j)))
		}
		e = append(e, 0.4+0.1*math.Cos(float64(i)))
	}
	return e
}

func shares(n int, rng *rand.Rand) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = rng.Float64()
	}
	return out
}

func factors(n int, rng *rand.Rand) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1 + rng.Float64()
	}
	return out
}
