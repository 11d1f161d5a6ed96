package ood

import "math"

// NearestGradient is Nearest that also writes the derivative of the distance by the lifted,
// standardised state to dst (L): 0 on a reference point, and where there is none.
func (r *Detector) NearestGradient(dst, white []float64) (distance float64) {
	clear(dst)
	var nearest []float64
	best := math.Inf(1)
	for _, p := range r.Points {
		sum := 0.0
		for i, v := range p {
			d := white[i] - v
			sum += d * d
		}
		if sum < best {
			best, nearest = sum, p
		}
	}
	if nearest == nil {
		return 0
	}
	distance = math.Sqrt(best)
	if distance == 0 {
		return 0
	}
	o := 0
	for i := range nearest { // transposed rows of Inverse
		d := (white[i] - nearest[i]) / distance
		for j, v := range r.Inverse[o : o+i+1] {
			dst[j] += v * d
		}
		o += i + 1
	}
	return distance
}
