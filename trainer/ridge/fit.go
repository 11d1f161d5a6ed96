package ridge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

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

	grams [][]*leastsquares.Gram // of each level at the last time: of all windows, then without each fold's
	held  []part                 // what each fold holds out
	known []bool                 // K, with a Config.Base: channels of which that predicts something
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
	all := part{flights: flights, windows: cfg.thin(windows, len(windows), task)}
	m := frame(flights, all.windows, task, cfg.Blocks)
	for i := range held {
		held[i].windows = cfg.thin(held[i].windows, apart, task)
	}
	if apart == len(windows) {
		all.windows = nil // they are those of the parts
	}
	every := append(held[:len(held):len(held)], all)
	cores.Each(len(every), func(i int) { every[i].read(cfg) })
	if slices.ContainsFunc(every, func(p part) bool { return p.diverged }) {
		cfg.Base = nil // what it leaves no map knows
	}
	if task.Inputs > 0 {
		m.Change = inputChange(every, task.Horizon, &m, cfg.History.Rows())
	}
	f := &Fitted{Maps: framed(m, len(held)), held: every[:len(held)]}
	if cfg.Base != nil {
		f.known = cfg.known(f.held)
		m.Derivative = slices.Repeat([]int{-1}, len(m.Derivative)) // it is the base that moves on
		f.Residuals = framed(m, len(held))
	}
	if err := f.addLevels(ctx, cfg.levels(), every, cfg); err != nil {
		return nil, err
	}
	return f, nil
}

// levels returns those to fit: of each readout, ascending in history.
func (c *Config) levels() (out []direct.Level) {
	for _, readout := range c.Readouts {
		for _, rows := range slices.Concat([]int{0}, c.Rows) {
			out = append(out, direct.Level{Readout: int(readout), Rows: rows, Degree: 1, Times: c.Times})
		}
	}
	return out
}

// each is how many windows there are at least for a column: with less, many inputs cost more than they tell.
const each = 40

// thin returns the windows' share of the most that are used, of so many in all.
func (c *Config) thin(windows []window.Window, of int, task window.Task) []window.Window {
	rows := 0
	if len(c.Rows) > 0 {
		rows = slices.Max(c.Rows)
	}
	columns := (1+rows)*(len(task.States)+task.Inputs) + c.Blocks*task.Inputs
	if most := max(c.Windows, each*columns); c.Windows > 0 && of > most {
		return window.Thin(windows, max(1, len(windows)*most/of))
	}
	return windows
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
	for w := range replay.Each(p.flights, p.windows, nil) {
		p.past[w.Number] = slices.Clone(w.History(cfg.History))
	}
	if cfg.Base == nil {
		return
	}
	base := cfg.Base()
	for _, r := range cfg.Readouts {
		p.base[r] = make([][]float64, len(p.windows))
		var started []int // windows, by lane
		run := func() {
			base.Run()
			for lane, number := range started {
				d := make([]float64, len(cfg.Times)*p.flights[0].K)
				base.Displacements(d, lane)
				p.base[r][number], p.diverged = d, p.diverged || !finite(d)
			}
			started = started[:0]
		}
		for w := range replay.Each(p.flights, p.windows, nil) {
			base.Start(len(started), w.X0, w.Signal(r), p.past[w.Number])
			if started = append(started, w.Number); len(started) == base.Lanes() {
				run()
			}
		}
		run()
	}
}

// addLevels fits the levels to all windows, the last part, and, for every fold, to those that it does not hold out.
func (f *Fitted) addLevels(ctx context.Context, levels []direct.Level, parts []part, cfg Config) error {
	fits, errs := make([][]timeFit, len(levels)), make([][]error, len(levels)) // of each level at each time
	for n := range levels {
		fits[n], errs[n] = make([]timeFit, len(cfg.Times)), make([]error, len(cfg.Times))
	}
	cores.Each(len(cfg.Times), func(i int) {
		for n, g := range gatherAll(&f.Model, levels, cfg, i, parts) {
			if errs[n][i] = ctx.Err(); errs[n][i] == nil {
				fits[n][i], errs[n][i] = fitTime(g, cfg)
			}
		}
	})
	short := -1 // readout whose flights are too short for more history
	for n, l := range levels {
		if l.Readout == short {
			continue
		}
		err := f.addLevel(l, fits[n], errs[n], cfg)
		if errors.Is(err, ErrTooFew) && l.Rows > 0 {
			short = l.Readout
		} else if err != nil {
			return err
		}
	}
	return nil
}

// addLevel adds a level by its fits at all times.
func (f *Fitted) addLevel(l direct.Level, fits []timeFit, errs []error, cfg Config) error {
	logError := 0.0
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("ridge: %g s ahead with %d rows of history: %w", l.Times[i], l.Rows, err)
		}
		l.Degree = max(l.Degree, fits[i].degree)
		logError += fits[i].logError / float64(len(fits))
	}
	f.Errors = append(f.Errors, math.Exp(logError))
	f.grams = append(f.grams, fits[len(fits)-1].grams)
	K := len(f.Model.Derivative)
	f.add(l, fits, 0, slices.Repeat([]bool{true}, K))
	if cfg.Base != nil {
		f.Residuals.add(l, fits, K, f.worth(fits))
	}
	return nil
}

// add adds a level, to the maps of all windows and of each fold, with the weights of the known ones (K) of the targets from first on.
func (m *Maps) add(l direct.Level, fits []timeFit, first int, known []bool) {
	for i, to := range m.all() {
		l.Weights = nil
		for j := range fits {
			l.Weights = append(l.Weights, fits[j].weights(i, first, known, m.Model.Columns(&l))...)
		}
		to.Levels = append(to.Levels, l)
	}
}

// all returns the map of all windows, then those of the folds.
func (m *Maps) all() []*direct.Model {
	out := []*direct.Model{&m.Model}
	for i := range m.Folds {
		out = append(out, &m.Folds[i])
	}
	return out
}

// Of the leverage: principal components with a variance of their own, and the least variance of
// the others.
const (
	leverageRank  = 80
	leverageFloor = 1e-5
)

// SetLeverage sets what the levels of the maps that are left measure leverages by.
func (f *Fitted) SetLeverage() {
	maps, residuals := f.all(), f.Residuals.all()
	for i, grams := range f.grams {
		cores.Each(len(maps), func(m int) {
			l := &maps[m].Levels[i]
			l.Mean, l.Std, l.Factor, l.Rest, _ = grams[m].Leverage(f.Model.Columns(l)-1, leverageRank, leverageFloor)
			if len(f.Residuals.Model.Levels) > 0 {
				r := &residuals[m].Levels[i]
				r.Mean, r.Std, r.Factor, r.Rest = l.Mean, l.Std, l.Factor, l.Rest
			}
		})
	}
}

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
	var grams [][]*leastsquares.Gram
	for i, l := range f.Model.Levels {
		if !drop(l) {
			errs, grams = append(errs, f.Errors[i]), append(grams, f.grams[i])
		}
	}
	f.Errors, f.grams = errs, grams
	cut := func(m *direct.Model) {
		m.Levels = slices.DeleteFunc(slices.Clone(m.Levels), drop)
		m.Change = m.Change[:min(len(m.Change), (1+rows)*len(m.Range))]
	}
	for _, m := range append(f.all(), f.Residuals.all()...) {
		cut(m)
	}
	return rows
}
