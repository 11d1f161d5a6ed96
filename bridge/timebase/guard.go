package timebase

// Guard separates the passing of time from wild timestamps. A timestamp far from the others
// is left out; when several in a row agree with each other, the clock was set.
type Guard struct {
	Far  int64 // ns, what no pause in a log is expected to last, such as a minute
	Back int64 // ns, how much earlier than the one before it a message may have been measured

	Wild    int   // samples that were left out
	Jumps   int   // times that the clock was set
	Largest int64 // ns, the largest jump, with its sign

	begun  bool
	t      int64 // ns, of the last timestamp that was accepted
	other  int64 // ns, of the last stamp that was left out
	agreed int   // stamps in a row near other
}

// agree is how many stamps in a row show that a clock was set.
const agree = 5

// Accept reports whether the sample with this timestamp counts, and whether the clock was
// set before it, so that nothing before it can be compared with it.
func (g *Guard) Accept(t int64) (ok, jumped bool) {
	if !g.begun || g.near(t, g.t) {
		g.begun, g.t, g.agreed = true, t, 0
		return true, false
	}
	if g.agreed > 0 && g.near(t, g.other) {
		g.agreed++
	} else {
		g.agreed = 1
	}
	g.other = t
	if g.agreed < agree {
		g.Wild++
		return false, false
	}
	if d := t - g.t; g.Jumps == 0 || abs(d) > abs(g.Largest) {
		g.Largest = d
	}
	g.Jumps++
	g.Wild -= agree - 1 // they were not wild, only not accepted yet
	g.t, g.agreed = t, 0
	return true, true
}

// near reports whether t can follow last. It compares in floating point, which does
// not overflow for the wildest stamps.
func (g *Guard) near(t, last int64) bool {
	d := float64(t) - float64(last)
	return d <= float64(g.Far) && -d <= float64(g.Back)
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}
