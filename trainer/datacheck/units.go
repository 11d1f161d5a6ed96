package datacheck

import (
	"math"
)

const (
	unitPiece = 10.0 // s, over which the factor between a channel and its derivative is looked at
	unitRows  = 10   // fewer say nothing
	unitCorr  = 0.8  // nor do rows that correlate less
	unitApart = 2.0  // factors farther apart than this are not those of one unit
)

// unitSpan is a stretch of a segment over which a channel is so many times what its
// derivative says.
type unitSpan struct {
	rows         []agreement
	factor       float64
	moved, holds float64 // rms
	said         bool    // there was motion enough to tell
}

// units looks for a part of the log in which a channel and its derivative differ by a
// factor, or a sign, while in most of the rest they do not: a unit, a sign or a channel
// that changed under way. Such parts are left out. It says whether there are any.
func (c *checker) units(k, d int, rows []agreement) (found bool) {
	pieces := unitPieces(rows)
	right, wrong := 0, 0
	var good unitSpan
	for _, p := range pieces {
		switch {
		case p.right():
			right++
			good.moved += p.moved
			good.holds += p.holds
		case p.wrong():
			wrong++
		}
	}
	if right == 0 || 4*right < wrong {
		return false // the unit of the whole log is wrong, if any
	}
	good.moved /= float64(right)
	good.holds /= float64(right)
	for a := 0; a < len(pieces); a++ {
		if !pieces[a].wrong() {
			continue
		}
		// What says nothing between two wrong pieces, at rest or across the change, is
		// wrong too.
		b := a
		for n := a + 1; n < len(pieces) && pieces[n].rows[0].seg == pieces[a].rows[0].seg && !pieces[n].right(); n++ {
			if pieces[n].wrong() && sameFactor(pieces[n].factor, pieces[a].factor) {
				b = n
			}
		}
		found = c.otherUnit(k, d, pieces, a, b, good) || found
		a = b
	}
	return found
}

func (p *unitSpan) right() bool { return p.said && p.factor > 0.75 && p.factor < 1.33 }

func (p *unitSpan) wrong() bool {
	return p.said && (p.factor < 1/unitApart || p.factor > unitApart)
}

func sameFactor(a, b float64) bool { return a/b > 1/unitApart && a/b < unitApart }

// unitPieces parts the rows.
func unitPieces(rows []agreement) []unitSpan {
	var out []unitSpan
	for a := 0; a < len(rows); {
		b := a
		for b < len(rows) && rows[b].seg == rows[a].seg && rows[b].seg.t[rows[b].first] < rows[a].seg.t[rows[a].first]+unitPiece {
			b++
		}
		p := unitSpan{rows: rows[a:b]}
		var mm, mh, hh float64
		for _, r := range p.rows {
			mm += r.moved * r.moved
			mh += r.moved * r.holds
			hh += r.holds * r.holds
		}
		n := float64(len(p.rows))
		p.moved, p.holds = math.Sqrt(mm/n), math.Sqrt(hh/n)
		if len(p.rows) >= unitRows && mm > 0 && hh > 0 && math.Abs(mh) >= unitCorr*math.Sqrt(mm*hh) {
			p.factor, p.said = mh/hh, true
		}
		out = append(out, p)
		a = b
	}
	return out
}

// otherUnit reports pieces [a, b].
func (c *checker) otherUnit(k, d int, pieces []unitSpan, a, b int, good unitSpan) bool {
	seg, factor := pieces[a].rows[0].seg, pieces[a].factor
	// Where it begins and ends within the pieces at both ends, or those beside them.
	before, after := pieces[a].rows, pieces[b].rows
	if a > 0 && pieces[a-1].rows[0].seg == seg {
		before = joined(pieces[a-1].rows, before)
	}
	if b+1 < len(pieces) && pieces[b+1].rows[0].seg == seg {
		after = joined(after, pieces[b+1].rows)
	}
	from, to := 0, seg.n()
	if i := turn(before, factor, 1); i > 0 {
		from = before[i].first
	}
	if i := turn(after, factor, -1); i < len(after) {
		to = after[i].first
	}
	if to <= from {
		return false
	}
	x, v := c.channels[k].Name, c.channels[d].Name
	blamed := d
	if m, h := pieces[a].moved/good.moved, pieces[a].holds/good.holds; math.Abs(math.Log(m)) > math.Abs(math.Log(h))+0.2 { // a sign tells nothing: the derivative
		blamed = k
	}
	what := unitOf(factor)
	if what == "" {
		what = "a channel or a unit changed under way"
	}
	c.add(Unit, c.garbage(blamed), blamed, seg, from, to,
		"%s changes by %s times what its derivative %s says, %s, and by as much as it says in the rest of the log: %s there. The span is left out; part the log at its ends and import each part with its own map to use it.",
		x, num(factor), v, span(seg.t[from], seg.t[to-1]), what)
	seg.mark(k, from, to, BadSpan)
	seg.mark(d, from, to, BadSpan)
	return true
}

// joined returns neighbouring rows as one slice; they are views of one.
func joined(a, b []agreement) []agreement { return a[: len(a)+len(b) : len(a)+len(b)] }

// turn returns the row at which the rows become those of the factor (direction 1), or
// cease to be (−1): the place that leaves most of them on their side.
func turn(rows []agreement, factor, direction float64) int {
	best, sum, at := 0.0, 0.0, 0
	for i, r := range rows {
		off, on := math.Abs(r.moved-r.holds), math.Abs(r.moved-factor*r.holds)
		if off+on > 0 {
			sum += direction * (on - off) / (on + off)
		}
		if sum > best {
			best, at = sum, i+1
		}
	}
	return at
}

// unitOf says what a factor between a channel and what its derivative says comes from;
// empty = nothing known.
func unitOf(f float64) string {
	for _, known := range []struct {
		f   float64
		say string
	}{
		{180 / math.Pi, "one is in degrees, the other in radians"},
		{math.Pi / 180, "one is in radians, the other in degrees"},
		{1e3, "the unit of time, or of one channel, is wrong by 1000"},
		{1e-3, "the unit of time, or of one channel, is wrong by 1000"},
		{1e6, "the unit of time is wrong by a million"},
		{1e-6, "the unit of time is wrong by a million"},
		{-1, "one of the two has the wrong sign"},
	} {
		if math.Abs(f/known.f-1) < 0.2 {
			return known.say
		}
	}
	return ""
}
