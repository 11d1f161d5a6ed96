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
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Fitted is what a fit finds. The maps differ in their targets alone.
type Fitted struct {
	Maps
	Residuals Maps      // with a Config.Base that is finite in all windows: of what it leaves, of the same levels; else without levels
	Errors    []float64 // of each level, on what the folds hold out: RMSE over that of constant velocity, geometric mean over channels and times
}

// Maps are a direct map of all flights, and those of the folds.
type Maps struct {
	Model direct.Model
	Folds []direct.Model // each fitted without what its fold holds out, otherwise alike
}

// framed returns maps without levels.
func framed(m direct.Model, folds int) Maps { return Maps{m, slices.Repeat([]direct.Model{m}, folds)} }

// Fit fits a map to the flights. A level of history for which the flights are too short is
// left out. The error names what the flights lack, or is that of ctx.
func Fit(ctx context.Context, flights []window.Flight, folds []window.Fold, task window.Task, cfg Config) (*Fitted, error) {
	if err := cfg.check(task.Horizon); err != nil {
		return nil, err
	}
	if len(folds) < 2 {
		return nil, fmt.Errorf("ridge: %w: flights of %.3g s in all make no two folds with windows of %g s: log more, or use a shorter horizon", ErrTooFew, window.Duration(flights), task.Horizon)
	}
	windows := window.Cut(flights, task.Horizon, cfg.Stride)
	var held []part
	apart := 0
	for _, fold := range folds {
		held = append(held, part{flights: fold.Held, windows: window.Cut(fold.Held, task.Horizon, cfg.Stride)})
		apart += len(held[len(held)-1].windows)
	}
	all := part{flights: flights, windows: cfg.thin(windows, len(windows))}
	m := frame(flights, all.windows, task, cfg.Blocks)
	for i := range held {
		held[i].windows = cfg.thin(held[i].windows, apart)
	}
	if apart == len(windows) {
		all.windows = nil // they are those of the parts
	}
	every := append(held[:len(held):len(held)], all)
	cores.Each(len(every), func(i int) { every[i].read(cfg) })
	copy(held, every)
	all = every[len(held)]
	if slices.ContainsFunc(every, func(p part) bool { return p.diverged }) {
		cfg.Base = nil // what it leaves no map knows
	}
	if task.Inputs > 0 {
		m.Change = inputChange(every, task.Horizon, &m, cfg.History.Rows())
	}
	f := &Fitted{Maps: framed(m, len(held))}
	if cfg.Base != nil {
		m.Derivative = slices.Repeat([]int{-1}, len(m.Derivative)) // it is the base that moves on
		f.Residuals = framed(m, len(held))
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

// thin returns the windows' share of the most that are used, of so many in all.
func (c *Config) thin(windows []window.Window, of int) []window.Window {
	if c.Windows == 0 || of <= c.Windows {
		return windows
	}
	return window.Thin(windows, max(1, len(windows)*c.Windows/of))
}

// ErrTooFew is the error where there are not enough windows or folds for a fit.
var ErrTooFew = errors.New("too few windows")

// part is some flights and the windows in them.
type part struct {
	flights []window.Flight
	windows []window.Window             // nil of all flights: those of the parts that are held out
	past    [][]float64                 // of each window: the rows of history that there are, newest first
	base    [model.Readouts][][]float64 // with Config.Base, of each readout and window: T×K, what the map adds to

	diverged bool // a base is not finite
}

// read sets what precedes the windows, and what the map adds to.
func (p *part) read(cfg Config) {
	p.past = make([][]float64, len(p.windows))
	var base Base
	if cfg.Base != nil {
		base = cfg.Base()
	}
	for w := range replay.Each(p.flights, p.windows, nil) {
		past := slices.Clone(w.History(cfg.History))
		p.past[w.Number] = past
		if base == nil {
			continue
		}
		for _, r := range cfg.Readouts {
			base.Start(w.X0, w.Signal(r), r, past)
			K := len(w.X0)
			d := make([]float64, len(cfg.Times)*K)
			for i, t := range cfg.Times {
				base.At(d[i*K:(i+1)*K], nil, t)
			}
			p.diverged = p.diverged || !finite(d)
			if p.base[r] == nil {
				p.base[r] = make([][]float64, len(p.windows))
			}
			p.base[r][w.Number] = d
		}
	}
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
		of.Mean, of.Std, of.Factor, of.Rest, _ = last[m].Leverage(f.Model.Columns(of)-1, leverageRank, leverageFloor)
	})
	K := len(f.Model.Derivative)
	f.add(levels, fits, 0, K)
	if cfg.Base != nil {
		f.Residuals.add(levels, fits, K, 2*K)
	}
	return nil
}

