package optimise

import "math"

// Cosine is a learning rate that warms up linearly and then falls along half a
// cosine.
type Cosine struct {
	From, To float64 // highest and last rate
	WarmUp   int     // steps
	Steps    int     // steps in all
}

// At returns the rate of step i, 0 ≤ i < Steps.
func (c Cosine) At(i int) float64 {
	if i < c.WarmUp {
		return c.From * float64(i+1) / float64(c.WarmUp)
	}
	x := float64(i-c.WarmUp) / math.Max(1, float64(c.Steps-1-c.WarmUp))
	return c.To + (c.From-c.To)*0.5*(1+math.Cos(math.Pi*math.Min(x, 1)))
}

// Ramp is a weight that is 0 up to the fraction From of the steps, 1 from the
// fraction To on, and rises between them by a power. A matching term that acts
// before the smoother has learned anything pulls it into the trivial solution:
// a flat mean under a large noise, which is consistent with itself.
type Ramp struct {
	From, To, Power float64
	Steps           int
}

// At returns the weight of step i.
func (r Ramp) At(i int) float64 {
	x := (float64(i)/float64(r.Steps) - r.From) / (r.To - r.From)
	return math.Pow(math.Min(math.Max(x, 0), 1), r.Power)
}
