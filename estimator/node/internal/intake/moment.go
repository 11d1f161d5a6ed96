package intake

// moment is when a state was measured and when it came.
type moment struct {
	seq uint64
	t   int64
	at  int64  // ns, steady
	sum uint64 // of the bytes of its message
}

// pace is what is known of how fast states follow each other.
type pace struct {
	resync int64   // ns, limit
	period float64 // smoothed time between states, ns; 0 = not known
}

// A gap in seq is a loss where the time that has passed has room for it: within so
// many periods as measured, so many more for a rate that changes, and at a rate of
// 20 kHz where the period is not known yet.
const (
	gapRatio, gapMargin = 4, 16
	shortest            = 50e3 // ns
)

// follows reports whether a state at m can be one of the next after a: seq and t
// grow, seq by what the time explains, and time does not run ahead of the steady
// clock by more than the resync time.
func (p *pace) follows(m, a *moment) bool {
	return m.t-a.t <= m.at-a.at+p.resync && p.explained(m, a)
}

// explained reports whether m is after a in seq and t, and the states between them
// may have been lost.
func (p *pace) explained(m, a *moment) bool {
	period := p.period / gapRatio
	if p.period == 0 {
		period = shortest
	}
	return m.seq > a.seq && m.t > a.t && float64(m.seq-a.seq) <= gapMargin+float64(m.t-a.t)/period
}
