package importer

import (
	"fmt"
	"math"
	"strconv"

	"github.com/dgm-robotics/dgm/bridge/timebase"
)

// remarks reports the origin of the rows, in sentences.
func remarks(p *plan, c *rowCounts, files []*survey) (out []string) {
	if p.m.IsTable() {
		return append(tableRemarks(p, c), p.leftOut...)
	}
	base := &p.tracks[p.config.Base]
	why := ""
	if p.m.Time.Base == "" && len(p.tracks) > 1 {
		why = ", the slowest topic of the states"
	}
	out = append(out, fmt.Sprintf("rows have the timestamps of %s, %.4g Hz%s", base.id, base.rate, why))
	for i := range p.config.Signals {
		if p.signals[i] != "" {
			out = append(out, p.signalRemarks(i, &c.stats[i])...)
		}
	}
	if c.ground > 0 {
		out = append(out, number(c.ground, "row")+" on the ground or disarmed left out")
	}
	if c.gaps > 0 {
		out = append(out, gapRemark(c.gaps, p.gap, c.longest))
	}
	if c.wild > 0 {
		out = append(out, number(c.wild, "message")+" left out, with timestamps far from all others")
	}
	if c.sets > 0 {
		out = append(out, fmt.Sprintf("the clock was set %s, by %s at most; a segment begins at each", number(c.sets, "time"), seconds(c.largest)))
	}
	if c.late > 0 {
		out = append(out, number(c.late, "message")+" left out: a repeated time, or one that comes too late")
	}
	out = append(out, p.leftOut...)
	for _, f := range files {
		out = append(out, f.clockRemarks()...)
	}
	return out
}

// tableRemarks reports what is odd about the rows of tables.
func tableRemarks(p *plan, c *rowCounts) []string {
	out := c.table.Remarks(&p.m.Time.Time)
	for i, n := range c.crooked {
		if n.N > 0 {
			out = append(out, fmt.Sprintf("quaternion of %q was not of length 1 in %d of %d rows, which are NaN there, %s", p.outputs[i].label, n.N, c.kept, n))
		}
	}
	for i, n := range c.missing {
		switch n.N {
		case 0:
		case c.kept:
			out = append(out, fmt.Sprintf("channel %q was never measured", p.outputs[i].label))
		default:
			out = append(out, fmt.Sprintf("channel %q was not measured in %d of %d rows, %s", p.outputs[i].label, n.N, c.kept, n))
		}
	}
	return out
}

// problems lists what could not be read, with file and place.
func problems(files []*survey) (out []string) {
	for _, f := range files {
		for _, p := range f.problems {
			out = append(out, fmt.Sprintf("%s: %s", f.base(), p))
		}
	}
	return out
}

// gapRemark reports gaps longer than limit, all times in ns.
func gapRemark(n int, limit, longest int64) string {
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

// signalRemarks reports how a signal was found.
func (p *plan) signalRemarks(i int, st *timebase.Stats) (out []string) {
	sig := &p.config.Signals[i]
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
		out = append(out, fmt.Sprintf("%s: not measured in %d of %d rows: no message of %s for more than %s", p.signals[i], st.Stale, n, tr.id, seconds(sig.MaxAge)))
	}
	if st.Before > 0 {
		out = append(out, fmt.Sprintf("%s: not measured in %d of %d rows: %s begins later or ends earlier", p.signals[i], st.Before, n, tr.id))
	}
	return out
}

// clockRemarks reports how far clocks are apart.
func (f *survey) clockRemarks() (out []string) {
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

// seconds prints a time in ns.
func seconds(ns int64) string {
	if ns >= 1e12 || ns <= -1e12 {
		return strconv.FormatFloat(1e-9*float64(ns), 'f', 3, 64) + " s"
	}
	return strconv.FormatFloat(1e-9*float64(ns), 'g', 4, 64) + " s"
}
