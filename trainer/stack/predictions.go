package stack

import (
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/cores"
)

// predictions are what the candidates predict of windows that their folds hold out, in each
// condition.
type predictions struct {
	K, T       int
	times      []float64 // T, s
	taus       []float64 // T, as shares of the horizon
	J          int       // candidates
	fades      []bool    // of each candidate
	conditions []model.Condition
	windows    []heldWindow
}

// heldWindow is one window.
type heldWindow struct {
	fold     int
	measured []float64     // T×K, NaN = not measured
	by       [][][]float64 // condition, candidate: T×K; nil in conditions with history where that begins later
	ranges   [][]float64   // condition: T, range factors
	leverage float64       // of the start in the first condition that it has; 0 = there is no direct map
}

// in yields the windows that a condition has: those that begin early in a flight are without history.
func (p *predictions) in(condition int) iter.Seq[*heldWindow] {
	return func(yield func(*heldWindow) bool) {
		for i := range p.windows {
			if w := &p.windows[i]; w.by[condition] != nil && !yield(w) {
				return
			}
		}
	}
}

// worstShare of the windows decides which candidate the others are added to.
const worstShare = 0.1

// steadiest returns, of the candidates that extrapolate, the one whose worst windows are the
// least wrong: it is what remains where the others do not count.
func (p *predictions) steadiest(candidates []Candidate) int {
	best := max(0, slices.IndexFunc(candidates, func(c Candidate) bool { return c.extrapolates() }))
	least := math.Inf(1)
	for j := range candidates {
		if !candidates[j].extrapolates() || candidates[j].Physical {
			continue
		}
		if m := p.worst(j); m < least {
			best, least = j, m
		}
	}
	return best
}

// worst returns how wrong a candidate is in the windows in which it is most so: the mean over them of its squared error over that of
// hold in all windows, summed over channels and horizons.
func (p *predictions) worst(j int) float64 {
	hold := p.hold()
	var wrong []float64
	for w := range p.in(0) {
		sum := 0.0
		for at, y := range w.measured {
			if e := y - w.by[0][j][at]; !math.IsNaN(e) && hold[at] > 0 {
				sum += e * e / hold[at]
			}
		}
		wrong = append(wrong, sum)
	}
	slices.Sort(wrong)
	return stat.Mean(wrong[int((1-worstShare)*float64(len(wrong))):], nil)
}

// hold returns the mean squares of what was measured (T×K), the errors of hold.
func (p *predictions) hold() []float64 {
	hold := make([]float64, p.T*p.K)
	for i := range p.windows {
		for at, y := range p.windows[i].measured {
			if !math.IsNaN(y) {
				hold[at] += y * y / float64(len(p.windows))
			}
		}
	}
	return hold
}

// swap exchanges the first candidate and another.
func (p *predictions) swap(j int) {
	p.fades[0], p.fades[j] = p.fades[j], p.fades[0]
	for i := range p.windows {
		for _, by := range p.windows[i].by {
			if by != nil {
				by[0], by[j] = by[j], by[0]
			}
		}
	}
}

// alone returns the error of each candidate alone in the first condition: the geometric
// mean over channels, horizons and folds of its RMSE over that of hold.
func (p *predictions) alone() []float64 {
	var out []float64
	for _, logs := range p.logErrors(0) {
		out = append(out, math.Exp(stat.Mean(logs, nil)))
	}
	return out
}

// logErrors returns the errors (J, T) of each candidate alone in a condition, at the
// horizons: the mean over channels and folds of the log of its RMSE over that of hold, 0 where
// nothing moves.
func (p *predictions) logErrors(condition int) [][]float64 { return p.pooled(p.cells(condition)) }

// pooled returns the means (J, T) of cells over channels and folds.
func (p *predictions) pooled(cells [][]float64) [][]float64 {
	var out [][]float64
	for _, of := range cells {
		means := make([]float64, p.T)
		for t := range means {
			var at []float64
			for f := range p.folds() {
				for k := range p.K {
					if v := of[f*p.T*p.K+t*p.K+k]; !math.IsNaN(v) {
						at = append(at, v)
					}
				}
			}
			if len(at) > 0 {
				means[t] = stat.Mean(at, nil)
			}
		}
		out = append(out, means)
	}
	return out
}

