package link

import (
	"github.com/dgm-robotics/dgm/bridge/msp"
	"github.com/dgm-robotics/dgm/bridge/timebase"
)

// clock is that of a controller.
type clock struct {
	timed bool // messages have its time
	given bool // it was given the time
	sync  timebase.ClockSync
	trips int // that sync has followed
}

const (
	other   = int64(300e6) // ns, by which the controller's clock may seem off before it counts as set anew
	settled = 50           // trips that are followed at first …
	seldom  = 200          // … and then one of so many: clocks drift slowly, and a delay of some seconds is no drift
)

// ours converts a time of the controller to this computer's.
func (c *clock) ours(own int64, way trip) int64 {
	sent, at := way.sent.UnixNano(), way.at.UnixNano()
	if offset, ok := c.sync.Offset(); ok && (own+offset < sent-other || own+offset > at+other) {
		c.sync, c.trips = timebase.ClockSync{}, 0
	}
	if c.trips++; c.trips <= settled || c.trips%seldom == 0 {
		c.sync.Reply(sent, own, at)
	}
	offset, ok := c.sync.Offset()
	if !ok {
		return at - (at-sent)/2 // the way is too long
	}
	return own + offset
}

// set gives the time to a controller that has none, as programs on the ground do. Where that does not help it is not asked for again.
func (c *clock) set(l *line, way trip) error {
	c.timed = !c.given
	if c.given {
		return nil
	}
	c.given = true
	_, _, err := l.ask(msp.SetTime(way.at.UnixNano()))
	return err
}
