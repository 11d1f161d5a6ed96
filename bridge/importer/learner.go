package importer

import (
	"math"

	"github.com/dgm-robotics/dgm/bridge/derivative"
	"github.com/dgm-robotics/dgm/bridge/kinematics"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// learner gathers from all rows what the header of a log is decided by.
type learner struct {
	rows        int
	derivatives *derivative.Detector
	checker     *kinematics.Checker
	ranges      perRole[extrema]
	stays       *holds // nil: held states are not looked for
}

// newLearner returns a learner of the channels of a header, whose states are given with the
// derivatives that are declared.
func newLearner(header []channel.Channel, states []channel.Channel) *learner {
	l := &learner{derivatives: derivative.New(states)}
	for _, c := range header {
		l.ranges.of(c.Role).grow()
	}
	return l
}

// add takes a row in; its error is always nil.
func (l *learner) add(r *row) error {
	l.rows++
	if l.stays != nil {
		l.stays.add(r.values[0], r.begins)
	}
	if r.begins {
		l.derivatives.Break()
		l.checker.Break()
	}
	l.derivatives.Add(r.t, r.values[0])
	l.checker.Add(r.t, r.values[0])
	for i := range l.ranges {
		l.ranges[i].add(r.values[i])
	}
	return nil
}

// constant returns the values of the states that have one throughout, NaN for others.
func (l *learner) constant() []float64 {
	r := &l.ranges[0]
	x := make([]float64, len(r.low))
	for i, v := range r.low {
		if x[i] = v; v != r.high[i] {
			x[i] = math.NaN()
		}
	}
	return x
}
