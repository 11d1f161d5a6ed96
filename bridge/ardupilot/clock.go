package ardupilot

// nearWrap is how near to the end of a counter of 32 bits, and behind it, times are that follow each other over it, ns.
const nearWrap = 60e9

// clock is the time of the autopilot.
type clock struct {
	last    int64 // ns, of the record before
	wrapped int64 // ns, what is added to times of a counter of µs in 32 bits that has wrapped
}

// continued returns a time, ns, that goes on where a counter of µs in 32 bits wraps, after 71.6 minutes.
func (c *clock) continued(t int64) int64 {
	const round = 1000 << 32
	t += c.wrapped
	switch d := t - c.last; {
	case d < -round+nearWrap && d > -round-nearWrap:
		c.wrapped += round
		t += round
	case c.wrapped > 0 && d > round-nearWrap && d < round+nearWrap: // a record of before, which comes late
		return t - round
	}
	c.last = t
	return t
}
