package calibration

import (
	"math"
	"sync"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/rows"
)

// cell is one held-out error of a channel.
type cell struct {
	fold, at int
	weight   float64 // every fold counts the same
	z        float64
	std      float64 // not calibrated
	strata   float64 // weight where models are compared, see ood.Strata
	x        [model.Covariates]float64
}

// cells are the errors by channel.
type cells struct {
	K, T, folds int
	taus        []float64 // T, of the scored times
	mean        []float64 // of every covariate, which x is less
	of          [][]cell  // K

	mu    sync.Mutex
	known []*regression // to all folds, by form
}

func newCells(frame *rows.Frame, folds []*heldErrors, most int) *cells {
	K := frame.K
	c := &cells{K: K, T: len(folds[0].times), folds: len(folds), of: make([][]cell, K)}
	for _, t := range folds[0].times {
		c.taus = append(c.taus, t/frame.Inputs.Horizon)
	}
	total := 0
	for _, e := range folds {
		total += len(e.windows)
	}
	step := (total + most - 1) / most
	for f, e := range folds {
		for j := 0; j < len(e.windows); j += step {
			w := &e.windows[j]
			for n, at := range w.errors {
				if at.std > 0 {
					c.of[n%K] = append(c.of[n%K], cell{fold: f, at: n / K, weight: float64(step) / float64(len(e.windows)), z: at.z, std: at.std, strata: w.weight, x: at.x})
				}
			}
		}
	}
	c.centre()
	return c
}

// centre takes the mean of every covariate from the cells.
func (c *cells) centre() {
	out, n := make([]float64, model.Covariates), 0.0
	for k := range c.of {
		for i := range c.of[k] {
			e := &c.of[k][i]
			n += e.weight
			for j, x := range e.x {
				out[j] += e.weight * x
			}
		}
	}
	for j := range out {
		out[j] /= math.Max(n, 1e-300)
	}
	for k := range c.of {
		for i := range c.of[k] {
			for j, v := range out {
				c.of[k][i].x[j] -= v
			}
		}
	}
	c.mean = out
}

// varies reports whether a covariate, centred, is not the same everywhere.
func (c *cells) varies(j model.Covariate) bool {
	for k := range c.of {
		for i := range c.of[k] {
			if math.Abs(c.of[k][i].x[j]) > 1e-6 {
				return true
			}
		}
	}
	return false
}

// each calls f with the errors of a fold.
func (c *cells) each(fold int, f func(k int, e *cell)) {
	for k := range c.of {
		for i := range c.of[k] {
			if e := &c.of[k][i]; e.fold == fold {
				f(k, e)
			}
		}
	}
}

// every returns one of n cells.
func (c *cells) every(n int) *cells {
	out := &cells{K: c.K, T: c.T, folds: c.folds, taus: c.taus, mean: c.mean}
	for _, of := range c.of {
		var some []cell
		for i := 0; i < len(of); i += n {
			some = append(some, of[i])
		}
		out.of = append(out.of, some)
	}
	return out
}
