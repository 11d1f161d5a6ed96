package importer

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// watcher looks at the messages that are kept.
type watcher interface {
	add(track int, t int64, x []float64)
}

// watched is what is known of the fields of states and inputs, by track and column.
type watched[T any] struct {
	names  [][]string // channels; "" = of no state or input
	fields [][]T
}

// watch returns what is known of the fields of a plan before any message.
func watch[T any](p *plan) (w watched[T]) {
	w.names = p.fieldChannels()
	for _, names := range w.names {
		w.fields = append(w.fields, make([]T, len(names)))
	}
	return w
}

// each calls f with the values of a message of a track that are measured.
func (w *watched[T]) each(track int, x []float64, f func(field *T, v float64)) {
	for i, v := range x {
		if w.names[track][i] != "" && !math.IsNaN(v) {
			f(&w.fields[track][i], v)
		}
	}
}

// all calls f with what is known of each field.
func (w *watched[T]) all(f func(name string, field *T, track, column int)) {
	for track, names := range w.names {
		for i, name := range names {
			if name != "" {
				f(name, &w.fields[track][i], track, i)
			}
		}
	}
}

// fieldChannels returns the states and inputs that are made of fields, by track and column; "" = none is.
func (p *plan) fieldChannels() (names [][]string) {
	for i := range p.tracks {
		names = append(names, make([]string, len(p.tracks[i].paths)))
	}
	for i := range p.outputs {
		o, s := &p.outputs[i], &p.config.Signals[p.outputs[i].signal]
		for k, column := range s.At {
			name := o.label
			if len(s.At) == len(o.names) {
				name = o.names[k]
			}
			if o.role == channel.Input || o.role == channel.State && (len(s.At) != len(o.names) || channel.Index(p.header, name) >= 0) {
				names[s.Track][column] = name
			}
		}
	}
	return names
}

// channels returns how much of each channel is in a log.
func (r *rowMaker) channels(s *Summary) (out []Measured) {
	rows := 0.0 // Hz
	if s.Duration > 0 {
		rows = float64(s.Rows-s.Segments) / (1e-9 * float64(s.Duration))
	}
	for _, h := range r.plan.header {
		i := slices.IndexFunc(r.plan.outputs, func(o output) bool { return slices.Contains(o.names, h.Name) })
		o := &r.plan.outputs[i]
		n := r.counts.values[i][slices.Index(o.names, h.Name)]
		m := Measured{Name: h.Name, Samples: n, Rate: rows * float64(n) / float64(max(1, s.Rows))}
		if h.Role == channel.Input && !r.plan.m.IsTable() {
			m.Rate = min(m.Rate, r.plan.tracks[r.plan.config.Signals[o.signal].Track].rate)
		}
		out = append(out, m)
	}
	return out
}

// extrema keeps the lowest and highest of several values.
type extrema struct {
	low, high []float64
}

// grow adds a value.
func (e *extrema) grow() {
	e.low, e.high = append(e.low, math.Inf(1)), append(e.high, math.Inf(-1))
}

func (e *extrema) add(x []float64) {
	for i, v := range x {
		if v < e.low[i] {
			e.low[i] = v
		}
		if v > e.high[i] {
			e.high[i] = v
		}
	}
}

// varies reports whether value i had more than one value.
func (e *extrema) varies(i int) bool { return e.high[i] > e.low[i] }
