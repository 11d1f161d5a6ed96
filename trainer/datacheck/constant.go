package datacheck

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// constant reports a channel that never changes, and whether it is one.
func (c *checker) constant(k int) bool {
	lo, hi, n := math.Inf(1), math.Inf(-1), 0
	for _, s := range c.segs {
		for _, v := range s.col[k] {
			if finite(v) {
				lo, hi = math.Min(lo, v), math.Max(hi, v)
				n++
			}
		}
	}
	if n == 0 {
		return true
	}
	if hi > lo {
		return false
	}
	ch := c.channels[k]
	switch {
	case n < 10:
	case ch.Role == channel.State:
		c.addLog(Constant, Note, k, n, "%s is %s in all of its %d samples. Drop it from the states, or map the column that really moves.", ch.Name, c.value(k, lo), n)
	case ch.Role == channel.Input:
		c.addLog(Constant, Note, k, n, "%s is %s in all of its %d samples: what it does cannot be learned from this log. Add a flight in which it varies, or drop it.", ch.Name, c.value(k, lo), n)
	default:
		c.addLog(Constant, Note, k, n, "%s is %s throughout; it is only carried along.", ch.Name, c.value(k, lo))
	}
	return true
}
