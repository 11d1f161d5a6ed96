package importer

import (
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

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
