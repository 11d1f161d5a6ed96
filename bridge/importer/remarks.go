package importer

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/csv"
	"github.com/dgm-robotics/dgm/bridge/timebase"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// sentences report what became of rows.
type sentences []string

func (s *sentences) add(format string, args ...any) { *s = append(*s, fmt.Sprintf(format, args...)) }

// remarks reports the origin of the rows, in sentences.
func remarks(r *rowMaker) []string {
	p, c, guard := r.plan, &r.counts, &r.guard // the guard is that of the last file
	if p.m.IsTable() {
		return append(tableRemarks(p, c), p.leftOut...)
	}
	var out sentences
	base := &p.tracks[p.config.Base]
	why := ""
	if p.m.Time.Base == "" && len(p.tracks) > 1 {
		why = ", the slowest topic of the states"
	}
	out.add("rows have the timestamps of %s, %.4g Hz%s", base.id, base.rate, why)
	for i := range p.config.Signals {
		out.signal(p, i, &r.joiner.Stats[i])
	}
	if c.ground > 0 {
		out.add("%s on the ground or disarmed left out", number(c.ground, "row"))
	}
	if c.gaps == 1 {
		out.add("a gap longer than %s begins a segment: %s", seconds(p.gap), seconds(c.longest))
	} else if c.gaps > 1 {
		out.add("%d gaps longer than %s begin a segment, the longest %s", c.gaps, seconds(p.gap), seconds(c.longest))
	}
	if guard.Wild > 0 {
		out.add("%s left out, with timestamps far from all others", number(guard.Wild, "message"))
	}
	if guard.Jumps > 0 {
		out.add("the clock was set %s, by %s at most; a segment begins at each", number(guard.Jumps, "time"), seconds(guard.Largest))
	}
	if r.joiner.Late > 0 {
		out.add("%s left out: a repeated time, or one that comes too late", number(r.joiner.Late, "message"))
	}
	out = append(out, p.leftOut...)
	for _, f := range r.files {
		out.clocks(f)
	}
	return out
}

// tableRemarks reports what is odd about the rows of tables.
func tableRemarks(p *plan, c *rowCounts) []string {
	var out sentences
	t := &c.table
	if n := t.Duplicates; n.N > 0 {
		done := "dropped"
		if p.m.Time.OnDuplicate == csv.Keep {
			done = "kept"
		}
		out.add("%s with the time of the row before %s, %s", number(n.N, "row"), done, n)
	}
	if n := t.Backwards; n.N > 0 {
		done := "a segment was begun at each"
		if p.m.Time.OnBackwards == csv.Keep {
			done = "kept as they are"
		}
		out.add("time runs backwards at %s (%s), %s", number(n.N, "row"), done, n)
	}
	if n := t.Gaps; n.N > 0 {
		out.add("%s longer than max_gap, the longest %.6g s, %s", number(n.N, "gap"), 1e-9*float64(t.LongestGap), n)
	}
	if n := t.Open; n.N > 0 {
		out.add("%s at the end of a file without a line end (%s): if the file was cut off, the last number lacks digits; delete the line then", number(n.N, "row"), n)
	}
	for i, n := range c.crooked {
		if n.N > 0 {
			out.add("quaternion of %q was not of length 1 in %d of %d rows, which are NaN there, %s", p.outputs[i].label, n.N, c.kept, n)
		}
	}
	for i, n := range c.missing {
		switch n.N {
		case 0:
		case c.kept:
			out.add("channel %q was never measured", p.outputs[i].label)
		default:
			out.add("channel %q was not measured in %d of %d rows, %s", p.outputs[i].label, n.N, c.kept, n)
		}
	}
	return out
}

// problems lists what could not be read, with file and place.
func problems(files []*survey) (out sentences) {
	for _, f := range files {
		for _, p := range f.problems {
			out.add("%s: %s", f.base(), p)
		}
	}
	return out
}

