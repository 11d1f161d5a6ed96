package ridge

import (
	"slices"

	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/leastsquares"
	"github.com/dgm-robotics/dgm/trainer/replay"
)

// gatherer gathers the rows of one level at one time ahead. Levels whose columns others have, too, take the products of
// these and gather what is left.
type gatherer struct {
	K, P            int
	linear, columns int             // columns of degree 1, all columns; without the constant
	bases           []model.Readout // whose bases leave K more targets each
	at              int             // which time ahead
	spec            history.Spec
	level           direct.Level
	m               *direct.Model

	centre []float64            // of columns and targets; nil before the first row
	sums   []*leastsquares.Gram // of each part that is held out, then of all windows
	used   [][]bool             // of each of these, the windows that count
}

func (g *gatherer) readout() model.Readout { return model.Readout(g.level.Readout) }

// newGatherer returns a gatherer of the level's columns, with products where there are few
// enough columns to multiply, at one of the times ahead.
func newGatherer(m *direct.Model, l direct.Level, cfg Config, at int) *gatherer {
	K, P := len(m.Derivative), len(m.UMean)
	l.Degree = 1
	g := &gatherer{K: K, P: P, m: m, at: at, level: l, linear: m.Columns(&l) - 1, spec: history.Spec{Edges: cfg.History.Edges[:l.Rows]}}
	if cfg.Base != nil {
		g.bases = []model.Readout{g.readout()}
	}
	if g.linear-l.Rows*(K+P) <= cfg.Products {
		l.Degree = 2
	}
	g.columns, g.level = m.Columns(&l)-1, l
	return g
}

// longRow is how much longer than the newest a row of history is that fits read less of.
const longRow = 1.5

// shorter returns the columns of degree 1 that are left of the level's without one to so
// many of its rows of history, as far as these are long ones.
func (g *gatherer) shorter(most int) (columns []int) {
	edges := g.spec.Edges
	for i := len(edges) - 1; i > 0 && len(columns) < most && edges[i]-edges[i-1] > longRow*edges[0]; i-- {
		columns = append(columns, g.linear-(len(edges)-i)*(g.K+g.P))
	}
	return columns
}

// targets is how many columns are predicted: K, and with a base K of what each leaves.
func (g *gatherer) targets() int { return g.K * (1 + len(g.bases)) }

// gram gathers the windows of a part that are not used yet, have the level's history, and have a value of every
// channel at the time ahead. Slow channels
// are rarely measured at the same time: what is between their samples is a target, too.
func (g *gatherer) gram(p part, used []bool) *leastsquares.Gram {
	out, h := leastsquares.New(g.columns, g.targets(), g.centre), g.level.Times[g.at]
	if !slices.Contains(used, false) {
		return out
	}
	one := *g.m
	one.Levels = []direct.Level{g.level}
	columns := direct.New(&one, g.K, h)
	row, d := make([]float64, 1+g.columns+g.targets()), make([]float64, g.K) // the constant, columns, targets
	for w := range replay.Each(p.flights, p.windows, nil) {
		past := p.past[w.Number]
		n := g.level.Rows * (g.K + g.P)
		if used[w.Number] || len(past) < n {
			continue
		}
		columns.Run(w.X0, w.Signal(g.readout()), g.level.Readout, past[:n])
		columns.ColumnsAt(row, h)
		w.Flight.Displacement(d, w.Start, h)
		to := row[1+g.columns:]
		for i, r := range g.bases {
			for k, y := range d {
				to[g.K*(1+i)+k] = (y - p.base[r][w.Number][g.at*g.K+k]) / h
			}
		}
		for k, y := range d {
			to[k] = y / h
			if v := g.m.Derivative[k]; v >= 0 {
				to[k] -= w.X0[v]
			}
		}
		if finite(row) {
			used[w.Number] = true
			out.Add(row[1:])
			g.centre = out.Centre()
		}
	}
	return out
}

func finite(v []float64) bool {
	for _, x := range v {
		if x-x != 0 {
			return false
		}
	}
	return true
}
