package latency

import (
	"context"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/trainer/cores"
)

const (
	sweeps = 8
	steps  = 12  // of one group in one sweep, at most
	little = 0.1 // of the log likelihood: a step or a sweep that gains less is the last
)

// fit returns the dead times and lags of greatest likelihood, from those given, or else from several beginnings: a lag and a
// pole of the robot itself can take each other's place.
func (p *problem) fit(ctx context.Context, given []pair) (best []pair, err error) {
	least := math.Inf(1)
	try := func(at []pair, grid bool) error {
		at, err := p.fitFrom(ctx, at, grid)
		if err != nil {
			return err
		}
		if r := p.residuals(at); r.Cols > 0 {
			if c := cost(r, p.anyDriven()); c < least {
				best, least = at, c
			}
		}
		return nil
	}
	if given != nil {
		for _, grid := range [...]bool{false, true} {
			if err := try(slices.Clone(given), grid); err != nil {
				return nil, err
			}
		}
	} else {
		lags := []float64{0.1, 0.02, 0.4}
		if p.P > 2 && len(p.groups) < p.P {
			lags = lags[:1] // only a beginning for each input by itself, and dear
		}
		for _, lag := range lags {
			if err := try(slices.Repeat([]pair{{0, lag * p.longest}}, len(p.groups)), true); err != nil {
				return nil, err
			}
		}
	}
	if best == nil {
		return nil, errSingular
	}
	return best, nil
}

// fitFrom improves dead times and lags group by group: first, if asked to, on a grid of dead times, then by Gauss-Newton steps.
func (p *problem) fitFrom(ctx context.Context, at []pair, grid bool) ([]pair, error) {
	parts := []matrix{p.A}
	for j := range at {
		parts = append(parts, p.acts(j, at[j]))
	}
	products := newGram(parts)
	for sweep := range sweeps {
		gained := 0.0
		for j := range at {
			if err := ctx.Err(); err != nil {
				return nil, context.Cause(ctx)
			}
			one := single{p: p, j: j, others: products.without(1 + j)}
			if !one.others.ok {
				return nil, errSingular
			}
			one.y = one.others.rest(p.Y)
			best := at[j]
			if grid && sweep == 0 {
				best = one.grid(best)
			}
			best, gain := one.descend(best)
			gained += gain
			if best != at[j] {
				at[j] = best
				products.replace(1+j, p.acts(j, best))
			}
		}
		if (gained < little && !(grid && sweep == 0)) || len(at) == 1 {
			break
		}
	}
	return at, nil
}

// single is the problem of one group, the others being held.
type single struct {
	p      *problem
	j      int
	others *projector
	y      matrix // the responses without what the others explain
}

// at returns cost, columns, their projector and residuals.
func (s *single) at(q pair) (float64, *projector, matrix) {
	own := newProjector(s.others.rest(s.p.acts(s.j, q)))
	if !own.ok {
		return math.Inf(1), own, s.y
	}
	r := own.rest(s.y)
	return cost(r, s.p.counts(s.j)), own, r
}

// grid returns the best of a few dead times with a lag.
func (s *single) grid(begin pair) pair {
	candidates := []pair{begin}
	for _, d := range [...]float64{0, 0.06, 0.12, 0.18, 0.27, 0.37, 0.5, 0.65, 0.8} {
		candidates = append(candidates, pair{d * s.p.longest, begin[1]})
	}
	costs := make([]float64, len(candidates))
	cores.Each(len(candidates), func(i int) { costs[i], _, _ = s.at(candidates[i]) })
	best := 0
	for i, c := range costs {
		if c < costs[best] {
			best = i
		}
	}
	return candidates[best]
}

// descend returns the minimum near a pair (Levenberg and Marquardt), and what it gains.
func (s *single) descend(q pair) (best pair, gained float64) {
	value, own, r := s.at(q)
	begin, damping := value, 1e-3
	for range steps {
		g, H := s.slope(q, own, r)
		improved := false
		for range 8 {
			next := s.p.clip(step(q, g, H, damping))
			if v, o, rest := s.at(next); v < value {
				improved = v < value-little
				q, value, own, r = next, v, o, rest
				damping = math.Max(damping/10, 1e-7)
				break
			}
			damping *= 6
		}
		if !improved {
			break
		}
	}
	return q, begin - value
}

// step solves the 2×2 system of a damped Gauss-Newton step; what is at its bound and pushes outwards stays.
func step(q pair, g pair, H [2][2]float64, damping float64) pair {
	a, b, c := H[0][0]*(1+damping), H[0][1], H[1][1]*(1+damping)
	free := [2]bool{q[0] > 0 || g[0] < 0, q[1] > 0 || g[1] < 0}
	switch {
	case free[0] && free[1]:
		if det := a*c - b*b; det > 0 {
			return pair{q[0] - (c*g[0]-b*g[1])/det, q[1] - (a*g[1]-b*g[0])/det}
		}
	case free[0] && a > 0:
		return pair{q[0] - g[0]/a, q[1]}
	case free[1] && c > 0:
		return pair{q[0], q[1] - g[1]/c}
	}
	return q
}

func (p *problem) clip(q pair) pair {
	for i := range q {
		q[i] = math.Min(math.Max(q[i], 0), p.longest)
	}
	return q
}

// slope returns gradient and Gauss-Newton matrix of the cost.
func (s *single) slope(q pair, own *projector, r matrix) (g pair, H [2][2]float64) {
	C := own.coefficients(s.y)
	v, counts := variances(r), s.p.counts(s.j)
	var J [2]matrix
	for i := range J {
		// The columns of own are a projection of those that are differentiated.
		J[i] = own.rest(s.others.rest(times(s.p.slopeOf(s.j, q, i), C)))
	}
	for n := range r.Rows {
		for c, e := range r.row(n) {
			if counts != nil && !counts[c] {
				continue
			}
			a, b := -J[0].row(n)[c], -J[1].row(n)[c]
			g[0] += a * e / v[c]
			g[1] += b * e / v[c]
			H[0][0] += a * a / v[c]
			H[0][1] += a * b / v[c]
			H[1][1] += b * b / v[c]
		}
	}
	H[1][0] = H[0][1]
	return g, H
}
