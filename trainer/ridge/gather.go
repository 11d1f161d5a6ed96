package ridge

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/leastsquares"
	"github.com/dgm-robotics/dgm/trainer/replay"
)

// gatherer gathers the rows of one level, one time ahead after the other.
type gatherer struct {
	K, P            int
	linear, columns int // columns of degree 1, all columns; without the constant
	targets         int // K, or with those of what the base leaves 2K
	at              int // which time ahead
	spec            history.Spec
	level           direct.Level
	m               *direct.Model
}

// newGatherer returns a gatherer of the level's columns, with products where there are few
// enough columns to multiply.
func newGatherer(m *direct.Model, l direct.Level, cfg Config) *gatherer {
	K, P := len(m.Derivative), len(m.UMean)
	l.Degree = 1
	g := &gatherer{K: K, P: P, targets: K, linear: m.Columns(&l) - 1, spec: history.Spec{Edges: cfg.History.Edges[:l.Rows]}}
	if cfg.Base != nil {
		g.targets = 2 * K
	}
	if g.linear-l.Rows*(K+P) <= cfg.Products {
		l.Degree = 2
	}
	g.columns, g.level, g.m = m.Columns(&l)-1, l, m
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

// gram gathers the windows of a part that have the level's history and a value of every
// channel h seconds ahead, about the given centre (nil = that of the first row). Slow channels
// are rarely measured at the same time: what is between their samples is a target, too.
func (g *gatherer) gram(p part, h float64, centre []float64) *leastsquares.Gram {
	out := leastsquares.New(g.columns, g.targets, centre)
	if len(p.flights) == 0 {
		return out
	}
	one := *g.m
	one.Levels = []direct.Level{g.level}
	columns := direct.New(&one, g.K, h)
	row, d := make([]float64, 1+g.columns+g.targets), make([]float64, g.K) // the constant, columns, targets
	for w := range replay.Each(p.flights, p.windows, []float64{h}) {
		past := p.past[w.Number]
		if n := g.level.Rows * (g.K + g.P); len(past) >= n {
			past = past[:n]
		} else {
			continue
		}
		columns.Run(w.X0, w.Signal(model.Readout(g.level.Readout)), g.level.Readout, past)
		columns.ColumnsAt(row, h)
		w.Flight.Displacement(d, w.Start, h)
		for k, y := range d {
			if g.targets > g.K {
				row[1+g.columns+g.K+k] = (y - p.base[g.level.Readout][w.Number][g.at*g.K+k]) / h
			}
			y /= h
			if v := g.m.Derivative[k]; v >= 0 {
				y -= w.X0[v]
			}
			row[1+g.columns+k] = y
		}
		if finite(row) {
			out.Add(row[1:])
		}
	}
	return out
}

func finite(v []float64) bool {
	return !slices.ContainsFunc(v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}
