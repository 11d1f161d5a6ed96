package objective

import "time"

// Times are how long the parts of evaluations have taken, those of all channels
// together: with several processors they add up to more than went by.
type Times struct {
	Forward   time.Duration // core and heads
	Condition time.Duration // features at the observations, their Gram matrix, its factor
	Support   time.Duration // means and variances at the support points, and what their adjoint needs of these
	Match     time.Duration // the dynamics, there and back, and W
	Adjoint   time.Duration // of the channels, back to the heads
	Back      time.Duration // of heads and core
}

// Times returns the sums over all evaluations.
func (o *Objective) Times() Times {
	t := o.took
	for _, c := range o.channels {
		t.Condition += c.took.Condition
		t.Support += c.took.Support
		t.Adjoint += c.took.Adjoint
	}
	return t
}

// lap adds to sum what went by since from, and sets from to now.
func lap(sum *time.Duration, from *time.Time) {
	now := time.Now()
	*sum += now.Sub(*from)
	*from = now
}
