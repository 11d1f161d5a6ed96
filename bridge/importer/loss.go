package importer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/csv"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// LossError reports that an import would leave out data that the map requires. The summary returned with it has
// the rest.
type LossError struct {
	File    string
	Reasons []Remark // one or more
}

// Error returns it in one line.
func (e *LossError) Error() string {
	var texts []string
	for _, r := range e.Reasons {
		texts = append(texts, r.String())
	}
	return fmt.Sprintf("%s: refused, nothing is written: %s; --allow-loss writes the log as it is", e.File, strings.Join(texts, "; "))
}

// losses returns what is left out so that the log is not what was asked for: most rows, all
// inputs, or a channel.
func losses(r *rowMaker) (out remarks) {
	out.rows(r)
	said := map[channel.Role]bool{channel.State: out.states(r), channel.Input: out.inputs(r)}
	out.noInputs(r)
	out.ended(r)
	for i := range r.plan.outputs {
		o := &r.plan.outputs[i]
		if o.asked && !said[o.role] && r.counts.measured[i] == 0 && !r.plan.judged(o.names[0]) && r.counts.kept > 0 {
			out.add("channel-lost", Loss, r.topicOf(i), "%s is never measured%s", o.label, r.why(i)).Remedy = "correct the map, or write optional = true"
		}
	}
	base := &r.plan.tracks[r.plan.config.Base]
	for _, f := range r.files {
		if c := f.find(base.id); c != nil && !r.plan.m.IsTable() {
			if t := f.times.Of(c.Topic.Seq); t.Bursts != nil {
				out.add("bursts", Loss, base.id.String(), "%s: messages of %s, which give the rows their times, arrive in bursts, %s: these are the times of arrival, not of measurement", f.base(), base.id, t.Bursts).Remedy = "use stamps of the sensor, or send each message at once"
			}
		}
	}
	return out
}

// rows adds that most rows are left out.
func (out *remarks) rows(r *rowMaker) {
	c := &r.counts
	if r.plan.m.IsTable() {
		if n := c.table.Duplicates; n.N-c.table.Repeated > c.kept && r.plan.m.Time.OnDuplicate != csv.Keep {
			out.add("rows-lost", Loss, "", "%d of %d rows are left out, because they have the time of the row before, %s", n.N, n.N+c.kept, n).Remedy = "name the column of the time, and its unit; or, if the rows are of several robots, name the column that distinguishes them as group_column"
		}
		return
	}
	if 2*c.blank > c.kept && c.blank < c.kept { // else of no state
		id := r.plan.tracks[r.plan.config.Base].id
		out.add("rows-lost", Loss, id.String(), "in %d of %d rows messages of %s have no value of any state", c.blank, c.kept, id).Remedy = "record where they have; or cut the rest with --from and --to"
	}
	id, all := r.plan.tracks[r.plan.config.Base].id, r.messages()
	if lost := all - c.repeated - c.kept - c.ground - c.cut; 2*lost > all {
		x := out.add("rows-lost", Loss, id.String(), "%d of %d messages of %s give no row", lost, all, id)
		x.Remedy = "see the remarks about their times, or choose another topic with --base"
		if 2*r.joiner.Late > all {
			x.Text += ": most have the time of the one before, or come too late"
			x.Remedy = "use stamps of the sensor, or send each message at once; or choose another topic with --base"
		}
	}
}

// messages counts those of the topic that gives the rows their times.
func (r *rowMaker) messages() (all int) {
	for _, f := range r.files {
		if n := f.find(r.plan.tracks[r.plan.config.Base].id); n != nil {
			all += n.N
		}
	}
	return all
}

// settleRate has the rate of the topic that gives the rows their times be that of its rows, where many of its messages are there more than
// once, as of two links.
func (r *rowMaker) settleRate() {
	all, rows, twice := r.messages(), r.counts.kept+r.counts.ground+r.counts.cut, r.joiner.Late+r.counts.repeated
	if 10*twice > all && 10*(rows+twice) > 9*all && all > 0 {
		r.plan.tracks[r.plan.config.Base].rate *= float64(rows) / float64(all)
	}
}

// fewEnd is the share of rows at the ends of files without a value of an output, and longEnd how long they last, ns, from which on
// the output ends early.
const fewEnd, longEnd = 0.05, 1e9

// endsEarly reports whether messages of an output, or its cells, end before those of others do, and this is most of why it is not measured.
func (r *rowMaker) endsEarly(i int) bool {
	e := &r.counts.ended[i]
	return float64(e.n) > fewEnd*float64(r.counts.kept) && e.lasts > longEnd && 2*e.n > r.counts.kept-r.counts.measured[i]
}

// ended adds which inputs and states end before the rows do, but for those of which a loss says it.
func (out *remarks) ended(r *rowMaker) {
	lost := *out
	for i := range r.plan.outputs {
		o := &r.plan.outputs[i]
		said := slices.ContainsFunc(lost, func(x Remark) bool { return x.Severity == Loss && x.Topic == r.topicOf(i) })
		if o.role != channel.Aux && !said && r.endsEarly(i) && slices.ContainsFunc(o.names, func(name string) bool { return channel.Index(r.plan.header, name) >= 0 }) {
			out.add("ends", Warning, r.topicOf(i), "%s: no value in the last %s of the rows, %d of %d: recording it ends early", o.label, seconds(r.counts.ended[i].lasts), r.counts.ended[i].n, r.counts.kept).Remedy = "cut the rest with to under [time] or --to, or record it to the end"
		}
	}
}

