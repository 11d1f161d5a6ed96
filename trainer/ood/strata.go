package ood

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/ood"
)

// Strata are the Voronoi cells of a few reference points among the training states,
// weighed so that every cell counts about the same: a robot that rests for half of a
// log, or hovers between manoeuvres, must not have its model chosen by how well it
// predicts rest.
type Strata struct {
	lift   *channel.Lift
	r      ood.Detector
	weight []float64 // per stratum
	lifted []float64 // L
}

const (
	strata     = 64
	mostWeight = 8.0 // a rare stratum counts at most so many times as often as it occurs
)

// Strata returns the strata of the states; nil if the states have no finite covariance.
func (s *States) Strata() *Strata {
	r, ok := Fit(s.lift, s.x, strata)
	if !ok {
		return nil
	}
	c := &Strata{lift: s.lift, r: r, weight: make([]float64, len(r.Points)), lifted: make([]float64, s.L)}
	count := make([]float64, len(r.Points))
	for i := range s.windows {
		copy(c.lifted, s.state(i))
		count[c.stratum()]++
	}
	n := float64(len(s.windows))
	for i, v := range count {
		c.weight[i] = math.Min(n/(float64(len(count))*math.Max(v, 1)), mostWeight)
	}
	return c
}

// stratum returns the stratum of c.lifted, which it whitens.
func (c *Strata) stratum() int {
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
func (c *Strata) Weight(x []float64) float64 {
	if c == nil {
		return 1
	}
	c.lift.Apply(c.lifted, x)
	return c.weight[c.stratum()]
}