// add adds levels, of all windows and of each fold, with the weights of the targets from first to last.
func (m *Maps) add(levels []direct.Level, fits []timeFit, first, last int) {
	for i, l := range levels {
		for j := range fits {
			l.Weights = append(l.Weights, fits[j].weights(i, first, last, m.Model.Columns(&l))...)
		}
		to := &m.Model
		if i > 0 {
			to = &m.Folds[i-1]
		}
		to.Levels = append(to.Levels, l)
	}
}

// Of the leverage: principal components with a variance of their own, and the least variance of
// the others.
const (
	leverageRank  = 40
	leverageFloor = 1e-3
)

// timeFit is the fit of one time ahead.
type timeFit struct {
	degree     int
	logError   float64
	candidates []candidate
	solutions  [][]solution         // of each candidate: of all windows, then of each fold
	shares     [][]float64          // targets × candidates
	grams      []*leastsquares.Gram // of all windows, then without each fold's; at the last time only
}

// solution is the offset and the weights (×columns) of all targets; ok is false
// where there is none.
type solution struct {
	offset, weights []float64
	ok              bool
}

// weights returns those of the targets from first to last, ×C, the constant first: the mean over the
// candidates of their solutions m.
func (t *timeFit) weights(m, first, last, C int) []float64 {
	out := make([]float64, (last-first)*C)
	for y, shares := range t.shares[first:last] {
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

// candidates returns those of a level, of which so many read less of its history.
func (g *gatherer) candidates(shorter int) (out []candidate) {
	add := func(columns, degree int) {
		for _, p := range penalties {
			out = append(out, candidate{columns, degree, p})
		}
	}
	add(g.linear, 1)
	if g.columns > g.linear {
		add(g.columns, 2)
	}
	for _, columns := range g.shorter(shorter) {
		add(columns, 1)
	}
	return out
}

// fitTime fits the candidates to all rows, whose mean is taken with shares by the parts that
// are held out in turn, for each channel.
func fitTime(m *direct.Model, l direct.Level, cfg Config, at int, all part, held []part) (timeFit, error) {
	g := newGatherer(m, l, cfg)
	h := l.Times[at]
	g.at = at
	whole, parts := g.grams(all, held, h)
	if total := whole.N(); total <= g.linear+1 {
		return timeFit{}, fmt.Errorf("%w: %d for %d columns", ErrTooFew, total, g.linear)
	}
	out := timeFit{degree: 1, candidates: g.candidates(cfg.Shorter)}
	grams := slices.Concat([]*leastsquares.Gram{whole}, without(parts, g.columns, g.targets, whole.Centre()))
	var err error
	if out.solutions, err = solve(grams, out.candidates); err != nil {
		return timeFit{}, err
	}
	scores, still, err := validate(parts, grams[1:], out.candidates, out.solutions, g.targets)
	if err != nil {
		return timeFit{}, err
	}
	if at == len(l.Times)-1 {
		out.grams = grams
	}
	for y := range g.targets {
		shares, least := cfg.share(scores, y)
		for c, s := range shares {
			if s > 0 {
				out.degree = max(out.degree, out.candidates[c].degree)
			}
		}
		if y < g.K {
			out.logError += (least - still[y]) / float64(2*g.K)
		}
		out.shares = append(out.shares, shares)
	}
	return out, nil
}

// grams gathers all windows, and those of each part that is held out. Where the parts have all of the windows, as whole
// flights do, their sum is the one of all.
func (g *gatherer) grams(all part, held []part, h float64) (whole *leastsquares.Gram, parts []*leastsquares.Gram) {
	var centre []float64 // that of the first row
	if all.windows != nil {
		whole = g.gram(all, h, nil)
		centre = whole.Centre()
	}
	for _, p := range held {
		part := g.gram(p, h, centre)
		if centre == nil {
			centre = part.Centre()
		}
		parts = append(parts, part)
	}
	if whole == nil {
		whole = leastsquares.New(g.columns, g.targets, centre)
		for _, p := range parts {
			whole.Merge(p)
		}
	}
	return whole, parts
}

// leastShare of a candidate in the mean; one with less has none.
const leastShare = 1e-3

// share returns the shares of the candidates in the mean for channel k, as weights of models
// (pseudo Bayesian model averaging, Yao et al. 2018), and the least score of any.
func (c *Config) share(scores [][]float64, k int) (shares []float64, least float64) {
	best := 0
	for i, s := range scores {
		if s[k] < scores[best][k] {
			best = i
		}
	}
	least, shares = scores[best][k], make([]float64, len(scores))
	if c.Sharpness == 0 {
		shares[best] = 1
		return shares, least
	}
	for i, s := range scores {
		shares[i] = math.Exp(c.Sharpness / 2 * (least - s[k]))
	}
	total := floats.Sum(shares)
	for i := range shares {
		if shares[i] < leastShare*total {
			shares[i] = 0
		}
	}
	floats.Scale(1/floats.Sum(shares), shares)
	return shares, least
}

// without returns the merged parts without each of them.
func without(parts []*leastsquares.Gram, columns, targets int, centre []float64) []*leastsquares.Gram {
	var out []*leastsquares.Gram
	for i := range parts {
		others := leastsquares.New(columns, targets, centre)
		for j, q := range parts {
			if j != i {
				others.Merge(q)
			}
		}
		out = append(out, others)
	}
	return out
}

// solve returns the solutions of the candidates for every gram that has rows.
func solve(grams []*leastsquares.Gram, candidates []candidate) ([][]solution, error) {
	var out [][]solution
	for _, choice := range candidates {
		var of []solution
		for _, gram := range grams {
			var s solution
			if s.weights, s.offset, s.ok = gram.Solve(choice.columns, choice.penalty); !s.ok && gram.N() > 0 {
				return nil, fmt.Errorf("%w: no finite fit to %d of them", ErrTooFew, gram.N())
			}
			of = append(of, s)
		}
		out = append(out, of)
	}
	return out, nil
}

// validate scores the solutions without each part on it: the mean over parts with rows in and
// outside of them of the log of the mean square of what is left (candidates×K), and that of the
// targets (K).
func validate(parts, others []*leastsquares.Gram, candidates []candidate, solutions [][]solution, K int) (scores [][]float64, still []float64, err error) {
	still = make([]float64, K)
	for range candidates {
		scores = append(scores, make([]float64, K))
	}
	folds := 0
	for i, p := range parts {
		if p.N() == 0 || others[i].N() == 0 {
			continue
		}
		folds++
		addLogs(still, p.MeanSquare(0, nil, make([]float64, K)))
		for c, choice := range candidates {
			s := &solutions[c][1+i]
			addLogs(scores[c], p.MeanSquare(choice.columns, s.weights, s.offset))
		}
	}
	if folds < 2 {
		return nil, nil, fmt.Errorf("%w: they are in %d folds", ErrTooFew, folds)
	}
	floats.Scale(1/float64(folds), still)
	for _, s := range scores {
		floats.Scale(1/float64(folds), s)
	}
	return scores, still, nil
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

// KeepBest keeps, beside the levels without history, those of the amount of history with
// the least error on the folds, geometric mean over readouts, and of the least amount, which is
// read while there is no more; more counts only where it is worthwhile. It returns the rows that
// are read.
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
	kept := amounts[:min(2, 1+slices.Index(amounts, rows))]
	drop := func(l direct.Level) bool { return l.Rows != rows && !slices.Contains(kept, l.Rows) }
	var errs []float64
	for i, l := range f.Model.Levels {
		if !drop(l) {
			errs = append(errs, f.Errors[i])
		}
	}
	f.Errors = errs
	cut := func(m *direct.Model) {
		m.Levels = slices.DeleteFunc(slices.Clone(m.Levels), drop)
		m.Change = m.Change[:min(len(m.Change), (1+rows)*len(m.Range))]
	}
	for _, maps := range []*Maps{&f.Maps, &f.Residuals} {
		cut(&maps.Model)
		for i := range maps.Folds {
			cut(&maps.Folds[i])
		}
	}
	return rows
}