// number prints a count with its noun: "1 row", "2 rows".
func number(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// signal reports how a signal was found.
func (s *sentences) signal(p *plan, i int, st *timebase.Stats) {
	sig, name := &p.config.Signals[i], p.signals[i]
	if sig.Track == p.config.Base || name == "" {
		return
	}
	tr := &p.tracks[sig.Track]
	n := st.Measured + st.Between + st.Stale + st.Before + st.Far
	if st.Far > 0 {
		s.add("%s: from %s, %.4g Hz, measured in %d of %d rows, which come at %.4g Hz: between its messages it counts as not measured", name, tr.id, tr.rate, st.Measured+st.Between, n, p.tracks[p.config.Base].rate)
	} else if st.Between > 0 && sig.How == timebase.Hold {
		s.add("%s: from %s, %.4g Hz, held in %d of %d rows, %s at most", name, tr.id, tr.rate, st.Between, n, seconds(st.MaxAge))
	} else if st.Between > 0 {
		s.add("%s: from %s, %.4g Hz, interpolated in %d of %d rows, samples %s apart at most", name, tr.id, tr.rate, st.Between, n, seconds(st.MaxAge))
	}
	if st.Stale > 0 {
		s.add("%s: not measured in %d of %d rows: no message of %s for more than %s", name, st.Stale, n, tr.id, seconds(sig.MaxAge))
	}
	if st.Before > 0 {
		s.add("%s: not measured in %d of %d rows: %s begins later or ends earlier", name, st.Before, n, tr.id)
	}
}

// slowRate is the rate in Hz below which a topic of a state or an input is called slow, and
// wantedRate the one to log at.
const slowRate, wantedRate = 20, 50

// slowTopics reports the topics of states and inputs that come too slowly for a horizon of
// about a second, with the setting of the robot's logger. A table has no rates here.
func slowTopics(p *plan, format string) []string {
	if p.m.IsTable() {
		return nil
	}
	var slow, topics []string
	slowest := math.Inf(1)
	for i := range p.tracks {
		tr := &p.tracks[i]
		var names []string
		for c := range p.m.Channels {
			if ch := &p.m.Channels[c]; p.sources[c] != nil && p.read[c] == i && ch.Role != channel.Aux {
				names = append(names, ch.label())
			}
		}
		if len(names) > 0 && tr.rate > 0 && tr.rate < slowRate {
			slow = append(slow, fmt.Sprintf("%s at %.4g Hz (%s)", strings.Join(names, ", "), tr.rate, tr.id))
			topics = append(topics, tr.id.name)
			slowest = min(slowest, tr.rate)
		}
	}
	if len(slow) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("slow: %s; a horizon of 1 s holds %.0f messages of the slowest, and of motion between messages nothing is learned: log them at %d Hz or more%s",
		strings.Join(slow, "; "), slowest, wantedRate, fasterLogging(format, topics))}
}

// fasterLogging is how topics are logged faster by what wrote a format.
func fasterLogging(format string, topics []string) string {
	switch format {
	case "ulog":
		lines := make([]string, len(topics))
		for i, t := range topics {
			lines[i] = fmt.Sprintf("%q", fmt.Sprintf("%s %d", t, 1000/wantedRate)) // interval in ms
		}
		return fmt.Sprintf(" (PX4: the lines %s in etc/logging/logger_topics.txt on the SD card; the file replaces the usual list, so that it needs the other topics, too)", strings.Join(lines, ", "))
	case "ardupilot":
		return ", or as fast as the firmware does (ArduPilot: bit 0 of LOG_BITMASK, fast attitude)"
	case "mavlink":
		return " (MAV_CMD_SET_MESSAGE_INTERVAL, or ArduPilot's stream rates SR0_EXTRA1, SR0_POSITION and SR0_RC_CHAN), or import the log that the autopilot wrote on board"
	}
	return ""
}

// clocks reports how far the clocks of a file are apart.
func (s *sentences) clocks(f *survey) {
	for _, c := range f.clocks.List() {
		text := fmt.Sprintf("clock %s is %s behind the recorder's, mean delay %s", c.Name, seconds(c.Offset), seconds(c.Delay))
		if f.clocks.Offset(c.Name) == 0 {
			text = fmt.Sprintf("clock %s is the recorder's, shortest delay %s", c.Name, seconds(c.Offset))
		}
		if !math.IsNaN(c.Drift) {
			text += fmt.Sprintf(", drift %.1f ppm", 1e6*c.Drift)
		}
		if c.Sets > 0 {
			text += ", set " + number(c.Sets, "time")
		}
		s.add("%s: %s", f.base(), text)
	}
}

// seconds prints a time in ns.
func seconds(ns int64) string {
	if ns >= 1e12 || ns <= -1e12 {
		return strconv.FormatFloat(1e-9*float64(ns), 'f', 3, 64) + " s"
	}
	return strconv.FormatFloat(1e-9*float64(ns), 'g', 4, 64) + " s"
}
