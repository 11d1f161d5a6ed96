package ridge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/dgm-robotics/dgm/trainer/leastsquares"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/score"
	"github.com/dgm-robotics/dgm/trainer/window"
)

const defaultFolds = 4

// penalties of standardised columns that are tried.
var penalties = []float64{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1}

// Fit fits a model to the flights. A level of history for which the flights are too short
// is left out (see Model.History). The error names what the flights lack, or is that of ctx.
func Fit(ctx context.Context, flights []window.Flight, task window.Task, cfg Config) (*Model, error) {
	if err := cfg.check(task.Horizon); err != nil {
		return nil, err
	}
	windows := window.Cut(flights, task.Horizon, cfg.Stride)
	if cfg.Folds == 0 {
		cfg.Folds = defaultFolds
	}
	folds := window.Folds(flights, task.Horizon, cfg.Folds)
	if len(folds) < 2 {
		return nil, fmt.Errorf("ridge: flights of %.3g s in all make no two folds with windows of %g s: log more, or use a shorter horizon", window.Duration(flights), task.Horizon)
	}
	f := newFeatures(flights, windows, task, cfg.Readout)
	var held []part
	for _, fold := range folds {
		held = append(held, part{fold.Held, window.Cut(fold.Held, task.Horizon, cfg.Stride)})
	}
	m := &Model{Horizons: cfg.Horizons, features: f, velocity: ConstantVelocity(task.States)}
	for _, n := range slices.Compact(slices.Concat([]int{0}, cfg.History)) {
		l, err := m.fitLevel(ctx, part{flights, windows}, held, n)
		if errors.Is(err, errTooFew) && n > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		m.levels = append(m.levels, *l)
	}
	most := m.levels[len(m.levels)-1].history
	m.past, m.row = make([]float64, most*(f.K+f.P)), make([]float64, f.columns(most))
	return m, nil
}

func (c *Config) check(horizon float64) error {
	switch {
	case len(c.Horizons) == 0 || !slices.IsSorted(c.Horizons) || !(c.Horizons[0] > 0) || c.Horizons[len(c.Horizons)-1] > horizon:
		return fmt.Errorf("ridge: horizons %v: give ascending times above 0 and up to %g s", c.Horizons, horizon)
	case !slices.IsSorted(c.History) || len(c.History) > 0 && c.History[0] < 0:
		return fmt.Errorf("ridge: history %v: give ascending numbers of samples", c.History)
	case !(c.Stride >= 0):
		return fmt.Errorf("ridge: stride %g s is negative", c.Stride)
	case c.Folds < 0 || c.Folds == 1:
		return fmt.Errorf("ridge: %d folds: give at least 2", c.Folds)
	}
	return nil
}

var errTooFew = errors.New("too few windows")

// part is some flights and the windows in them.
type part struct {
	flights []window.Flight
	windows []window.Window
}

// table holds the rows of windows: their columns, then their targets.
type table struct {
	width int
	data  []float64 // n×width
}

func (t *table) n() int { return len(t.data) / t.width }

// rows returns the rows of the windows that have n samples of history and a measurement of
// every channel at the horizon.
func (m *Model) rows(p part, h float64, n int) *table {
	f := m.features
	V := f.columns(n)
	t := &table{width: V + f.K}
	past := make([]float64, n*(f.K+f.P))
	row := make([]float64, t.width)
	for w := range replay.Each(p.flights, p.windows, []float64{h}) {
		if f.history(past, w, n) < n || slices.ContainsFunc(w.Measured, math.IsNaN) {
			continue
		}
		f.write(row[:V], w, h, past)
		for k, d := range w.Measured {
			row[V+k] = d - m.velocity(k, w.X0, h)
		}
		t.data = append(t.data, row...)
	}
	return t
}

// fitLevel fits all horizons with n samples of history.
func (m *Model) fitLevel(ctx context.Context, all part, held []part, n int) (*level, error) {
	l := &level{history: n}
	for _, h := range m.Horizons {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var tables []*table
		for _, p := range held {
			tables = append(tables, m.rows(p, h, n))
		}
		fit, err := m.features.fit(m.rows(all, h, n), tables, n)
		if err != nil {
			return nil, fmt.Errorf("ridge: %g s ahead with %d earlier samples: %w", h, n, err)
		}
		l.fits = append(l.fits, *fit)
	}
	return l, nil
}