// cells returns the log of the RMSE of each candidate over that of hold (J, folds×T×K) in a condition, NaN where nothing moves.
// A candidate that fades counts as it is used: where it is far from its training data it is the first.
func (p *predictions) cells(condition int) [][]float64 {
	var out [][]float64
	F, size := p.folds(), p.T*p.K
	for j := range p.J {
		squares, hold := make([]float64, F*size), make([]float64, F*size)
		for w := range p.in(condition) {
			for at, y := range w.measured {
				if !math.IsNaN(y) {
					first := w.by[condition][0][at]
					e := y - first - p.addition(w, condition, j, at)
					squares[w.fold*size+at] += e * e
					hold[w.fold*size+at] += y * y
				}
			}
		}
		for i, h := range hold {
			if squares[i] = 0.5 * math.Log(math.Min(squares[i]/h, bound*bound)+1e-12); !(h > 0) {
				squares[i] = math.NaN()
			}
		}
		out = append(out, squares)
	}
	return out
}

// addition returns what candidate j adds to the first in a window and condition, at an index of T×K.
func (p *predictions) addition(w *heldWindow, condition, j, at int) float64 {
	d := w.by[condition][j][at] - w.by[condition][0][at]
	if p.fades[j] {
		d *= faded(w.leverage) * w.ranges[condition][at/p.K]
	}
	return d
}

// weighted returns what the weighted candidates predict of a window in a condition, at an index of T×K.
func (p *predictions) weighted(w *heldWindow, weights [][][]float64, hats [][]float64, condition, at int) float64 {
	sum := w.by[condition][0][at]
	t, k := at/p.K, at%p.K
	Q := len(hats[t])
	for j := range weights {
		sum += floats.Dot(weights[j][p.conditions[condition]][k*Q:(k+1)*Q], hats[t]) * p.addition(w, condition, 1+j, at)
	}
	return sum
}

func (p *predictions) folds() int {
	n := 0
	for i := range p.windows {
		n = max(n, p.windows[i].fold+1)
	}
	return n
}

// weigh returns the weights of all candidates but the first: for each, per condition, K×Q.
// Where there is one readout, the other has its weights.
func (p *predictions) weigh(knots []float64) [][][]float64 {
	at := Hats(knots, p.taus)
	drawn := p.targets(at, sharpness, p.cells)
	return p.byCondition(p.J-1, len(knots), func(c, k int) []float64 { return weigh(p.outcomes(c, k), p.J-1, at, drawn[c][k], pull) })
}

// targets returns those of each condition and channel, by the errors in it: with the input held a regression knows what the pilot does
// next, and an equation does not.
func (p *predictions) targets(hats [][]float64, sharpness float64, cells func(condition int) [][]float64) [][][]float64 {
	out := make([][][]float64, len(p.conditions))
	for c := range p.conditions {
		of := cells(c)
		for _, logErrors := range channelErrors(of, p.pooled(of), p.K, p.folds()) {
			out[c] = append(out[c], targets(logErrors, hats, sharpness))
		}
	}
	return out
}

// byCondition returns the weights of J components in each condition (K×Q) that of gives for a condition and a channel (J×Q).
func (p *predictions) byCondition(J, Q int, of func(condition, k int) []float64) [][][]float64 {
	out := make([][][]float64, J)
	for j := range out {
		out[j] = make([][]float64, p.conditions[len(p.conditions)-1]+1)
	}
	for c, condition := range p.conditions {
		channels := make([][]float64, p.K)
		cores.Each(p.K, func(k int) { channels[k] = of(c, k) })
		for j := range out {
			for k := range p.K {
				out[j][condition] = append(out[j][condition], channels[k][j*Q:(j+1)*Q]...)
			}
		}
	}
	for _, w := range out {
		for c := range w {
			if w[c] == nil {
				w[c] = w[c-1]
			}
		}
	}
	return out
}

func (p *predictions) outcomes(condition, k int) []outcome {
	n := len(p.windows) * p.T
	out, additions := make([]outcome, 0, n), make([]float64, 0, n*(p.J-1))
	for w := range p.in(condition) {
		for at := range p.T {
			y := w.measured[at*p.K+k]
			if math.IsNaN(y) {
				continue
			}
			o := outcome{fold: w.fold, at: at, weight: 1 / math.Max(1, w.leverage), residual: y - w.by[condition][0][at*p.K+k]}
			from := len(additions)
			for j := 1; j < p.J; j++ {
				additions = append(additions, p.addition(w, condition, j, at*p.K+k))
			}
			o.additions = additions[from:len(additions):len(additions)]
			out = append(out, o)
		}
	}
	return out
}
