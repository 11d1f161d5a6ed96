package ridge

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dgm-robotics/dgm/trainer/leastsquares"
)

// leaveUnread gives no weight to a state at the start in the prediction of a channel, where no fold shows the channel to depend on it. The weight
// would count on other flights: rates that a heading of the training happens to predict are wrong under another heading. One state
// after the other is left, the one that costs least first, as long as all that are left together cost no more than a larger penalty may.
func (g *gatherer) leaveUnread(t *timeFit, parts []*leastsquares.Gram, scores [][][]float64) {
	trial := newTrial(parts)
	for y, shares := range t.shares {
		best := floats.MaxIdx(shares)
		if t.candidates[best].degree > 1 {
			continue // its products read the states, too
		}
		all := make([][]float64, len(scores[best]))
		for f, s := range scores[best] {
			all[f] = s[y : y+1]
		}
		cost := func(columns []int) (scores [][]float64, more float64) {
			for f, v := range trial.scores(t.solutions[best][1:], y, columns) {
				scores, more = append(scores, []float64{v}), more+v-all[f][0]
			}
			return scores, more
		}
		states := g.levels()
		costs := make([]float64, len(states))
		for k, columns := range states {
			if _, costs[k] = cost(columns); math.IsNaN(costs[k]) {
				costs[k] = math.Inf(1)
			}
		}
		order := make([]int, len(states))
		floats.Argsort(slices.Clone(costs), order)
		var unread []int
		for _, k := range order {
			more := slices.Concat(unread, states[k])
			if left, _ := cost(more); alike(all, left, 0) {
				unread = more
			}
		}
		t.leave(y, unread)
	}
}

// levels returns the columns of each state at the start that has some.
func (g *gatherer) levels() [][]int {
	out := make([][]int, g.K)
	for l, k := range g.m.Lift.Of {
		out[k] = append(out[k], l)
	}
	return slices.DeleteFunc(out, func(c []int) bool { return len(c) == 0 })
}

// leave gives no weight to columns in the solutions for target y of all candidates without products.
func (t *timeFit) leave(y int, columns []int) {
	for c, of := range t.candidates {
		for m := range t.solutions[c] {
			if s := &t.solutions[c][m]; s.ok && of.degree == 1 && t.shares[y][c] > 0 && len(columns) > 0 {
				w, offset := s.without(y, columns)
				copy(s.weights[y*len(w):], w)
				s.offset[y] = offset
			}
		}
	}
}

// trial scores solutions on what they were not fitted to.
type trial struct {
	folds   []int // that have rows
	scorers []*leastsquares.Scorer
}

func newTrial(parts []*leastsquares.Gram) (t trial) {
	for i, p := range parts {
		if p.N() > 0 {
			t.folds, t.scorers = append(t.folds, i), append(t.scorers, p.Scorer())
		}
	}
	return t
}

// scores returns the scores of target y without some columns, of the folds that validate scores.
func (t *trial) scores(solutions []solution, y int, columns []int) (out []float64) {
	for i, f := range t.folds {
		if s := &solutions[f]; s.ok {
			w, offset := s.without(y, columns)
			out = append(out, math.Log(t.scorers[i].MeanSquareOf(y, w, offset)+tiny))
		}
	}
	return out
}

// without returns the weights and the offset of target y where columns of states have no weight, of the same problem:
//
//	w − C_S C_SS⁻¹ w_S      with C the inverse of the penalised products
func (s *solution) without(y int, columns []int) (w []float64, offset float64) {
	n := len(s.mean)
	before := s.weights[y*n : (y+1)*n]
	w, offset = slices.Clone(before), s.offset[y]
	var at []int
	for _, c := range columns {
		if s.inverse[c*n+c] > 0 { // the column varies
			at = append(at, c)
		}
	}
	if len(at) == 0 {
		return w, offset
	}
	square, right := mat.NewSymDense(len(at), nil), mat.NewVecDense(len(at), nil)
	for i, a := range at {
		right.SetVec(i, w[a])
		for j, b := range at[:i+1] {
			square.SetSym(i, j, s.inverse[a*n+b])
		}
	}
	var factor mat.Cholesky
	var by mat.VecDense
	if !factor.Factorize(square) || factor.SolveVecTo(&by, right) != nil {
		return w, offset
	}
	for i, a := range at {
		floats.AddScaled(w, -by.AtVec(i), s.inverse[a*n:(a+1)*n])
	}
	for _, a := range at {
		w[a] = 0
	}
	for i, m := range s.mean {
		offset += (before[i] - w[i]) * m
	}
	return w, offset
}
