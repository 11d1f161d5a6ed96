package datacheck

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// derivative compares state k with its measured derivative, if it has one: the unit in
// parts of the log and in the whole, single places within each group.
func (r *recording) derivative(groups []*recording, k int) {
	d := channel.Index(r.channels, r.channels[k].Derivative)
	if d < 0 {
		return
	}
	rows := r.comparisons(k, d, pairLag)
	if len(rows) < 50 {
		return
	}
	// Over a longer time the noise of the sensors matters less.
	long := r.comparisons(k, d, 5*pairLag)
	if len(long) < 50 {
		long = rows
	}
	if r.units(k, d, long) {
		long = r.comparisons(k, d, 5*pairLag)
	}
	if r.factor(k, d, long) {
		return
	}
	for _, g := range groups {
		if rows := g.comparisons(k, d, pairLag); len(rows) >= 50 {
			g.disagreements(k, d, rows)
		}
	}
}

// factor reports a unit that does not fit: the integral of the derivative is the movement
// up to a factor. It returns whether there is one.
func (r *recording) factor(k, d int, rows []comparison) bool {
	mm, mi, ii := moments(rows)
	if mm == 0 || ii == 0 || apart(rows) < unitRows {
		return false
	}
	x, v := r.channels[k].Name, r.channels[d].Name
	corr, f := mi/math.Sqrt(mm*ii), mi/ii
	switch {
	case math.Abs(corr) < 0.3:
		cause := "Name the right channel in the map, or none: derivative = \"none\"."
		if p := r.channels[k].Period; p > 0 {
			cause = "The likely cause is the period of " + x + ", " + num(p) + ": correct it or its unit in the map. Else name the right channel, or none: derivative = \"none\"."
		}
		r.addLog(Unit, Note, d, len(rows),
			"%s counts as the derivative of %s, by the map or by the import, and does not follow its changes (correlation %.2f). %s", v, x, corr, cause)
		return true
	case math.Abs(corr) < unitCorrelation || unitFits(f) || !steady(rows, f):
		return false
	}
	why := unitOf(f)
	if why == "" {
		why = "check the units of both and of the stamps"
	}
	r.addLog(Unit, Note, d, len(rows),
		"%s changes by %s times the integral of its derivative %s: %s. Set scale or time.unit in the map; otherwise predictions start with a wrong velocity.", x, num(f), v, why)
	return true
}

// apart counts the rows of which none overlaps the one before it.
func apart(rows []comparison) (n int) {
	var last comparison
	for _, row := range rows {
		if n == 0 || row.seg != last.seg || row.first >= last.last {
			last = row
			n++
		}
	}
	return n
}

// steady reports whether the factor is about that of either half of the rows: that between
// two units is, that of noise and drift at rest is not.
func steady(rows []comparison, factor float64) bool {
	for _, half := range [][]comparison{rows[:len(rows)/2], rows[len(rows)/2:]} {
		if _, mi, ii := moments(half); ii > 0 && (mi/ii/factor < 1/unitRatio || mi/ii/factor > unitRatio) {
			return false
		}
	}
	return true
}

// disagreements reports places where a state and its derivative differ.
func (r *recording) disagreements(k, d int, rows []comparison) {
	off := make([]float64, len(rows))
	moved, integral := make([]float64, len(rows)), make([]float64, len(rows))
	for i, row := range rows {
		off[i], moved[i], integral[i] = math.Abs(row.moved-row.integral), math.Abs(row.moved), math.Abs(row.integral)
	}
	so, sm, si := sketch(off), sketch(moved), sketch(integral)
	q90, q97 := quantile(so, 0.9), quantile(so, 0.97)
	if q90 == 0 {
		return
	}
	// The heavier the tail of what is usual, the higher the limit.
	tail := math.Min(q97/q90, 2.2)
	limit := math.Max(math.Max(12, 8*tail*tail)*q90, 0.2*quantile(sm, 0.9))
	var over []int
	for i := range rows {
		if off[i] > limit {
			over = append(over, i)
		}
	}
	near := func(_, n int) bool { // all rows up to the next one over the limit overlap this one
		a, b := over[n-1], over[n]
		return rows[b].seg == rows[a].seg && rows[max(a+1, b-1)].first <= rows[a].last
	}
	for i, j := range runs(len(over), near) {
		worst := over[i]
		for _, n := range over[i:j] {
			if off[n] > off[worst] {
				worst = n
			}
		}
		wrong := r.wrongOne(k, d, rows[over[i]:over[j-1]+1], quantile(sm, 0.98), quantile(si, 0.98))
		r.reportDisagreement(k, d, wrong, rows[over[i]], rows[over[j-1]], rows[worst])
	}
}

// wrongOne returns which of a channel and its derivative does in these rows what it never
// does.
func (r *recording) wrongOne(k, d int, rows []comparison, usualMoved, usualIntegral float64) int {
	var moved, integral float64
	for _, row := range rows {
		moved, integral = math.Max(moved, math.Abs(row.moved)), math.Max(integral, math.Abs(row.integral))
	}
	s, first, last := rows[0].seg, rows[0].first, rows[len(rows)-1].last
	roughX, roughV := s.roughness(k, first, last), s.roughness(d, first, last)
	switch {
	case roughX > 3 && roughX > roughV:
		return k
	case roughV > 3:
		return d
	case moved > usualMoved && moved*usualIntegral > integral*usualMoved:
		return k
	case integral > usualIntegral:
		return d
	case moved < 0.3*integral:
		return k
	}
	return d
}

// roughness returns how many times rougher channel k is in samples [i, j] than in its
// whole segment.
func (s *segment) roughness(k, i, j int) float64 {
	x := s.col[k]
	bends := func(i, j int) []float64 {
		var v []float64
		for m := max(i, 1); m <= min(j, len(x)-2); m++ {
			if b := math.Abs(x[m] - 0.5*(x[m-1]+x[m+1])); finite(b) {
				v = append(v, b)
			}
		}
		return sketch(v)
	}
	all := bends(0, len(x)-1)
	// A coarse sensor is not bent at all at most samples.
	usual := math.Max(quantile(all, 0.5), 0.3*quantile(all, 0.9))
	if usual == 0 {
		return 1
	}
	return quantile(bends(i, j), 0.5) / usual
}

func (r *recording) reportDisagreement(k, d, wrong int, from, to, worst comparison) {
	s := from.seg
	// A row is pairLag long: half of it on either side is the reach of its middle.
	first, last := from.first, to.last
	for first < from.last && s.t[first] < 0.5*(s.t[from.first]+s.t[from.last]) {
		first++
	}
	for last > first && s.t[last] > 0.5*(s.t[to.first]+s.t[to.last]) {
		last--
	}
	at := span{s, first, last + 1}
	r.exclude(Outlier, wrong, at, BadSpan,
		"%s changes by %s within %s at %s, but the integral of its derivative %s is %s: one of them is wrong there. These samples are left out.",
		r.channels[k].Name, r.value(k, worst.moved), duration(s.t[worst.last]-s.t[worst.first]), sec(s.t[worst.first]), r.channels[d].Name, r.value(k, worst.integral))
	at.mark(k, BadSpan)
	at.mark(d, BadSpan)
}
