package datacheck

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// constant reports a channel that never changes, and whether it is one.
func (s series) constant() bool {
	lo, hi, n := math.Inf(1), math.Inf(-1), 0
	for _, seg := range s.segs {
		for _, v := range seg.col[s.k] {
			if finite(v) {
				lo, hi = math.Min(lo, v), math.Max(hi, v)
				n++
			}
		}
	}
	if n > 0 && hi > lo {
		return false
	}
	if n < 10 {
		return true
	}
	value := s.value(s.k, lo)
	switch s.Role {
	case channel.State:
		s.addLog(Constant, Note, s.k, n, "%s is %s in all of its %d samples. Remove it from the states, or map the column that moves.", s.Name, value, n)
	case channel.Input:
		s.addLog(Constant, Note, s.k, n, "%s is %s in all of its %d samples: its effect cannot be learned from this log. Add a flight in which it varies, or remove it.", s.Name, value, n)
	default:
		s.addLog(Constant, Note, s.k, n, "%s is %s in the whole log. It is an auxiliary channel: nothing is learned from it.", s.Name, value)
	}
	return true
}