// states adds that no state is measured in any row, and reports whether it did.
func (out *remarks) states(r *rowMaker) bool {
	var names []string
	for i := range r.plan.outputs {
		if o := &r.plan.outputs[i]; o.role == channel.State {
			if r.counts.measured[i] > 0 {
				return false
			}
			names = append(names, o.label)
		}
	}
	if r.counts.kept == 0 {
		return false
	}
	out.add("channel-lost", Loss, "", "no state (%s) is ever measured", strings.Join(names, ", ")).Remedy = "record messages in which they have values, or name other fields in a map"
	return true
}

// noInputs adds that no input of the map is in the log at all.
func (out *remarks) noInputs(r *rowMaker) {
	p := r.plan
	var why []string
	for i := range p.m.Channels {
		c := &p.m.Channels[i]
		if c.Role == channel.Input && p.sources[i] != nil {
			return
		}
		if c.Role == channel.Input {
			why = append(why, p.absent[i])
		}
	}
	if len(why) > 0 {
		out.add("inputs-lost", Loss, "", "no input of the map is in the log: %s", strings.Join(slices.Compact(why), "; ")).Remedy = "record the robot's commands in each recording; dgm-bridge topics " + r.files[0].base() + " --suggest writes a map of other possible inputs"
	}
}

// inputs adds that no input is measured in half of the rows, and reports whether none is measured at all. Inputs that need not be there count if
// messages have them, and the columns of a table where none has a value.
func (out *remarks) inputs(r *rowMaker) bool {
	for _, all := range []bool{false, true} {
		var names []string
		most, which := 0, -1
		for i := range r.plan.outputs {
			if o := &r.plan.outputs[i]; o.role == channel.Input && (all || o.asked || r.counts.measured[i] > 0 || !r.empty(i)) {
				names = append(names, o.label)
				if n := r.counts.measured[i]; which < 0 || n > most {
					most, which = n, i
				}
			}
		}
		if which < 0 || all && (most > 0 || !r.plan.m.IsTable()) {
			continue
		}
		if 2*most >= r.counts.kept {
			return false
		}
		out.add("inputs-lost", Loss, r.topicOf(which), "no input (%s) is measured in more than %d of %d rows%s", strings.Join(names, ", "), most, r.counts.kept, r.why(which)).Remedy = r.remedy(which, most)
		return most == 0
	}
	return false
}

// remedy returns what brings inputs into the log of which output i is one, and the most frequent one has n values.
func (r *rowMaker) remedy(i, n int) string {
	switch table := r.plan.m.IsTable(); {
	case r.endsEarly(i):
		return "cut the rest with to under [time] or --to, or record it to the end"
	case table && n > 0:
		return "write join = true under [time]: each value is held to the row that has the next one"
	case !table && n == 0 && r.empty(i):
		return "let the robot record them, with values; MAVLink 2 has fields that version 1 does not have"
	}
	return "record them with the states, with times on the same clock"
}

// empty reports whether most rows have a message of an output, and it is the message that
// has no value.
func (r *rowMaker) empty(i int) bool {
	if r.plan.m.IsTable() {
		return true
	}
	st := r.joiner.Stats[r.plan.outputs[i].signal]
	return st.Measured+st.Between > st.Stale+st.Before+st.Far
}

// topicOf names the topic of an output; "" in a table.
func (r *rowMaker) topicOf(i int) string {
	if r.plan.m.IsTable() {
		return ""
	}
	return r.plan.tracks[r.plan.config.Signals[r.plan.outputs[i].signal].Track].id.String()
}

// fieldsOf names the fields of an output.
func (p *plan) fieldsOf(i int) string {
	sig := &p.config.Signals[p.outputs[i].signal]
	var names []string
	for _, at := range sig.At {
		names = append(names, p.tracks[sig.Track].paths[at])
	}
	return strings.Join(names, ", ")
}

// why says why an output is not measured, as far as the times tell.
func (r *rowMaker) why(i int) string {
	if r.endsEarly(i) {
		return fmt.Sprintf(": it ends %s before the rows do", seconds(r.counts.ended[i].lasts))
	}
	if r.plan.m.IsTable() {
		return ""
	}
	s := r.plan.outputs[i].signal
	st := r.joiner.Stats[s]
	topic := r.topicOf(i)
	switch id := r.plan.tracks[r.plan.config.Signals[s].Track].id; {
	case r.counts.untimed > 0 && r.untimed(id) > 0:
		return fmt.Sprintf(": messages of %s have no time", topic)
	case st.Before > st.Stale && st.Before > 0:
		return fmt.Sprintf(": %s begins later or ends earlier", topic)
	case st.Stale > 0 && st.Measured+st.Between == 0:
		return fmt.Sprintf(": %s has no message near the time of a row", topic)
	case st.Stale > 0:
		return fmt.Sprintf(": %s comes too rarely", topic)
	case r.empty(i):
		return fmt.Sprintf(": messages of %s have no value of %s", topic, r.plan.fieldsOf(i))
	}
	return ""
}

// untimed counts the messages of a topic that have no time.
func (r *rowMaker) untimed(id topicID) (n int) {
	for _, f := range r.files {
		if c := f.find(id); c != nil {
			n += f.times.Of(c.Topic.Seq).Untimed
		}
	}
	return n
}
