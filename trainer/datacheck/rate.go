package datacheck

import "math"

// Rates outside of this are rarely those of a robot's log, and are what seconds
// read as milliseconds (or the reverse) look like.
const (
	fastest = 1.1e-4 // s
	slowest = 0.4    // s
)

// rates looks at the intervals: the unit of time, one rate for all segments,
// lost samples and jitter.
func (c *checker) rates(usual float64) {
	if usual == 0 {
		return
	}
	if usual < fastest || usual > slowest {
		c.addLog(Rate, Note, -1, 0,
			"The log has one sample every %s (%s per second). If that is not so, the unit of time is wrong: set time.unit in the map.",
			interval(usual), num(1/usual))
	}
	for _, s := range c.segs {
		if len(s.keep) < 20 || s.dt == 0 {
			continue
		}
		if s.dt > 1.25*usual || s.dt < usual/1.25 {
			c.add(Rate, Note, -1, s, 0, s.n(),
				"This segment has one sample every %s, most of the log one every %s. Windows are cut by time, so that it can be used; check that it is of the same robot and logger.",
				interval(s.dt), interval(usual))
		}
		c.jitter(s)
	}
}

// jitter reports lost samples and unevenness once per segment, where there is much.
func (c *checker) jitter(s *segment) {
	var dt []float64
	lost, cut := 0, 0
	for j := 1; j < len(s.keep); j++ {
		if cut < len(s.cuts) && s.keep[j] >= s.cuts[cut] {
			cut++
			continue
		}
		d := s.t[s.keep[j]] - s.t[s.keep[j-1]]
		dt = append(dt, d)
		if d > 1.6*s.dt {
			lost += int(math.Round(d/s.dt)) - 1
		}
	}
	if len(dt) < 20 {
		return
	}
	sd := sketch(dt)
	lo, hi := quantile(sd, 0.05), quantile(sd, 0.95)
	switch {
	case hi-lo > 0.5*s.dt:
		c.add(Rate, Note, -1, s, 0, s.n(),
			"Sampling is uneven: intervals go from %s to %s (5 to 95 %%), %s at the median. The model uses the stamps and can bear it, if they are those of the sensor, not of the logger.",
			interval(lo), interval(hi), interval(s.dt))
	case lost > max(5, s.n()/50):
		c.add(Rate, Note, -1, s, 0, s.n(),
			"About %d of %d samples are missing, one by one, between the others. The states between are interpolated; nothing need be done.", lost, s.n()+lost)
	}
}
