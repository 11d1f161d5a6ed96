package importer

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dgm-robotics/dgm/bridge/csv"
	"github.com/dgm-robotics/dgm/bridge/timebase"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// fewRows is how many rows a segment has at least from which a model learns.
const fewRows = 10

// manyLate is the share of the rows from which on messages with times of others are no repetitions of these.
const manyLate = 0.25

// report lists the origin of the rows.
func report(r *rowMaker, turns []string) (out remarks) {
	p, c := r.plan, &r.counts
	if p.m.IsTable() {
		out.table(p, c)
		out = append(out, p.leftOut...)
		out.alternating(turns, true)
		return out
	}
	base := &p.tracks[p.config.Base]
	why := ""
	if p.m.Time.Base == "" && len(p.tracks) > 1 {
		why = ", the slowest topic of the states"
	}
	out.add("rows", Info, base.id.String(), "rows have the timestamps of %s, %.4g Hz%s", base.id, base.rate, why)
	out.signals(p, r.joiner.Stats)
	if c.switches > 0 {
		out.add("primary", Info, "", "by the log the selected instance changed %s: a segment begins at each", number(c.switches, "time"))
	}
	if c.ground > 0 {
		out.add("ground", Info, "", "%s on the ground or disarmed left out", number(c.ground, "row"))
	}
	switch {
	case c.gaps == 0:
	case c.gaps == 1:
		out.add("gap", Info, base.id.String(), "a gap longer than %s begins a segment: %s", seconds(p.gap), seconds(c.longest))
	case c.gaps >= fewRows && c.kept < fewRows*c.gaps:
		out.add("gap", Warning, base.id.String(), "%d gaps longer than %s begin a segment each, with %d rows on average", c.gaps, seconds(p.gap), c.kept/c.gaps).Remedy = "little can be learned from such segments: write a longer max_gap under [time], or choose another topic with --base"
	default:
		out.add("gap", Info, base.id.String(), "%d gaps longer than %s begin a segment, the longest %s", c.gaps, seconds(p.gap), seconds(c.longest))
	}
	for i, n := range c.crooked {
		if n.N > 0 && n.N < c.kept {
			out.add("quaternion", Warning, r.topicOf(i), "%s not measured in %d of %d rows: %s", p.outputs[i].label, n.N, c.kept, p.outputs[i].unlike(r.topicOf(i)))
		}
	}
	out.lacking(r)
	if n := r.joiner.Late + c.repeated; n > 0 {
		x := out.add("repeated", Info, "", "%s left out: a repeated time, or one that comes too late", number(n, "message"))
		if late := float64(r.joiner.Late); late > manyLate*float64(c.kept) {
			x.Severity, x.Remedy = Warning, "if "+base.id.String()+" has two senders, or counts time in large steps, record them separately, with finer stamps"
		}
	}
	out = append(out, p.leftOut...)
	out.alternating(turns, false)
	var files grouped
	for _, f := range r.files {
		files.timeRemarks(p, f, r.timeline(f).Timeline)
		files.clockRemarks(p, f)
	}
	files.into(&out)
	return out
}

// table reports what is odd about the rows of tables.
func (out *remarks) table(p *plan, c *rowCounts) {
	t := &c.table
	if n := t.Duplicates; n.N > 0 {
		done := "dropped"
		if p.m.Time.OnDuplicate == csv.Keep {
			done = "kept"
		}
		x := out.add("repeated", Info, "", "%s with the time of the row before %s, %s", number(n.N, "row"), done, n)
		switch {
		case p.m.Time.OnDuplicate == csv.Keep || 10*n.N <= c.kept:
		case t.Repeated == t.Compared && t.Compared > 0:
			x.Text += ": each repeats the row before"
		default:
			x.Severity, x.Remedy = Warning, "name the column of the time; or, if the rows are of several robots, name the column that distinguishes them as group_column"
		}
	}
	if n := t.Spread; n.N > 0 {
		out.add("stamps", Info, "", "several rows have one time, of a clock that is coarser than the rows: %s spread evenly, %s", number(n.N, "row"), n)
	}
	if n := t.Backwards; n.N > 0 {
		done := "a segment was begun at each"
		if p.m.Time.OnBackwards == csv.Keep {
			done = "kept as they are"
		}
		out.add("backwards", Info, "", "time runs backwards at %s (%s), %s", number(n.N, "row"), done, n)
	}
	if n := t.Gaps; n.N > 0 {
		out.add("gap", Info, "", "%s longer than max_gap, the longest %.6g s, %s", number(n.N, "gap"), 1e-9*float64(t.LongestGap), n)
	}
	out.pauses(&t.Pauses)
	if rate := 1e9 / float64(max(1, t.Step)); rate < slowRate {
		out.add("slow", Warning, "", "slow: rows at %.4g Hz; a horizon of 1 s has %.0f of them, and motion between them is not learned", rate, rate).Remedy = fmt.Sprintf("record at %d Hz or more; or, if the rows are faster than that, correct time.unit in the map", wantedRate)
	}
	if len(t.LeftOut) > 0 {
		out.add("columns", Info, "", "no columns are %s", strings.Join(t.LeftOut, "; "))
	}
	if n := t.Leaps; n.N > 0 {
		out.add("leap", Info, "", "%s: times behind are a second later than UTC, which counts it twice; %s", number(n.N, "leap second"), n)
	}
	if n := t.Ahead; n.N > 0 {
		out.add("ahead", Info, "", "%s above the names of the columns left out, %s", number(n.N, "line"), n)
	}
	if n := t.Open; n.N > 0 {
		out.add("open", Info, "", "%s at the end of a file without a line end (%s): if the file was cut off, the last number may lack digits; then delete the line", number(n.N, "row"), n)
	}
	out.inCells(p, t.InCells())
	out.joints(p.header)
	for i, n := range c.crooked {
		if n.N > 0 {
			not := "quaternion of %q was not of length 1"
			if p.outputs[i].kind == matrix {
				not = "matrix of %q was no rotation"
			}
			out.add("quaternion", Info, "", not+" in %d of %d rows, which are NaN there, %s", p.outputs[i].label, n.N, c.kept, n)
		}
	}
	out.unmeasured(p, c)
}

