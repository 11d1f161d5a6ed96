package importer

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// counter counts the samples of the channels of a log.
type counter struct {
	header []channel.Channel
	n      perRole[[]int]
}

func newCounter(header []channel.Channel) *counter {
	c := &counter{header: header}
	for _, h := range header {
		n := c.n.of(h.Role)
		*n = append(*n, 0)
	}
	return c
}

func (c *counter) add(values *perRole[[]float64]) {
	for role, all := range values {
		n := c.n[role]
		for i, v := range all {
			if !math.IsNaN(v) {
				n[i]++
			}
		}
	}
}

// channels returns how much of each channel is in a log.
func (c *counter) channels(p *plan, s *Summary) (out []Measured) {
	left := c.n
	rows := 0.0 // Hz
	if s.Duration > 0 {
		rows = float64(s.Rows-s.Segments) / (1e-9 * float64(s.Duration))
	}
	for _, h := range c.header {
		n := left.of(h.Role)
		m := Measured{Name: h.Name, Samples: (*n)[0], Rate: rows * float64((*n)[0]) / float64(max(1, s.Rows))}
		*n = (*n)[1:]
		if h.Role == channel.Input && !p.m.IsTable() {
			m.Rate = min(m.Rate, p.rateOf(h.Name))
		}
		out = append(out, m)
	}
	return out
}

// rateOf returns the rate of the topic that a channel is read from, Hz.
func (p *plan) rateOf(name string) float64 {
	for i := range p.outputs {
		if o := &p.outputs[i]; slices.Contains(o.names, name) {
			return p.tracks[p.config.Signals[o.signal].Track].rate
		}
	}
	return math.Inf(1)
}
