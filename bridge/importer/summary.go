package importer

import (
	"fmt"
	"math"
	"strconv"

	"github.com/dgm-robotics/dgm/bridge/timebase"
)

// summarise says in sentences where the rows come from.
func (j *job) summarise(s *Summary) {
	p, c := j.plan, &j.counts
	base := &p.tracks[p.config.Base]
	why := ""
	if j.Map.Time.Base == "" && len(p.tracks) > 1 {
		why = ", the slowest topic of the states"
	}
	s.Remarks = append(s.Remarks, fmt.Sprintf("rows stand at the times of %s, %.4g Hz%s", base.id, base.rate, why))
	for i, sig := range p.config.Signals {
		if p.signals[i] != "" {
			s.Remarks = append(s.Remarks, p.told(i, &sig, &c.stats[i])...)
		}
	}
	if c.ground > 0 {
		s.Remarks = append(s.Remarks, number(c.ground, "row")+" on the ground or disarmed left out")
	}
	if c.gaps > 0 {
		s.Remarks = append(s.Remarks, gaps(c.gaps, p.gap, c.longest))
	}
	if c.wild > 0 {
		s.Remarks = append(s.Remarks, number(c.wild, "message")+" left out, stamped far from all others")
	}
	if c.sets > 0 {
		s.Remarks = append(s.Remarks, fmt.Sprintf("the clock was set %s, by %s at most; a segment begins at each", number(c.sets, "time"), seconds(c.largest)))
	}
	if c.late > 0 {
		s.Remarks = append(s.Remarks, number(c.late, "message")+" left out: a repeated time, or one that comes too late")
	}
	s.Remarks = append(s.Remarks, p.leftOut...)
	for _, f := range j.files {
		s.Remarks = append(s.Remarks, f.clocksTold()...)
		for _, pr := range f.problems {
			s.Problems = append(s.Problems, fmt.Sprintf("%s: %s", f.base(), pr))
		}
	}
}

// gaps says what gaps longer than limit did, all times in ns.
func gaps(n int, limit, longest int64) string {
	if n == 1 {
		return fmt.Sprintf("a gap longer than %s begins a segment: %s", seconds(limit), seconds(longest))
	}
	return fmt.Sprintf("%d gaps longer than %s begin a segment, the longest %s", n, seconds(limit), seconds(longest))
}

// number prints a count with its noun: "1 row", "2 rows".
func number(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// told says how a signal was found.
func (p *plan) told(i int, sig *timebase.Signal, st *timebase.Stats) (out []string) {
	if sig.Track == p.config.Base {
		return nil
	}
	tr := &p.tracks[sig.Track]
	n := st.Measured + st.Between + st.Stale + st.Before
	how := "interpolated"
	if sig.How == timebase.Hold {
		how = "held"
	}
	if st.Between > 0 {
		between := "samples %s apart at most"
		if sig.How == timebase.Hold {
			between = "%s at most"
		}
		out = append(out, fmt.Sprintf("%s: from %s, %.4g Hz, %s in %d of %d rows, "+between, p.signals[i], tr.id, tr.rate, how, st.Between, n, seconds(st.MaxAge)))
	}
	if st.Stale > 0 {
		out = append(out, fmt.Sprintf("%s: not measured in %d of %d rows: %s was silent for more than %s", p.signals[i], st.Stale, n, tr.id, seconds(sig.MaxAge)))
	}
	if st.Before > 0 {
		out = append(out, fmt.Sprintf("%s: not measured in %d of %d rows: %s begins later or ends earlier", p.signals[i], st.Before, n, tr.id))
	}
	return out
}

// clocksTold says how far clocks are apart.
func (f *survey) clocksTold() (out []string) {
	for _, c := range f.clocks.List() {
		text := fmt.Sprintf("%s: clock %s is %s behind the recorder's, mean delay %s", f.base(), c.Name, seconds(c.Offset), seconds(c.Delay))
		if f.clocks.Offset(c.Name) == 0 {
			text = fmt.Sprintf("%s: clock %s is the recorder's, shortest delay %s", f.base(), c.Name, seconds(c.Offset))
		}
		if !math.IsNaN(c.Drift) {
			text += fmt.Sprintf(", drift %.1f ppm", 1e6*c.Drift)
		}
		if c.Sets > 0 {
			text += ", set " + number(int(c.Sets), "time")
		}
		out = append(out, text)
	}
	return out
}

// seconds writes a time in ns for people.
func seconds(ns int64) string {
	if ns >= 1e12 || ns <= -1e12 {
		return strconv.FormatFloat(1e-9*float64(ns), 'f', 3, 64) + " s"
	}
	return strconv.FormatFloat(1e-9*float64(ns), 'g', 4, 64) + " s"
}