// unmeasured reports the channels of a table that rows do not have.
func (out *remarks) unmeasured(p *plan, c *rowCounts) {
	for i, n := range c.missing {
		switch n.N {
		case 0:
		case c.kept:
			out.add("missing", Info, "", "channel %q was never measured", p.outputs[i].label)
		default:
			severity := Info
			if 2*n.N > c.kept {
				severity = Warning
			}
			out.add("missing", severity, "", "channel %q was not measured in %d of %d rows, %s", p.outputs[i].label, n.N, c.kept, n)
		}
	}
}

// inCells reports the units that cells of a table have behind their numbers, by column, and where the map has another one.
func (out *remarks) inCells(p *plan, units map[string]string) {
	for i, s := range p.sources {
		for _, column := range slices.Sorted(maps.Keys(units)) {
			unit := units[column]
			if s == nil || !slices.Contains(s.paths(), column) {
				continue
			}
			x := out.add("unit", Info, "", "numbers of column %q are in %s, as its cells say", column, unit)
			if want := cmp.Or(s.From, s.Unit, p.m.Channels[i].Unit); want != "" && !channel.SameUnit(want, unit) {
				x.Severity, x.Remedy = Warning, fmt.Sprintf("the map has %s: write from = %q in the channel, which converts them", want, unit)
			}
		}
	}
}

// byPlace matches an element of an array that is found by its place.
var byPlace = regexp.MustCompile(`\[\d+\]`)

// lacking reports what messages of the topic that gives the rows their times often have no value of, unless a number stood for it.
func (out *remarks) lacking(r *rowMaker) {
	if 2*r.counts.blank > r.counts.kept { // a loss
		return
	}
	base, labels := r.plan.config.Base, map[int][]string{}
	for i, n := range r.counts.missing {
		filled := r.plan.fills != nil && slices.ContainsFunc(r.plan.fills[base], func(all []float64) bool { return len(all) > 0 })
		if n.N < r.counts.kept && float64(n.N) > fewEnd*float64(r.counts.kept) && !filled {
			labels[n.N] = append(labels[n.N], r.plan.outputs[i].label)
		}
	}
	remedy := ""
	if !r.plan.m.IsTable() && slices.ContainsFunc(r.plan.tracks[base].paths, byPlace.MatchString) {
		remedy = "elements of an array are found by their places: where its length changes, the others may be of something else, so import the parts by themselves (--from, --to)"
	}
	for _, n := range slices.Sorted(maps.Keys(labels)) {
		out.add("missing", Warning, r.plan.tracks[base].id.String(), "%s: messages of %s have no value in %d of %d rows", strings.Join(labels[n], ", "), r.plan.tracks[base].id, n, r.counts.kept).Remedy = remedy
	}
}

