package ridge

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dgm-robotics/dgm/trainer/leastsquares"
)

// leaveUnread gives no weight to a state at the start in the prediction of a channel, where no fold shows the channel to depend on it. The weight
// would count on other flights: rates that a heading of the training happens to predict are wrong under another heading. One state
// after the other is left, the one that costs least first, as long as all that are left together cost no more than a larger penalty may.
func (g *gatherer) leaveUnread(t *timeFit, parts []*leastsquares.Gram, scores [][][]float64) {
	trial := newTrial(parts, g.targets())
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
			for f, v := range trial.scores(t, best, y, columns) {
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
				w, _, offset := s.without(y, columns, nil)
				copy(s.weights[y*len(w):], w)
				s.offset[y] = offset
			}
		}
	}
}

// trial scores solutions on what they were not fitted to.
type trial struct {
	targets  int
	folds    []int // that have rows
	scorers  []*leastsquares.Scorer
	products map[int][]products // of candidates by fold
}

// products are those of a solution with the sums of products of the columns in a fold.
type products struct {
	weights []float64 // targets×columns
	inverse []float64 // (levels of states)×columns
}

func newTrial(parts []*leastsquares.Gram, targets int) *trial {
	t := &trial{targets: targets, products: map[int][]products{}}
	for i, p := range parts {
		if p.N() > 0 {
			t.folds, t.scorers = append(t.folds, i), append(t.scorers, p.Scorer())
		}
	}
	return t
}

// of returns the products of a candidate's solutions.
func (t *trial) of(fit *timeFit, candidate int) []products {
	out, there := t.products[candidate]
	if there {
		return out
	}
	for i, f := range t.folds {
		p, n := products{}, fit.candidates[candidate].columns
		if s := &fit.solutions[candidate][1+f]; s.ok {
			p.weights, p.inverse = t.scorers[i].Products(t.targets, n, s.weights), t.scorers[i].Products(len(s.inverse)/n, n, s.inverse)
		}
		out = append(out, p)
	}
	t.products[candidate] = out
	return out
}

// scores returns the scores of a candidate for target y without some columns, of the folds that validate scores.
func (t *trial) scores(fit *timeFit, candidate, y int, columns []int) (out []float64) {
	all := t.of(fit, candidate)
	for i, f := range t.folds {
		if s := &fit.solutions[candidate][1+f]; s.ok {
			w, product, offset := s.without(y, columns, &all[i])
			out = append(out, math.Log(t.scorers[i].MeanSquareOf(y, w, product, offset)+tiny))
		}
	}
	return out
}

// without returns the weights of target y, their product with what p is of (nil = nothing), and the offset, where columns of states have no
// weight, of the same problem:
//
//	w − C_S C_SS⁻¹ w_S      with C the inverse of the penalised products
func (s *solution) without(y int, columns []int, p *products) (w, product []float64, offset float64) {
	n := len(s.mean)
	before := s.weights[y*n : (y+1)*n]
	w, offset = slices.Clone(before), s.offset[y]
	if p != nil {
		product = slices.Clone(p.weights[y*n : (y+1)*n])
	}
	at := make([]int, 0, len(columns))
	for _, c := range columns {
		if s.inverse[c*n+c] > 0 { // the column varies
			at = append(at, c)
		}
	}
	if len(at) == 0 {
		return w, product, offset
	}
	square, by := blas64.Symmetric{N: len(at), Stride: len(at), Uplo: blas.Upper, Data: make([]float64, len(at)*len(at))}, make([]float64, len(at))
	for i, a := range at {
		by[i] = w[a]
		for j, b := range at[i:] {
			square.Data[i*len(at)+i+j] = s.inverse[a*n+b]
		}
	}
	factor, ok := lapack64.Potrf(square)
	if !ok {
		return w, product, offset
	}
	lapack64.Potrs(factor, blas64.General{Rows: len(at), Cols: 1, Stride: 1, Data: by})
	for i, a := range at {
		floats.AddScaled(w, -by[i], s.inverse[a*n:(a+1)*n])
		if p != nil {
			floats.AddScaled(product, -by[i], p.inverse[a*n:(a+1)*n])
		}
	}
	for _, a := range at {
		w[a] = 0
	}
	for i, m := range s.mean {
		offset += (before[i] - w[i]) * m
	}
	return w, product, offset
}
