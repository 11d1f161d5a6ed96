package timebase

// ClockSync estimates what is added to an autopilot's stamps to get this computer's
// time.
//
// A request for its time goes there and back: half of the way is the best guess of when it was
// answered, and the guess is the better, the shorter the way was. So the estimate
// moves to a new offset by a share that falls with how much longer its way was than
// the shortest one. Without answers the offset is the smallest difference between
// arrival and stamp, which is right but for the shortest delay.
type ClockSync struct {
	offset   float64 // ns
	shortest float64 // ns, way there and back
	replies  int
	arrival  int64 // ns, smallest difference between arrival and stamp
	stamps   int
	last     int64 // ns, the last stamp
}

// What the filter trusts.
const (
	sure     = 10  // replies after which the estimate no longer jumps
	longWay  = 1e8 // ns, a longer round trip is not used
	ofReply  = 0.1 // of a reply on the shortest way
	leak     = 1e3 // ns by which the smallest difference may grow with each stamp: clocks drift
	rebooted = 1e9 // ns by which timestamps run back when an autopilot restarts
)

// Reply adds the answer to a request that was sent at time sent and received at
// now (this computer's, ns) with the autopilot's time (ns since its start).
func (c *ClockSync) Reply(sent, autopilot, now int64) {
	way := float64(now - sent)
	if way < 0 || way > longWay {
		return
	}
	offset := float64(sent+(now-sent)/2) - float64(autopilot)
	if c.replies == 0 || way < c.shortest {
		c.shortest = way
	}
	c.replies++
	if c.replies == 1 {
		c.offset = offset
		return
	}
	w := ofReply
	if c.replies < sure {
		w = 1 / float64(c.replies)
	}
	c.offset += w * (c.shortest + 1e5) / (way + 1e5) * (offset - c.offset)
}

// Stamp adds the timestamp of a message that was received at now (ns). It returns false where
// the autopilot was restarted, so that what was received before is of no use.
func (c *ClockSync) Stamp(stamp, now int64) (same bool) {
	same = true
	if c.stamps > 0 && stamp < c.last-rebooted {
		*c = ClockSync{}
		same = false
	}
	if d := now - stamp; c.stamps == 0 || d < c.arrival {
		c.arrival = d
	} else {
		c.arrival += leak
	}
	c.stamps++
	c.last = max(c.last, stamp)
	return same
}

// Offset returns what is added to stamps, ns, and whether it is known at all.
func (c *ClockSync) Offset() (ns int64, ok bool) {
	if c.replies > 0 {
		return int64(c.offset), true
	}
	return c.arrival, c.stamps > 0
}