// candidate is one choice of degree and penalty.
type candidate struct {
	columns int
	penalty float64
}

func (f *features) candidates(n int) []candidate {
	var out []candidate
	for _, columns := range slices.Compact([]int{f.linear(n), f.columns(n)}) {
		for _, p := range penalties {
			out = append(out, candidate{columns, p})
		}
	}
	return out
}

// fit chooses a candidate for each channel by the parts that are held out in turn, and fits
// it to all rows.
func (f *features) fit(all *table, held []*table, n int) (*horizonFit, error) {
	V, K := f.columns(n), f.K
	if total := all.n(); total <= f.linear(n)+1 {
		return nil, fmt.Errorf("%w: %d for %d columns", errTooFew, total, f.linear(n))
	}
	centre := all.data[:all.width]
	parts := make([]*leastsquares.Gram, len(held))
	for i, t := range held {
		parts[i] = t.gram(V, K, centre)
	}
	candidates := f.candidates(n)
	left := make([][]float64, len(candidates)*K) // errors of candidate c and channel k at c·K+k
	logs := make([]float64, len(candidates)*K)   // sums over folds of the log of their mean square
	for i, t := range held {
		others := leastsquares.New(V, K, centre)
		for j, p := range parts {
			if j != i {
				others.Merge(p)
			}
		}
		for c, choice := range candidates {
			W, offset, ok := others.Solve(choice.columns, choice.penalty)
			if !ok {
				return nil, fmt.Errorf("%w: no finite fit to %d of them", errTooFew, others.N())
			}
			of := left[c*K : (c+1)*K]
			t.residuals(of, W, offset, choice.columns)
			for k, e := range of {
				logs[c*K+k] += logMeanSquare(e[len(e)-t.n():])
			}
		}
	}
	if len(left[0]) == 0 {
		return nil, fmt.Errorf("%w: none on the folds", errTooFew)
	}
	fit := &horizonFit{weights: make([][]float64, K), offset: make([]float64, K), std: make([]float64, K)}
	whole := all.gram(V, K, centre)
	for k := range K {
		best := 0
		for c := range candidates {
			if logs[c*K+k] < logs[best*K+k] {
				best = c
			}
		}
		columns := candidates[best].columns
		W, offset, ok := whole.Solve(columns, candidates[best].penalty)
		if !ok {
			return nil, fmt.Errorf("%w: no finite fit to %d of them", errTooFew, whole.N())
		}
		fit.weights[k], fit.offset[k] = W[k*columns:(k+1)*columns], offset[k]
		fit.std[k] = score.CoveringStd(left[best*K+k])
	}
	return fit, nil
}

// gram gathers the rows.
func (t *table) gram(V, K int, centre []float64) *leastsquares.Gram {
	g := leastsquares.New(V, K, centre)
	for i := range t.n() {
		g.Add(t.data[i*t.width : (i+1)*t.width])
	}
	return g
}

// residuals appends the errors of W (K×V) and offset (K) on the rows to dst[k].
func (t *table) residuals(dst [][]float64, W, offset []float64, V int) {
	n, K := t.n(), len(offset)
	if n == 0 {
		return
	}
	predicted := blas64.General{Rows: n, Cols: K, Stride: K, Data: make([]float64, n*K)}
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, blas64.General{Rows: n, Cols: V, Stride: t.width, Data: t.data},
		blas64.General{Rows: K, Cols: V, Stride: V, Data: W}, 0, predicted)
	for i := range n {
		targets := t.data[(i+1)*t.width-K : (i+1)*t.width]
		for k, y := range targets {
			dst[k] = append(dst[k], y-predicted.Data[i*K+k]-offset[k])
		}
	}
}

// logMeanSquare returns the log of the mean square of v, 0 of nothing.
func logMeanSquare(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	sum := 0.0
	for _, e := range v {
		sum += e * e
	}
	return math.Log(sum / float64(len(v)))
}
