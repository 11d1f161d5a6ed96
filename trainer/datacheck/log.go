package datacheck

import (
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// Check looks at a log. The result is a function of the log and the options
// alone: same log, same list, in the same order.
func Check(log *flightlog.Log, opt Options) Result { return newChecker(log, opt).check() }

func newChecker(log *flightlog.Log, opt Options) *checker {
	c := &checker{opt: opt}
	c.channels, c.law = log.Channels, log.Kinematics
	roles := [][]int{
		places(log.Channels, channel.State), places(log.Channels, channel.Input), places(log.Channels, channel.Aux),
	}
	for i, s := range log.Segments {
		c.segs = append(c.segs, newSegment(s.Name, i, s.T, len(log.Channels), [][]float64{s.X, s.U, s.Aux}, roles))
	}
	return c
}
