package datacheck

import "math"

// Rates outside of this are rarely those of a robot's log, and are what seconds
// read as milliseconds (or the reverse) look like.
const (
	fastest = 1.1e-4 // s
	slowest = 0.4    // s
)

// rates looks at the intervals: the unit of time, lost samples and jitter of every
// segment, one rate for all.
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
		if len(s.keep) >= 20 && s.dt > 0 {
			c.jitter(s)
		}
	}
	c.mixed()
}

// mixed notes, once, that the segments of a log are sampled at different rates.
func (c *checker) mixed() {
	var segs []*segment
	for _, s := range c.segs {
		if len(s.keep) >= 20 && s.dt > 0 {
			segs = append(segs, s)
		}
	}
	lots := byRate(segs)
	if len(lots) < 2 {
		return
	}
	text := ""
	for i, lot := range lots {
		if i > 0 {
			text += "; "
		}
		text += interval(lot[len(lot)/2].dt) + " (" + names(lot) + ")"
	}
	c.addLog(Rate, Note, -1, 0,
		"The segments are not sampled at one rate; from one sample to the next there are %s. Windows are cut by time, so that all can be used; check that they are of the same robot and logger.", text)
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