// pauses reports those within segments of tables. What is longer than any pause is said to be.
func (out *remarks) pauses(n *csv.Pauses) {
	if n.N == 0 {
		return
	}
	more := ""
	if n.N > 1 {
		more = fmt.Sprintf(", the longest of %d pauses", n.N)
	}
	if d := time.Duration(n.Longest) - time.Hour; d.Abs() < time.Minute {
		more += "; local times without a zone go ahead by an hour where summer time begins"
	}
	x := out.add("gap", Info, "", "rows follow each other in %.3g s, and up to %.6g s within a segment, %s%s", 1e-9*float64(n.Usual), 1e-9*float64(n.Longest), n.At, more)
	if n.Longest > timebase.Far {
		x.Severity, x.Remedy = Warning, "write max_gap = \"1s\" under [time]: a segment begins there"
	}
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

// signals reports how the signals of other topics than the base were found. Channels of
// which the same is to be said share a sentence.
func (out *remarks) signals(p *plan, stats []timebase.Stats) {
	type saying struct {
		kind, topic, text string
		names             []string
	}
	var all []saying
	add := func(i int, kind, format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		for k := range all {
			if all[k].text == text {
				all[k].names = append(all[k].names, p.signals[i])
				return
			}
		}
		all = append(all, saying{kind, p.tracks[p.config.Signals[i].Track].id.String(), text, []string{p.signals[i]}})
	}
	for i := range p.config.Signals {
		sig, st := &p.config.Signals[i], &stats[i]
		if sig.Track == p.config.Base || p.signals[i] == "" {
			continue
		}
		tr := &p.tracks[sig.Track]
		n := st.Measured + st.Between + st.Stale + st.Before + st.Far
		if st.Far > 0 {
			add(i, "interpolated", "from %s, %.4g Hz, measured in %d of %d rows, which come at %.4g Hz: between its messages it counts as not measured", tr.id, tr.rate, st.Measured+st.Between, n, p.tracks[p.config.Base].rate)
		} else if st.Between > 0 && sig.How == timebase.Hold {
			add(i, "held", "from %s, %.4g Hz, held in %d of %d rows, %s at most", tr.id, tr.rate, st.Between, n, seconds(st.MaxAge))
		} else if st.Between > 0 {
			add(i, "interpolated", "from %s, %.4g Hz, interpolated in %d of %d rows, samples %s apart at most", tr.id, tr.rate, st.Between, n, seconds(st.MaxAge))
		}
		if st.Stale > 0 {
			add(i, "stale", "not measured in %d of %d rows: no message of %s for more than %s", st.Stale, n, tr.id, seconds(sig.MaxAge))
		}
		if st.Before > 0 {
			add(i, "outside", "not measured in %d of %d rows: %s begins later or ends earlier", st.Before, n, tr.id)
		}
	}
	for _, s := range all {
		out.add(s.kind, Info, s.topic, "%s: %s", strings.Join(s.names, ", "), s.text)
	}
}

// slowRate is the rate in Hz below which a topic of a state or an input is called slow, and
// wantedRate the one to log at.
const slowRate, wantedRate = 20, 50

// slowTopics reports the topics of states and inputs that come too slowly for a horizon of
// about a second, with the setting of the robot's logger. A table has no rates here.
func (out *remarks) slowTopics(p *plan, format string) {
	if p.m.IsTable() {
		return
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
	if len(slow) > 0 {
		out.add("slow", Warning, strings.Join(topics, ", "), "slow: %s; a horizon of 1 s has %.0f messages of the slowest, and motion between messages is not learned",
			strings.Join(slow, "; "), slowest).Remedy = fmt.Sprintf("log them at %d Hz or more%s%s", wantedRate, fasterLogging(format, topics), p.fasterBase())
	}
}

// muchFaster is how many times as fast as the rows a topic of states comes whose messages are worth having all.
const muchFaster = 4

// fasterBase is how to have rows of the fastest topic of states, where it is much faster than the one that gives them.
func (p *plan) fasterBase() string {
	base := &p.tracks[p.config.Base]
	fastest := base
	for c := range p.m.Channels {
		if p.sources[c] != nil && p.m.Channels[c].Role == channel.State && p.tracks[p.read[c]].rate > fastest.rate {
			fastest = &p.tracks[p.read[c]]
		}
	}
	if fastest.rate < muchFaster*base.rate {
		return ""
	}
	return fmt.Sprintf("; until then --base %s gives rows at %.4g Hz, in which slower states are measured next to their messages alone", fastest.id, fastest.rate)
}

// fasterLogging is how topics are logged faster by what wrote a format.
func fasterLogging(format string, topics []string) string {
	switch format {
	case "ulog":
		lines := make([]string, len(topics))
		for i, t := range topics {
			lines[i] = fmt.Sprintf("%q", fmt.Sprintf("%s %d", t, 1000/wantedRate)) // interval in ms
		}
		return fmt.Sprintf(" (PX4: the lines %s in etc/logging/logger_topics.txt on the SD card; the file replaces the default list, so it needs the other topics, too)", strings.Join(lines, ", "))
	case "ardupilot":
		return ", or as fast as the firmware does (ArduPilot: bit 0 of LOG_BITMASK, fast attitude)"
	case "mavlink":
		return " (MAV_CMD_SET_MESSAGE_INTERVAL, or ArduPilot's stream rates SR0_EXTRA1, SR0_POSITION and SR0_RC_CHAN), or import the log that the autopilot wrote on board"
	}
	return ""
}
