package ood

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/ood"
)

// Cells part the training states into those nearest to the same one of a few
// reference points, and weigh them so that every part counts about the same: a
// robot that rests for half of a log, or hovers between manoeuvres, must not have
// its model chosen by how well it predicts rest.
type Cells struct {
	lift   *channel.Lift
	r      ood.Detector
	weight []float64 // per cell
	lifted []float64 // L
}

const (
	cells    = 64
	mostCell = 8.0 // a rare cell counts at most so many times as often as it occurs
)

// Cells returns the parts that the states fall into; nil if they cannot be
// described.
func (s *States) Cells() *Cells {
	r, ok := Fit(s.lift, s.x, cells)
	if !ok {
		return nil
	}
	c := &Cells{lift: s.lift, r: r, weight: make([]float64, len(r.Points)), lifted: make([]float64, s.L)}
	count := make([]float64, len(r.Points))
	for i := range s.windows {
		copy(c.lifted, s.state(i))
		count[c.cell()]++
	}
	n := float64(len(s.windows))
	for i, v := range count {
		c.weight[i] = math.Min(n/(float64(len(count))*math.Max(v, 1)), mostCell)
	}
	return c
}

// cell returns the cell of c.lifted, which it whitens.
func (c *Cells) cell() int {
	c.r.Whiten(c.lifted, c.lifted)
	best, at := math.Inf(1), 0
	for i, p := range c.r.Points {
		sum := 0.0
		for j, v := range p {
			d := c.lifted[j] - v
			sum += d * d
		}
		if sum < best {
			best, at = sum, i
		}
	}
	return at
}

// Weight returns how much a window that starts from state x (K) counts; 1 of nil.
func (c *Cells) Weight(x []float64) float64 {
	if c == nil {
		return 1
	}
	c.lift.Apply(c.lifted, x)
	return c.weight[c.cell()]
}
