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
		s.Remarks = append(s.Remarks, fmt.Sprintf("%d rows on the ground or disarmed left out", c.ground))
	}
	if c.gaps > 0 {
		s.Remarks = append(s.Remarks, fmt.Sprintf("%d gaps longer than %s begin a segment, the longest %s", c.gaps, seconds(p.gap), seconds(c.longest)))
	}
	if c.wild > 0 {
		s.Remarks = append(s.Remarks, fmt.Sprintf("%d messages left out whose stamps are far from all others", c.wild))
	}
	if c.sets > 0 {
		s.Remarks = append(s.Remarks, fmt.Sprintf("the clock was set %d times, by %s at most; a segment begins at each", c.sets, seconds(c.largest)))
	}
	if c.late > 0 {
		s.Remarks = append(s.Remarks, fmt.Sprintf("%d messages left out that repeat a time or come too late for it", c.late))
	}
	s.Remarks = append(s.Remarks, p.leftOut...)
	for _, f := range j.files {
		s.Remarks = append(s.Remarks, f.clocksTold()...)
		for _, pr := range f.problems {
			s.Problems = append(s.Problems, fmt.Sprintf("%s: %s", f.base(), pr))
		}
	}
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
			text += fmt.Sprintf(", set %d times", c.Sets)
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
