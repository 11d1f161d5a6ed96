package importer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/csv"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Validity describes when the values of channels count, by a field in which the robot's estimator declares them
// valid. A condition whose topic or field is not in a log has no effect.
type Validity struct {
	Channels []string  `toml:"channels"` // names
	Topic    csv.Names `toml:"topic"`    // of the field; it may be that of the channels or another. Of several the first that is there counts
	Type     string    `toml:"type"`     // in place of topic: the type of its messages
	Field    string    `toml:"field"`    //
	Equals   []float64 `toml:"equals"`   // valid while the field is one of these
	Above    *float64  `toml:"above"`    // valid while the field is above; NaN is not
	Mask     uint32    `toml:"mask"`     // (optional) only these bits of the field are compared
}

// Reset describes how to detect a reset of the robot's estimator: the values jump without motion, and a segment
// begins.
type Reset struct {
	Topic  string    `toml:"topic"`
	Type   string    `toml:"type"`   // in place of topic: the type of its messages
	Fields []string  `toml:"fields"` // counters: a change is a reset. Those that are not in a log have no effect
	Equals []float64 `toml:"equals"` // (optional) of events: a message with one of these values is a reset
}

// valid reports whether a value of the field says that the channels are valid.
func (v *Validity) valid(x float64) bool {
	p := Phase{Equals: v.Equals, Above: v.Above, Mask: v.Mask}
	in, known := p.decide(x)
	return known && in
}

// broken describes a condition on a topic that does not hold, as in "xy_valid of
// vehicle_local_position is not 1".
func (v *Validity) broken(topic string) string {
	what := v.Field + " of " + topic
	if v.Mask != 0 {
		what = fmt.Sprintf("%s & %d of %s", v.Field, v.Mask, topic)
	}
	if v.Above != nil {
		return fmt.Sprintf("%s is not above %g", what, *v.Above)
	}
	var values []string
	for _, x := range v.Equals {
		values = append(values, fmt.Sprint(x))
	}
	return what + " is not " + strings.Join(values, " or ")
}

// validity is a condition that is in the logs.
type validity struct {
	*Validity
	from   place   // of its field
	target []place // of the values that count while it holds
	names  []string
}

// why describes the condition where it does not hold.
func (p *plan) why(v *validity) string { return v.broken(p.tracks[v.from.track].id.String()) }

// place is a value of a track.
type place struct{ track, column int }

// reset is a counter or a field of events that is in the logs.
type reset struct {
	*Reset
	place
}

// bindValidity finds the conditions and the counters of the map that all files have.
func (p *plan) bindValidity(files []*survey) {
	for i := range p.m.Valid {
		for k := range p.m.Channels {
			p.addValidity(&p.m.Valid[i], k, files)
		}
	}
	for i := range p.m.Resets {
		x := &p.m.Resets[i]
		for t := range p.tracks {
			if x.of(files[0].find(p.tracks[t].id).Topic) {
				p.addReset(x, t, files)
			}
		}
		// Events are of a topic that no channel is read from.
		if id, reason := find(&Source{Topic: x.Topic, Type: x.Type}, nil, files); len(x.Equals) > 0 && reason == "" && p.trackOf(id) < 0 {
			p.addReset(x, p.track(id, files), files)
		}
	}
}

// addValidity adds a condition as far as it is about channel k of the map.
func (p *plan) addValidity(v *Validity, k int, files []*survey) {
	c, s, own := &p.m.Channels[k], p.sources[k], p.read[k]
	names := slices.DeleteFunc(slices.Clone(c.names()), func(n string) bool { return !slices.Contains(v.Channels, n) })
	if s == nil || len(names) == 0 {
		return
	}
	id, found := conditionTopic(v, p.tracks[own].id, files)
	if !found {
		return
	}
	n := validity{Validity: v, names: names}
	n.from.track = p.track(id, files)
	n.from.column = p.column(n.from.track, v.Field)
	for at, path := range s.valuePaths() {
		// The angles of a quaternion or a matrix depend on all of its values.
		if s.rotates() || slices.Contains(names, c.names()[at]) {
			n.target = append(n.target, place{own, p.column(own, strings.TrimPrefix(path, "-"))})
		}
	}
	p.valid = append(p.valid, n)
}

// whyUnknown returns why channels have no value in any row, as sentences: the conditions that did
// not hold, and quaternions that are none.
func (r *rowMaker) whyUnknown(names []string) (out []string) {
	rest := slices.Clone(names)
	say := func(why string, about []string) {
		of := slices.DeleteFunc(slices.Clone(about), func(n string) bool { return !slices.Contains(names, n) })
		if len(of) > 0 {
			out = append(out, fmt.Sprintf("%s (%s)", why, strings.Join(of, ", ")))
			rest = slices.DeleteFunc(rest, func(n string) bool { return slices.Contains(of, n) })
		}
	}
	for i := range r.plan.valid {
		if v := &r.plan.valid[i]; r.judge.messages[i] > 0 {
			say(r.plan.why(v), v.names)
		}
	}
	for i := range r.plan.outputs {
		if n := r.counts.crooked[i].N; n > 0 {
			say(fmt.Sprintf("%s, in %d of %d rows", r.plan.outputs[i].unlike(r.topicOf(i)), n, r.counts.kept), r.plan.outputs[i].names)
		}
	}
	if len(rest) > 0 {
		out = append(out, "no row has a value ("+strings.Join(rest, ", ")+")")
	}
	return out
}

