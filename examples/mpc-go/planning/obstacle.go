package planning

import "math"

// Obstacle is a disc in the plane of two channels that a plan must not enter.
type Obstacle struct {
	Channels [2]int
	Centre   [2]float64
	Radius   float64 // m, of disc and vehicle together
	Factor   float64 // of the standard deviation that is kept free
	Margin   float64 // m, that is kept free besides
	Widest   float64 // (optional) m, that is kept free at most; 0 = no bound
}

// Clearance returns the distance of the mean (K) from the disc, less Margin and Factor standard
// deviations along the normal of the disc, or less Widest: where the position is normal and what is kept free is below
// Widest, its half-plane is violated with probability Φ(−Factor) at most. normal, if not nil, is set to the normal, the
// derivative of the distance by the mean.
func (o *Obstacle) Clearance(mean, std []float64, normal *[2]float64) float64 {
	a, b := mean[o.Channels[0]]-o.Centre[0], mean[o.Channels[1]]-o.Centre[1]
	distance := math.Max(math.Hypot(a, b), 1e-6)
	a, b = a/distance, b/distance
	if normal != nil {
		normal[0], normal[1] = a, b
	}
	kept := o.Margin + o.Factor*math.Hypot(a*std[o.Channels[0]], b*std[o.Channels[1]])
	if o.Widest > 0 {
		kept = min(kept, o.Widest)
	}
	return distance - o.Radius - kept
}

// far reports whether the obstacle is further from a state than most.
func (o *Obstacle) far(x []float64, most float64) bool {
	return most > 0 && math.Hypot(x[o.Channels[0]]-o.Centre[0], x[o.Channels[1]]-o.Centre[1]) > most+o.Radius
}
