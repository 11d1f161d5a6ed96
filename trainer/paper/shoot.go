package paper

import (
	"context"
)

// beginnings are the shares of the time that are shot through first, one after the
// other, where they hold enough observations: over a short time solutions depend
// little on errors of the field, and a chaotic system is learned from there on.
var beginnings = []float64{0.15, 0.25, 0.35, 0.5, 0.7, 0.85}

// Shoot refines the flow so that its solutions from the exact starts pass through
// the data: ok is false where it
// cannot be integrated.
func (f *Flow) Shoot(ctx context.Context, d *Data, rounds int) (ok bool) {
	n := newNewton(f, d)
	seen := 0
	for _, share := range beginnings {
		n.until = share * d.End()
		now := n.values()
		if now < len(f.Theta)/2 || now == seen {
			continue // too few: the prior alone would move most of the parameters
		}
		seen = now
		if !n.iterate(ctx, 12) || !n.evidence() {
			return false
		}
	}
	n.until = d.End()
	for range rounds {
		before := append([]float64(nil), f.Sigma...)
		if !n.iterate(ctx, 15) || !n.evidence() {
			return false
		}
		if still(before, f.Sigma) {
			break
		}
	}
	if !n.iterate(ctx, 15) {
		return false
	}
	n.system()
	if !n.factorise(0) {
		return false
	}
	f.Inv = n.inv
	f.misfit(n)
	return true
}

// values returns the number of observed values after the start and not later than
// until.
func (n *newton) values() int {
	count := 0
	for j := range n.d.Trajectories {
		for _, t := range n.d.Trajectories[j].T {
			if t > 0 && t <= n.until {
				count += n.d.K
			}
		}
	}
	return count
}
