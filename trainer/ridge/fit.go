package ridge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/cores"
	"github.com/dgm-robotics/dgm/trainer/leastsquares"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Fitted is a direct map of all flights, and those of the folds.
type Fitted struct {
	Model  direct.Model
	Folds  []direct.Model // each fitted without what its fold holds out, otherwise alike
	Errors []float64      // of each level, on what the folds hold out: RMSE over that of constant velocity, geometric mean over channels and times
}

func (f *Fitted) String() string {
	s := "direct map:"
	for i, l := range f.Model.Levels {
		s += fmt.Sprintf(" %v with %d rows of history, degree %d: %.3f of constant velocity;", model.Readout(l.Readout), l.Rows, l.Degree, f.Errors[i])
	}
	return s
}

// Fit fits a map to the flights. A level of history for which the flights are too short is
// left out. The error names what the flights lack, or is that of ctx.
func Fit(ctx context.Context, flights []window.Flight, folds []window.Fold, task window.Task, cfg Config) (*Fitted, error) {
	if err := cfg.check(task.Horizon); err != nil {
		return nil, err
	}
	if len(folds) < 2 {
		return nil, fmt.Errorf("ridge: %w: flights of %.3g s in all make no two folds with windows of %g s: log more, or use a shorter horizon", ErrTooFew, window.Duration(flights), task.Horizon)
	}
	windows := cfg.cut(flights, task.Horizon)
	f := &Fitted{Model: frame(flights, windows, task, cfg.Blocks)}
	for range folds {
		f.Folds = append(f.Folds, f.Model)
	}
	all := part{flights, windows}
	var held []part
	for _, fold := range folds {
		held = append(held, part{fold.Held, cfg.cut(fold.Held, task.Horizon)})
	}
	for _, readout := range cfg.Readouts {
		for _, rows := range slices.Concat([]int{0}, cfg.Rows) {
			err := f.addLevel(ctx, all, held, cfg, direct.Level{Readout: int(readout), Rows: rows, Degree: 1, Times: cfg.Times})
			if errors.Is(err, ErrTooFew) && rows > 0 {
				break
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}

func (c *Config) cut(flights []window.Flight, horizon float64) []window.Window {
	windows := window.Cut(flights, horizon, c.Stride)
	if c.Windows > 0 {
		windows = window.Thin(windows, c.Windows)
	}
	return windows
}

// ErrTooFew is the error where there are not enough windows or folds for a fit.
var ErrTooFew = errors.New("too few windows")

// part is some flights and the windows in them.
type part struct {
	flights []window.Flight
	windows []window.Window
}

// addLevel fits a level to all windows and, for every fold, to those that it does not hold
// out.
func (f *Fitted) addLevel(ctx context.Context, all part, held []part, cfg Config, l direct.Level) error {
	fits, errs := make([]timeFit, len(l.Times)), make([]error, len(l.Times))
	cores.Each(len(l.Times), func(i int) {
		if errs[i] = ctx.Err(); errs[i] == nil {
			fits[i], errs[i] = fitTime(&f.Model, l, cfg, i, all, held)
		}
	})
	logError := 0.0
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("ridge: %g s ahead with %d rows of history: %w", l.Times[i], l.Rows, err)
		}
		l.Degree = max(l.Degree, fits[i].degree)
		logError += fits[i].logError / float64(len(fits))
	}
	f.Errors = append(f.Errors, math.Exp(logError))
	last := fits[len(fits)-1].grams
	levels := make([]direct.Level, len(last))
	cores.Each(len(last), func(m int) {
		levels[m] = l
		of := &levels[m]
		K, C := len(f.Model.Derivative), f.Model.Columns(of)
		for i := range fits {
			of.Weights = append(of.Weights, fits[i].weights(m, K, C)...)
		}
		of.Mean, of.Std, of.Factor, of.Rest, _ = last[m].Leverage(C-1, leverageRank, leverageFloor)
	})
	f.Model.Levels = append(f.Model.Levels, levels[0])
	for i := range held {
		f.Folds[i].Levels = append(f.Folds[i].Levels, levels[1+i])
	}
	return nil
}

// Of the leverage: principal components with a variance of their own, and the least variance of
// the others.
const (
	leverageRank  = 40
	leverageFloor = 1e-3
)

// timeFit is the fit of one time ahead.
type timeFit struct {
	degree    int
	logError  float64
	solutions [][][]solutions      // per channel, with each of the candidates whose mean is taken: of all windows, then of each fold
	grams     []*leastsquares.Gram // of all windows, then without each fold's; at the last time only
}

// solutions are the offset (K) and the weights (K×columns) of all channels; ok is false
// where there is none.
type solutions struct {
	columns         int
	offset, weights []float64
	ok              bool
}

// weights returns those of solution m of all K channels, K×C, the constant first.
func (t *timeFit) weights(m, K, C int) []float64 {
	out := make([]float64, K*C)
	for k, candidates := range t.solutions {
		share := 1 / float64(len(candidates))
		for _, of := range candidates {
			if s := of[m]; s.ok {
				out[k*C] += share * s.offset[k]
				floats.AddScaled(out[k*C+1:k*C+1+s.columns], share, s.weights[k*s.columns:(k+1)*s.columns])
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

// fitTime chooses a candidate for each channel by the parts that are held out in turn, and
// fits it to all rows.
func fitTime(m *direct.Model, l direct.Level, cfg Config, at int, all part, held []part) (timeFit, error) {
	g := newGatherer(m, l, cfg)
	h := l.Times[at]
	whole := g.gram(all, h, nil)
	if total := whole.N(); total <= g.linear+1 {
		return timeFit{}, fmt.Errorf("%w: %d for %d columns", ErrTooFew, total, g.linear)
	}
	parts := make([]*leastsquares.Gram, len(held))
	for i, p := range held {
		parts[i] = g.gram(p, h, whole.Centre())
	}
	var candidates []candidate
	add := func(columns, degree int) {
		for _, p := range penalties {
			candidates = append(candidates, candidate{columns, degree, p})
		}
	}
	add(g.linear, 1)
	if g.columns > g.linear {
		add(g.columns, 2)
	}
	full := len(candidates)
	for _, columns := range g.shorter(cfg.Shorter) {
		add(columns, 1)
	}
	v, err := validate(parts, candidates, g.columns, g.K, whole.Centre())
	if err != nil {
		return timeFit{}, err
	}
	out := timeFit{degree: 1}
	grams := slices.Concat([]*leastsquares.Gram{whole}, v.others)
	if at == len(l.Times)-1 {
		out.grams = grams
	}
	solved := map[int][]solutions{} // by candidate
	for k := range g.K {
		best := v.best(k, 0, full)
		out.degree = max(out.degree, candidates[best].degree)
		out.logError += (v.scores[best][k] - v.still[k]) / float64(2*v.folds*g.K)
		chosen := []int{best}
		for at := full; at < len(candidates) && candidates[best].degree == 1; at += len(penalties) {
			chosen = append(chosen, v.best(k, at, at+len(penalties)))
		}
		var mean [][]solutions
		for _, c := range chosen {
			if solved[c] == nil {
				if solved[c], err = solve(grams, candidates[c]); err != nil {
					return timeFit{}, err
				}
			}
			mean = append(mean, solved[c])
		}
		out.solutions = append(out.solutions, mean)
	}
	return out, nil
}

// solve returns the solution of a candidate for every gram, of which the first must have
// one.
func solve(grams []*leastsquares.Gram, choice candidate) (out []solutions, err error) {
	for i, gram := range grams {
		s := solutions{columns: choice.columns}
		if s.weights, s.offset, s.ok = gram.Solve(choice.columns, choice.penalty); !s.ok && i == 0 {
			return nil, fmt.Errorf("%w: no finite fit to %d of them", ErrTooFew, gram.N())
		}
		out = append(out, s)
	}
	return out, nil
}

// validation is what candidates left of the parts that were held out in turn.
type validation struct {
	others []*leastsquares.Gram // without each part
	folds  int                  // parts with rows in and outside of them
	scores [][]float64          // candidates×K, sum over folds of the log of the mean square of what is left
	still  []float64            // K, the same of the targets
}

// validate fits the candidates without each part, and scores them on it.
func validate(parts []*leastsquares.Gram, candidates []candidate, columns, K int, centre []float64) (*validation, error) {
	v := &validation{others: make([]*leastsquares.Gram, len(parts)), still: make([]float64, K)}
	for range candidates {
		v.scores = append(v.scores, make([]float64, K))
	}
	for i, p := range parts {
		others := leastsquares.New(columns, K, centre)
		for j, q := range parts {
			if j != i {
				others.Merge(q)
			}
		}
		if v.others[i] = others; p.N() == 0 || others.N() == 0 {
			continue
		}
		v.folds++
		addLogs(v.still, p.MeanSquare(0, nil, make([]float64, K)))
		for c, choice := range candidates {
			W, offset, ok := others.Solve(choice.columns, choice.penalty)
			if !ok {
				return nil, fmt.Errorf("%w: no finite fit to %d of them", ErrTooFew, others.N())
			}
			addLogs(v.scores[c], p.MeanSquare(choice.columns, W, offset))
		}
	}
	if v.folds < 2 {
		return nil, fmt.Errorf("%w: they are in %d folds", ErrTooFew, v.folds)
	}
	return v, nil
}

// best returns the candidate from from to to−1 that leaves least of channel k.
func (v *validation) best(k, from, to int) int {
	best := from
	for c := from; c < to; c++ {
		if v.scores[c][k] < v.scores[best][k] {
			best = c
		}
	}
	return best
}

// addLogs adds the logarithms of squares.
func addLogs(dst, squares []float64) {
	for k, v := range squares {
		dst[k] += math.Log(v + tiny)
	}
}

// tiny keeps the logarithm of an error away from zero.
const tiny = 1e-300

// worthwhile is what more history must have over less: below this share of its error.
const worthwhile = 0.99

// KeepBest keeps the levels up to the amount of history with the least error on the folds,
// geometric mean over readouts; more counts only where it is worthwhile. Less is read while there
// is no more. It returns the most rows that are read.
func (f *Fitted) KeepBest() (rows int) {
	logs, least := map[int]float64{}, math.Inf(1)
	var amounts []int
	for i, l := range f.Model.Levels {
		if _, there := logs[l.Rows]; !there {
			amounts = append(amounts, l.Rows)
		}
		logs[l.Rows] += math.Log(f.Errors[i])
	}
	slices.Sort(amounts)
	for _, n := range amounts {
		if logs[n] < least {
			least, rows = logs[n]+math.Log(worthwhile), n
		}
	}
	keep := func(m *direct.Model) {
		m.Levels = slices.DeleteFunc(slices.Clone(m.Levels), func(l direct.Level) bool { return l.Rows > rows })
	}
	var errs []float64
	for i, l := range f.Model.Levels {
		if l.Rows <= rows {
			errs = append(errs, f.Errors[i])
		}
	}
	f.Errors = errs
	keep(&f.Model)
	for i := range f.Folds {
		keep(&f.Folds[i])
	}
	return rows
}
