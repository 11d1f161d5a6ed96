package paper

import (
	"context"
	"math"
	"slices"
)

// prefixes are the shares of the time that are fitted first, one after the other, where
// they hold enough observations: over a short time solutions depend little on errors of
// the field, and a chaotic system is learned from there on.
var prefixes = []float64{0.15, 0.25, 0.35, 0.5, 0.7, 0.85}

// Shoot refines the flow so that its solutions from the starts pass through the
// data: ok is false where it cannot be integrated.
func (f *Flow) Shoot(ctx context.Context, d *Data, rounds int) (ok bool) {
	n := newNewton(f, d)
	fitted, from := 0, 0.0
	few := len(f.Theta) / 4
	if len(f.Net.Layers) > 0 || f.Known != nil {
		few = min(few, f.Net.Params()/2)
	}
	shares := prefixes
	if f.part == netAlone && n.passesData() {
		shares = nil
	}
	for _, share := range shares {
		n.observe(share * d.End())
		now := n.values()
		if now < few || now == fitted {
			continue // too few: the prior alone would move most of the parameters
		}
		fitted = now
		if !n.extend(ctx, from, share*d.End(), halvings) {
			return false
		}
		from = share * d.End()
	}
	for round := range rounds {
		sigma, free := slices.Clone(f.Sigma), f.Free
		if !n.extend(ctx, from, d.End(), halvings) {
			return false
		}
		from = d.End()
		if f.prune() {
			mu := n.mu
			n = newNewton(f, d)
			n.mu = mu
			continue
		}
		settled := slices.EqualFunc(sigma, f.Sigma, func(a, b float64) bool { return math.Abs(b-a) <= 0.01*a })
		if round > 0 && settled && math.Abs(f.Free-free) < 0.02*f.Free {
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
	f.setPosterior(n.inv)
	n.setEvidence()
	return true
}

// passesData reports whether the flow passes the data over the whole time before it is
// refined, in twice the noise that a member found. A net alone then needs no prefixes: in a
// product of matrices whose priors rise while little is observed, no gradient leads back.
func (n *newton) passesData() bool {
	n.observe(n.d.End())
	half, ok := n.residuals(false) // ½ Σ e²/σ²
	return ok && half < 2*float64(n.values())
}

// halvings is how often the time between two prefixes is halved where the flow that fits
// the first cannot be integrated through the second.
const halvings = 4

// extend fits the flow, and the priors and the noise to it, to what was observed until
// a time, having done so for an earlier one.
func (n *newton) extend(ctx context.Context, from, to float64, halvings int) (ok bool) {
	n.observe(to)
	if len(n.e) == 0 {
		return true // the prior alone would shrink all parameters to zero
	}
	if n.iterate(ctx, 12) {
		return n.updateHyperparameters()
	}
	if halvings == 0 || from == to {
		return false
	}
	between := (from + to) / 2
	return n.extend(ctx, from, between, halvings-1) && n.extend(ctx, between, to, halvings-1)
}

// values returns the number of values, missing ones among them, after the start and not
// later than until.
func (n *newton) values() int {
	count := 0
	for _, tr := range n.d.Trajectories {
		count += n.d.K * (len(tr.until(n.until)) - len(tr.until(0)))
	}
	return count
}
