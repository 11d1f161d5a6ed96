package intake

// offset estimates how far the robot's clock is from this computer's steady one by
// the least delay: the smallest difference between arrival and measurement in the
// last one to two windows is the offset, because a delay only ever adds. What a
// difference exceeds it by is the delay of that state. Clocks that drift apart by 50
// parts in a million move it by half a millisecond in a window.
type offset struct {
	known          bool
	began          int64 // ns, steady, of the window
	now, before    int64 // ns, least difference of this window and of the last
	unix           int64 // ns, of arrival minus measurement on the wall clock, for the smallest
	beforeUnix     int64
	window, resync int64 // ns
	at             int64 // ns, steady, of the last state
}

// offsetWindow is how long a least delay counts, ns, at least.
const offsetWindow = int64(10e9)

// update adds a state measured at t that arrived at steady and unix. It returns the
// delay of the state above the least, ns.
func (o *offset) update(t, unix, steady int64) (delay int64) {
	d := steady - t
	if !o.known || steady-o.at > o.resync { // the sender may have started again, with another clock
		o.known, o.began, o.now, o.before = true, steady, d, d
		o.unix, o.beforeUnix = unix-t, unix-t
	}
	o.at = steady
	if steady-o.began > o.window {
		o.before, o.beforeUnix = o.now, o.unix
		o.began, o.now, o.unix = steady, d, unix-t
	}
	if d < o.now {
		o.now, o.unix = d, unix-t
	}
	return d - o.least()
}

// least returns the least difference between arrival and measurement, ns.
func (o *offset) least() int64 { return min(o.now, o.before) }

// seconds returns the robot's clock minus this computer's, the least delay
// included.
func (o *offset) seconds() float64 {
	if o.before < o.now {
		return -float64(o.beforeUnix) * 1e-9
	}
	return -float64(o.unix) * 1e-9
}