// of reports whether a topic is that of the reset.
func (x *Reset) of(t *telemetry.Topic) bool {
	return t.Name == x.Topic || x.Type != "" && t.Kind == x.Type
}

// addReset adds the fields of a reset that a track has in all files.
func (p *plan) addReset(x *Reset, track int, files []*survey) {
	for _, field := range x.Fields {
		if p.hasField(p.tracks[track].id, field, files) {
			p.resets = append(p.resets, reset{Reset: x, place: place{track, p.column(track, field)}})
		}
	}
}

// conditionTopic returns the topic that a condition on values of the topic own is read from.
func conditionTopic(v *Validity, own topicID, files []*survey) (id topicID, found bool) {
	p := &plan{}
	if c := files[0].find(own); slices.Contains(v.Topic, own.name) || v.Type != "" && c.Topic.Kind == v.Type {
		return own, p.hasField(own, v.Field, files)
	}
	for _, name := range v.Topic {
		for _, c := range files[0].counts { // the lowest instance comes first
			if other := files[0].id(c.Topic); other.name == name && p.hasField(other, v.Field, files) && (!found || other.instance == own.instance) {
				id, found = other, true
			}
		}
		if found {
			break
		}
	}
	return id, found
}

// hasField reports whether a topic has a field in all files.
func (p *plan) hasField(id topicID, field string, files []*survey) bool {
	return !slices.ContainsFunc(files, func(f *survey) bool {
		c := f.find(id)
		return c == nil || c.Topic.Check(field) != nil
	})
}

// judge is what is known of the conditions and counters of a plan while a file is read.
type judge struct {
	plan    *plan
	invalid []bool    // of each condition
	last    []float64 // of each reset: the counter; NaN = not known

	messages []int // of each condition: those whose values did not count, and of how many
	all      []int
	early    []int  // of these, those ahead of the first message of the condition's topic
	known    []bool // of each condition: it had a message
	resets   int
}

func newJudge(p *plan) *judge {
	return &judge{plan: p, last: make([]float64, len(p.resets)), invalid: make([]bool, len(p.valid)), known: make([]bool, len(p.valid)), early: make([]int, len(p.valid)),
		messages: make([]int, len(p.valid)), all: make([]int, len(p.valid))}
}

// begin forgets what the file before has shown.
func (j *judge) begin() {
	// What is said by another topic is not known before its first message.
	for i := range j.invalid {
		v := &j.plan.valid[i]
		j.invalid[i], j.known[i] = v.from.track != v.target[0].track, false
	}
	for i := range j.last {
		j.last[i] = math.NaN()
	}
}

// message reads the conditions in a message of a track, replaces those of its values that
// do not count by NaN, and reports whether the state was set anew.
func (j *judge) message(track int, values []float64) (reset bool) {
	for i := range j.plan.resets {
		r := &j.plan.resets[i]
		if r.track != track {
			continue
		}
		now := values[r.column]
		if len(r.Equals) > 0 {
			reset = reset || slices.Contains(r.Equals, now)
			continue
		}
		if math.IsNaN(now) { // the counter is missing: the next one is compared with that before
			continue
		}
		reset = reset || now != j.last[i] && !math.IsNaN(j.last[i])
		j.last[i] = now
	}
	if reset {
		j.resets++
	}
	for i := range j.plan.valid {
		if v := &j.plan.valid[i]; v.from.track == track {
			j.invalid[i], j.known[i] = !v.valid(values[v.from.column]), true
		}
	}
	for i := range j.plan.valid {
		v := &j.plan.valid[i]
		if v.target[0].track != track {
			continue
		}
		j.all[i]++
		if !j.invalid[i] {
			continue
		}
		if j.messages[i]++; !j.known[i] {
			j.early[i]++
		}
		for _, t := range v.target {
			values[t.column] = math.NaN()
		}
	}
	return reset
}

// remarks reports how much did not count, and why.
func (j *judge) remarks() (out remarks) {
	for i, n := range j.messages {
		v := &j.plan.valid[i]
		if n == 0 || n == j.all[i] {
			continue
		}
		why := j.plan.why(v)
		switch first := fmt.Sprintf("ahead of the first message of %s", j.plan.tracks[v.from.track].id); j.early[i] {
		case 0:
		case n:
			why = "they are " + first
		default:
			why += fmt.Sprintf("; %d are %s", j.early[i], first)
		}
		out.add("invalid", Info, j.plan.tracks[v.target[0].track].id.String(), "%s not measured in %d of %d messages of %s: %s", strings.Join(v.names, ", "), n, j.all[i], j.plan.tracks[v.target[0].track].id, why)
	}
	if j.resets > 0 {
		out.add("reset", Info, "", "the robot's estimator reset its state %s; a segment begins at each", number(j.resets, "time"))
	}
	return out
}
