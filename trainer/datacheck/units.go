package datacheck

import "math"

// unitStretch is a stretch of a segment over which a channel moves so many times as far as
// the integral of its derivative.
type unitStretch struct {
	rows            []comparison
	factor          float64 // 0 where there is too little motion
	moved, integral float64 // rms
}

func (p *unitStretch) seg() *segment { return p.rows[0].seg }

func (p *unitStretch) right() bool { return unitFits(p.factor) }

// unitFits reports whether a channel and the integral of its derivative are in one unit.
func unitFits(factor float64) bool { return factor > unitLow && factor < unitHigh }

func (p *unitStretch) wrong() bool {
	return p.factor != 0 && (p.factor < 1/unitRatio || p.factor > unitRatio)
}

func (p *unitStretch) sameFactor(q *unitStretch) bool {
	ratio := p.factor / q.factor
	return ratio > 1/unitRatio && ratio < unitRatio
}

// units looks for a part of the log in which a channel and its derivative differ by a
// factor, or a sign, while in most of the rest they do not: a unit, a sign or a channel
// that changed during the recording. Such parts are left out. It returns whether there are
// any.
func (r *recording) units(k, d int, rows []comparison) (found bool) {
	parts := unitStretches(rows)
	right, wrong := 0, 0
	var good unitStretch
	for _, p := range parts {
		switch {
		case p.right():
			right++
			good.moved += p.moved
			good.integral += p.integral
		case p.wrong():
			wrong++
		}
	}
	if right == 0 || 4*right < wrong {
		return false // the unit of the whole log is wrong, if any
	}
	good.moved /= float64(right)
	good.integral /= float64(right)
	for a := 0; a < len(parts); a++ {
		if !parts[a].wrong() {
			continue
		}
		// What is unknown between two wrong parts, at rest or across the change, is wrong too.
		b := a
		for n := a + 1; n < len(parts) && parts[n].seg() == parts[a].seg() && !parts[n].right(); n++ {
			if parts[n].wrong() && parts[n].sameFactor(&parts[a]) {
				b = n
			}
		}
		found = r.otherUnit(k, d, parts, a, b, good) || found
		a = b
	}
	return found
}

// unitStretches parts the rows.
func unitStretches(rows []comparison) []unitStretch {
	var out []unitStretch
	for a, b := range runs(len(rows), func(first, i int) bool {
		s := rows[first].seg
		return rows[i].seg == s && s.t[rows[i].first] < s.t[rows[first].first]+unitPiece
	}) {
		p := unitStretch{rows: rows[a:b]}
		mm, mi, ii := moments(p.rows)
		n := float64(b - a)
		p.moved, p.integral = math.Sqrt(mm/n), math.Sqrt(ii/n)
		if b-a >= unitRows && mm > 0 && ii > 0 && math.Abs(mi) >= unitCorrelation*math.Sqrt(mm*ii) {
			p.factor = mi / ii
		}
		out = append(out, p)
	}
	return out
}

// otherUnit reports parts [a, b].
func (r *recording) otherUnit(k, d int, parts []unitStretch, a, b int, good unitStretch) bool {
	seg, factor := parts[a].seg(), parts[a].factor
	// It begins and ends within the parts at both ends, or those beside them.
	before, after := parts[a].rows, parts[b].rows
	if a > 0 && parts[a-1].seg() == seg {
		before = joined(parts[a-1].rows, before)
	}
	if b+1 < len(parts) && parts[b+1].seg() == seg {
		after = joined(after, parts[b+1].rows)
	}
	at := seg.whole()
	i, j := changeOfFactor(before, factor, 1), changeOfFactor(after, factor, -1)
	if i == len(before) || j == 0 {
		return false // it is that of a jump: most rows are of one unit
	}
	if i > 0 {
		at.first = before[i].first
	}
	if j < len(after) {
		at.last = after[j].first
	}
	if at.n() < unitRows {
		return false
	}
	wrong := d // a sign shows nothing: the derivative
	moved, integral := parts[a].moved/good.moved, parts[a].integral/good.integral
	if math.Abs(math.Log(moved)) > math.Abs(math.Log(integral))+0.2 {
		wrong = k
	}
	why := unitOf(factor)
	if why == "" {
		why = "a channel or a unit changed during the recording"
	}
	r.exclude(Unit, wrong, at, BadSpan,
		"%s changes by %s times the integral of its derivative %s, %s, and by as much as the integral in the rest of the log: %s there. The span is left out; to use it, split the log at its ends and import each part with its own map.",
		r.channels[k].Name, num(factor), r.channels[d].Name, at, why)
	at.mark(k, BadSpan)
	at.mark(d, BadSpan)
	return true
}

// joined returns neighbouring rows as one slice; they are views of one.
func joined(a, b []comparison) []comparison { return a[: len(a)+len(b) : len(a)+len(b)] }

// changeOfFactor returns the row at which the rows become those of the factor (direction
// 1), or cease to be (−1): the place that leaves most of them on their side.
func changeOfFactor(rows []comparison, factor, direction float64) int {
	return turningPoint(len(rows), func(i int) float64 {
		off, on := math.Abs(rows[i].moved-rows[i].integral), math.Abs(rows[i].moved-factor*rows[i].integral)
		if off+on == 0 {
			return 0
		}
		return direction * (on - off) / (on + off)
	})
}

// unitOf returns what a factor between a channel and the integral of its derivative comes
// from; empty = not known.
func unitOf(f float64) string {
	const time = "the unit of time, or of one channel, is wrong by 1000"
	for _, known := range []struct {
		f     float64
		cause string
	}{
		{180 / math.Pi, "one is in degrees, the other in radians"},
		{math.Pi / 180, "one is in radians, the other in degrees"},
		{1e3, time},
		{1e-3, time},
		{1e6, "the unit of time is wrong by a million"},
		{1e-6, "the unit of time is wrong by a million"},
		{-1, "one of the two has the wrong sign"},
	} {
		if math.Abs(f/known.f-1) < 0.2 {
			return known.cause
		}
	}
	return ""
}
