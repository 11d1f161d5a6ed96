package node

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator"
)

// rung is the predictor of the first points of the horizon.
type rung struct {
	p    *course
	dst  *estimator.Prediction
	n    int // points
	cost cost
}

// rungs are predictors of the whole horizon, of its first half, its first quarter,
// and so on: what is predicted when there is no time for more. A prediction cannot
// be cut short once begun, so the choice is made before, by what each has cost.
type rungs []rung

const (
	mostRungs = 6
	// share of the time left that a prediction is expected to take at most.
	share = 0.8
)

// newRungs takes the memory for a model; chain says whether the times may be beyond
// the model's.
func newRungs(of *predictors, times []float64, chain bool) (rungs, error) {
	var l rungs
	for n := len(times); n > 0 && len(l) < mostRungs; n /= 2 {
		p, err := newCourse(of, times[:n], chain)
		if err != nil {
			return nil, err
		}
		l = append(l, rung{p: p, dst: p.newPrediction(times[:n]), n: n})
	}
	return l, nil
}

// choose returns the longest rung that is expected to end within left ns, or the
// shortest.
func (l rungs) choose(left int64) int {
	for i := range l[:len(l)-1] {
		if l[i].cost.expected() <= share*float64(left) {
			return i
		}
	}
	return len(l) - 1
}

// beginning returns the shortest rung that ends well after a state of an age, ns, or
// the longest: what is over when it is sent is not sent. Of a short horizon less is well
// after it, or no beginning would be, and states that come too fast would wait for ever
// longer while each is given all of it.
func (l rungs) beginning(age int64) int {
	end := func(i int) float64 { t := l[i].dst.Times; return t[len(t)-1] }
	ahead := min(0.1, end(0)/4) // s
	for i := len(l) - 1; i > 0; i-- {
		if end(i) >= float64(age)*1e-9+ahead {
			return i
		}
	}
	return 0
}

// spent notes what rung i has cost, ns. Those above it, which were not tried, are
// slowly expected to have become cheaper: the computer may be less busy by now.
func (l rungs) spent(i int, ns int64) {
	l[i].cost.add(float64(ns))
	l.fade(i)
}

// fade lets what the rungs above i are expected to cost become less.
func (l rungs) fade(i int) {
	for j := range i {
		l[j].cost.forget()
	}
}

// cost is a running estimate of what something costs, at the upper end: the mean
// and four mean deviations. A single outlier counts as four times the mean, so
// that one stall does not shorten a second of predictions.
type cost struct {
	mean, deviation float64 // ns
}

const (
	costWeight = 1. / 32
	costFading = 1. / 256
)

func (c *cost) add(ns float64) {
	if c.mean == 0 {
		c.mean = ns
		return
	}
	d := min(ns, 4*c.mean) - c.mean
	c.mean += costWeight * d
	c.deviation += costWeight * (math.Abs(d) - c.deviation)
}

func (c *cost) forget() {
	c.mean -= costFading * c.mean
	c.deviation -= costFading * c.deviation
}

func (c *cost) expected() float64 { return c.mean + 4*c.deviation }
