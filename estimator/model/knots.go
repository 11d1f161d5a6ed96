package model

import "math"

// KnotWeights writes to dst (Q) the weights at τ of a function that is given at knots
// (Q, ascending τ), linear in √τ between them and constant beyond the ends.
func KnotWeights(dst, knots []float64, tau float64) {
	clear(dst)
	if len(knots) == 1 || tau <= knots[0] {
		dst[0] = 1
		return
	}
	last := len(knots) - 1
	if tau >= knots[last] {
		dst[last] = 1
		return
	}
	j := 0
	for tau > knots[j+1] {
		j++
	}
	a, b, s := math.Sqrt(knots[j]), math.Sqrt(knots[j+1]), math.Sqrt(tau)
	dst[j], dst[j+1] = (b-s)/(b-a), (s-a)/(b-a)
}
