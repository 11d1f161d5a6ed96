package latency

import (
	"context"
	"errors"
	"math"
	"slices"
)

// instrument replaces the functions of the states by what the inputs and earlier windows tell of them, where dead times and lags are others then, by
// so many s: the noise of a sensor makes a state that follows its input count too little, for which a false latency makes up. How late
// inputs act is hidden then: what remains of the noise is not known. It returns the dead times and lags of greatest likelihood.
func (p *problem) instrument(ctx context.Context, at []pair, by float64) ([]pair, error) {
	q, to := *p, at
	for range rounds {
		told := newProjector(beside(p.instruments(to)...))
		if !told.ok {
			return at, nil
		}
		q.A = times(told.columns, told.coefficients(p.A))
		var err error
		if to, err = q.fitFrom(ctx, slices.Clone(to), false); errors.Is(err, errSingular) {
			return at, nil
		} else if err != nil {
			return nil, err
		}
	}
	values, _, ok := q.values(to)
	if !ok {
		return at, nil
	}
	for g, l := range at {
		sum, told := l[0]+l[1], values[3*g+2]
		if (sum < told.low || sum > told.high) && math.Abs(sum-to[g][0]-to[g][1]) >= by {
			p.A, p.hidden = q.A, true
			return to, nil
		}
	}
	return at, nil
}

// rounds of instruments, each with what the inputs do after the dead times and lags of the last one.
const rounds = 2

// instruments returns what is known of the functions of the states in each window without its own noise: the inputs at several delays, and the
// functions in the window before it, or, of the first of a stretch, in the one after it.
func (p *problem) instruments(at []pair) []matrix {
	apart := newMatrix(p.A.Rows, p.A.Cols)
	for r := range p.windows {
		copy(apart.row(r), p.A.row(p.apart(r)))
	}
	out := []matrix{apart}
	for _, tap := range taps {
		for j := range p.P {
			out = append(out, p.one(j, tap*p.longest, 0).column(0))
		}
	}
	for g, q := range at {
		out = append(out, p.acts(g, q), p.slopeOf(g, q, 0), p.slopeOf(g, q, 1))
	}
	return out
}

// apart returns the window before r, else after it, that shares no sample with it; r where there is none.
func (p *problem) apart(r int) int {
	for _, way := range [...]int{-1, 1} {
		for i := r + way; i >= 0 && i < len(p.windows) && p.windows[i].stretch == p.windows[r].stretch; i += way {
			if (p.windows[r].first-p.windows[i].first)*-way >= p.m {
				return i
			}
		}
	}
	return r
}
