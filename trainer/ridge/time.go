package ridge

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dgm-robotics/dgm/trainer/leastsquares"
)

// timeFit is the fit of one time ahead.
type timeFit struct {
	degree     int
	logError   float64
	candidates []candidate
	solutions  [][]solution         // of each candidate: of all windows, then of each fold
	shares     [][]float64          // targets × candidates
	least      []float64            // of each target: mean log of the mean square error of the best candidate on what the folds hold out
	grams      []*leastsquares.Gram // of all windows, then without each fold's; at the last time only
}

// solution is the offset and the weights (×columns) of all targets; ok is false
// where there is none.
type solution struct {
	offset, weights []float64
	inverse         []float64 // (levels of states)×columns, see leastsquares.Solver.Inverse
	mean            []float64 // of the columns
	ok              bool
}

// weights returns those of the known ones (K) of the targets from first on, K×C, the constant first: the mean over the
// candidates of their solutions m; 0 for the others.
func (t *timeFit) weights(m, first int, known []bool, C int) []float64 {
	out := make([]float64, len(known)*C)
	for y, shares := range t.shares[first : first+len(known)] {
		if !known[y] {
			continue
		}
		to := out[y*C : (y+1)*C]
		for c, share := range shares {
			if s, columns := &t.solutions[c][m], t.candidates[c].columns; s.ok && share > 0 {
				to[0] += share * s.offset[first+y]
				floats.AddScaled(to[1:1+columns], share, s.weights[(first+y)*columns:(first+y+1)*columns])
			}
		}
	}
	return out
}

// candidate is one choice of columns, without the constant, and penalty.
type candidate struct {
	columns, degree int
	penalty         float64
}

// candidates returns those of a level, of which so many read less of its history; the most columns first.
func (g *gatherer) candidates(shorter int) (out []candidate) {
	add := func(columns, degree int) {
		for _, p := range penalties {
			out = append(out, candidate{columns, degree, p})
		}
	}
	if g.columns > g.linear {
		add(g.columns, 2)
	}
	add(g.linear, 1)
	for _, columns := range g.shorter(shorter) {
		add(columns, 1)
	}
	return out
}

// fitTime fits the candidates of a level at one time ahead to all rows, whose mean is taken with shares by the parts that
// are held out in turn, for each channel.
func fitTime(g *gatherer, cfg Config) (timeFit, error) {
	whole := g.whole()
	if total := whole.N(); total <= g.linear+1 {
		return timeFit{}, fmt.Errorf("%w: %d for %d columns", ErrTooFew, total, g.linear)
	}
	out := timeFit{degree: 1, candidates: g.candidates(cfg.Shorter)}
	grams, parts := []*leastsquares.Gram{whole}, g.sums[:len(g.sums)-1]
	for i := range parts {
		grams = append(grams, g.merged(i))
	}
	var err error
	if out.solutions, err = solve(grams, out.candidates, g.m.Lift.Dim()); err != nil {
		return timeFit{}, err
	}
	scores, still, err := validate(parts, grams[1:], out.candidates, out.solutions, g.targets())
	if err != nil {
		return timeFit{}, err
	}
	if g.at == len(g.level.Times)-1 {
		out.grams = grams
	}
	for y := range g.targets() {
		shares, least := cfg.share(scores, y)
		for c, s := range shares {
			if s > 0 {
				out.degree = max(out.degree, out.candidates[c].degree)
			}
		}
		if y < g.K {
			out.logError += (least - still[y]) / float64(2*g.K)
		}
		out.shares, out.least = append(out.shares, shares), append(out.least, least)
	}
	g.leaveUnread(&out, parts, scores)
	return out, nil
}

// solve returns the solutions of the candidates for every gram that has rows, penalty by penalty.
func solve(grams []*leastsquares.Gram, candidates []candidate, levels int) ([][]solution, error) {
	out := make([][]solution, len(candidates))
	for i := range out {
		out[i] = make([]solution, len(grams))
	}
	for g, gram := range grams {
		solver := gram.Solver()
		for _, penalty := range penalties {
			for i, choice := range candidates {
				if choice.penalty != penalty {
					continue
				}
				s := &out[i][g]
				if s.weights, s.offset, s.ok = solver.Solve(choice.columns, penalty); !s.ok && gram.N() > 0 {
					return nil, fmt.Errorf("%w: no finite fit to %d of them", ErrTooFew, gram.N())
				}
				if s.ok && choice.degree == 1 {
					s.inverse, s.mean = solver.Inverse(choice.columns, levels)
				}
			}
		}
	}
	return out, nil
}

// validate scores the solutions without each part on it: the logs of the mean squares of what is left
// (candidates×parts×K) of parts with rows in and outside of them, and the mean log of those of the
// targets (K).
func validate(parts, others []*leastsquares.Gram, candidates []candidate, solutions [][]solution, K int) (scores [][][]float64, still []float64, err error) {
	scores, still = make([][][]float64, len(candidates)), make([]float64, K)
	folds := 0
	for i, p := range parts {
		if p.N() == 0 || others[i].N() == 0 {
			continue
		}
		folds++
		scorer := p.Scorer()
		floats.Add(still, logs(scorer.MeanSquare(0, nil, make([]float64, K))))
		for c, choice := range candidates {
			s := &solutions[c][1+i]
			scores[c] = append(scores[c], logs(scorer.MeanSquare(choice.columns, s.weights, s.offset)))
		}
	}
	if folds < 2 {
		return nil, nil, fmt.Errorf("%w: they are in %d folds", ErrTooFew, folds)
	}
	floats.Scale(1/float64(folds), still)
	return scores, still, nil
}

// logs returns the logarithms of squares, in their place.
func logs(squares []float64) []float64 {
	for k, v := range squares {
		squares[k] = math.Log(v + tiny)
	}
	return squares
}

// tiny keeps the logarithm of an error away from zero.
const tiny = 1e-300
