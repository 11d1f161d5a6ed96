package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/dgm-robotics/dgm/bridge/csv"
	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// What a suggestion looks at.
const (
	suggestFields = 200  // fields of one topic
	suggestAll    = 8000 // fields of all topics
	suggestStates = 24   // channels
)

// seen is what a suggestion has read of a topic.
type seen struct {
	count     *telemetry.Count
	fields    []telemetry.Field
	low, high []float64      // of fields
	turns     []frames.Turns // the same
}

// Suggest reads a log and writes a map of what is in it: the preset that fits, or
// the fields of the topic that looks most like a state; the other topics are named with
// their rates. A nil open is of a table of text: its first rows show the time and the
// columns. progress, if not nil, is called now and then with the share that is read.
func Suggest(ctx context.Context, w io.Writer, path string, open telemetry.Opener, progress func(float64)) error {
	if open == nil {
		return suggestTable(w, path)
	}
	all, err := look(ctx, path, open, progress)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(x *seen) bool { return len(x.fields) > 0 }) {
		return &mapfile.Error{File: path, Reason: "no field of its topics can be read, so that no map of it can be written", Remedy: "dgm-bridge topics " + path + " lists why"}
	}
	var b strings.Builder
	counts := make([]*telemetry.Count, len(all))
	for i, x := range all {
		counts[i] = x.count
	}
	if m, name := fitting(newSurvey(path, counts)); name != "" {
		text, err := PresetText(name)
		if err != nil {
			return err
		}
		unknown := neverValid(m, all)
		if left := m.states(unknown); left == 0 {
			fmt.Fprintf(&b, "# No preset can use this log: all states of %s are never valid in it. It is:\n\n%s", name, text)
		} else if len(unknown) > 0 {
			fmt.Fprintf(&b, "# The preset %s fits this log but for %s, which are never valid in it: an\n# import leaves them out. It is:\n\n%s", name, strings.Join(unknown, ", "), text)
		} else {
			fmt.Fprintf(&b, "# The preset %s fits this log. It is:\n\n%s", name, text)
		}
	} else {
		var s suggestion
		if len(all) > 0 {
			best := all[likely(all)].count.Topic
			senders := slices.DeleteFunc(slices.Clone(all), func(x *seen) bool { return x.count.Topic.Name != best.Name || x.count.Topic.Instance != best.Instance })
			for _, x := range senders {
				s.topic(x, len(senders) > 1)
			}
		}
		fmt.Fprintf(&b, "# A beginning for %s: the topic that looks most like a state. Correct\n# it: role, unit, axes.\n%s\nvehicle = \"robot\"\n%s", filepath.Base(path), s.angles(), s.text.String())
	}
	b.WriteString("\n# All topics; dgm-bridge topics --fields lists their fields:\n")
	for _, x := range all {
		fmt.Fprintf(&b, "#   %-40s %8d messages, %.4g Hz\n", x.count.Topic, x.count.N, x.count.Rate())
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// look reads the topics of a log and the ranges of their fields.
func look(ctx context.Context, path string, open telemetry.Opener, progress func(float64)) ([]*seen, error) {
	var all []*seen // by Seq
	total := 0
	s, err := open(path, telemetry.Wants{Select: func(t *telemetry.Topic) (paths []string) {
		for t.Seq >= len(all) {
			all = append(all, &seen{})
		}
		x := all[t.Seq]
		for _, f := range t.Fields() {
			if len(x.fields) < suggestFields && total < suggestAll && t.Check(f.Path) == nil {
				x.fields, x.turns = append(x.fields, f), append(x.turns, frames.Turns{})
				x.low, x.high = append(x.low, math.Inf(1)), append(x.high, math.Inf(-1))
				paths = append(paths, f.Path)
				total++
			}
		}
		return paths
	}})
	if err != nil {
		return nil, err
	}
	counts, err := telemetry.Survey(ctx, s, progress, func(m *telemetry.Message) {
		x := all[m.Topic.Seq]
		for i, v := range m.Values {
			x.low[i], x.high[i] = math.Min(x.low[i], v), math.Max(x.high[i], v) // NaN stays: the field is not a plain number
			x.turns[i].Add(v)
		}
	})
	if err = errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	sorted := make([]*seen, len(counts))
	for i, c := range counts {
		sorted[i] = all[c.Topic.Seq]
		sorted[i].count = c
	}
	return sorted, nil
}

// fitting returns the preset all of whose channels that are not optional are in a
// log, and its map, or "".
func fitting(f *survey) (*Map, string) {
	for _, name := range Presets() {
		m, err := Preset(name)
		if err != nil {
			continue
		}
		files := []*survey{f}
		if m, err = m.expand(files); err != nil || len(m.Channels) == 0 {
			continue
		}
		if _, err := bind(m, files); err == nil {
			return m, name
		}
	}
	return nil, ""
}

// states counts the states of a map but for some.
func (m *Map) states(without []string) (n int) {
	for i := range m.Channels {
		c := &m.Channels[i]
		for _, name := range append(c.Names, c.Name) {
			if name != "" && c.Role == channel.State && !slices.Contains(without, name) {
				n++
			}
		}
	}
	return n
}

// neverValid returns the channels of a map whose values a condition declares invalid
// throughout.
func neverValid(m *Map, all []*seen) (names []string) {
	for i := range m.Valid {
		v := &m.Valid[i]
		for _, x := range all {
			t := x.count.Topic
			k := slices.IndexFunc(x.fields, func(f telemetry.Field) bool { return f.Path == v.Field })
			if k < 0 || !slices.Contains(v.Topic, t.Name) && (v.Type == "" || v.Type != t.Kind) || v.possible(x.low[k], x.high[k]) {
				continue
			}
			for _, name := range v.Channels {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// possible reports whether a field that spans low to high may say that values are valid.
func (v *Validity) possible(low, high float64) bool {
	if low == high || v.Above != nil {
		return v.valid(high)
	}
	return v.Mask != 0 || slices.ContainsFunc(v.Equals, func(e float64) bool { return e >= low && e <= high })
}

// likely returns the topic that looks most like a state: of those with a few
// fields that vary, the fastest.
func likely(all []*seen) int {
	best, most := 0, -1.0
	for i, x := range all {
		n := 0
		for k := range x.fields {
			if x.varies(k) {
				n++
			}
		}
		// What has many fields is a report of something, what has one a counter.
		score := min(x.count.Rate(), 1000) * math.Min(1, float64(n)/3) / math.Max(1, float64(n)/suggestStates)
		if score > most {
			best, most = i, score
		}
	}
	return best
}

// varies reports whether field k has more than one value and is neither a time nor
// something about the message or the estimate.
func (x *seen) varies(k int) bool {
	return x.high[k] > x.low[k] && !containsAny(x.fields[k].Path, "timestamp", "time_us", "time_boot", "timeus", "timems", "stamp.", "sampleus",
		"covariance", "variance", "valid", "reset", "counter", "_count", "error", "flags", "status", "device_id", "_id", "seq", "std", "innov", "test_ratio")
}

// suggestion is the channels of a map.
type suggestion struct {
	text    strings.Builder
	periods []string // of the channels whose values wrap: "yaw: 360 deg"
	states  int      // of a table, so far
	angled  bool     // it has roll, pitch and yaw
}

// angles is the comment ahead of a map about the periods in it.
func (s *suggestion) angles() string {
	found := "No values jump by a turn: no period is written"
	if len(s.periods) > 0 {
		found = "Values that jump by a turn and its period: " + strings.Join(s.periods, ", ")
	}
	return "# " + found + ". An angle that does not wrap here\n# needs period = 6.283185307179586 where its unit is rad, period = 360 where it is deg.\n"
}

// topic adds the channels of a topic: the first suggestStates fields that vary. Those that are
// constant are named in a comment. several: it is one of the senders of its name.
func (s *suggestion) topic(x *seen, several bool) {
	t := x.count.Topic
	written := 0
	var constant []string
	for k, f := range x.fields {
		if x.low[k] == x.high[k] {
			constant = append(constant, fmt.Sprintf("%s (%.6g)", f.Path, x.low[k]))
		}
		if written == suggestStates || !x.varies(k) {
			continue
		}
		written++
		where := fmt.Sprintf("topic = %q", t.Name)
		if t.Instance != 0 {
			where += fmt.Sprintf("\ninstance = %d", t.Instance)
		}
		name := f.Path
		if several && len(t.Sender) > 0 {
			where += fmt.Sprintf("\nwhere = %s", whereOf(t))
			name = t.Sender[len(t.Sender)-1].Value + "_" + strings.TrimPrefix(name[strings.LastIndex(name, "].")+1:], ".")
		}
		where += fmt.Sprintf("\nfield = %q # %.4g to %.4g", f.Path, x.low[k], x.high[k])
		name = strings.NewReplacer("[", "_", "]", "", ".", "_", "/", "_", " ", "_").Replace(name)
		s.text.WriteString("\n")
		s.channel("", "", name, where, cmp.Or(f.Unit, frames.NamedUnit(name)), channel.State, x.turns[k])
	}
	if written == 0 {
		fmt.Fprintf(&s.text, "\n# No field of topic %q varies: of what stands still no motion is learned.\n", t.Name)
	}
	const most = 12
	if n := len(constant); n > most {
		constant = append(constant[:most], fmt.Sprintf("and %d more", n-most))
	}
	if len(constant) > 0 {
		fmt.Fprintf(&s.text, "\n# Left out, the same in all messages: %s.\n", strings.Join(constant, ", "))
	}
}

// channel adds a channel, with hash before each line, and with the period of one whose
// values wrap.
func (s *suggestion) channel(hash, remark, name, where, unit string, role channel.Role, turns frames.Turns) {
	period := 0.0
	if role == channel.State {
		period, unit = turns.Period(unit)
	}
	text := fmt.Sprintf("[[channel]]%s\nname = %q\n%s\n", remark, name, where)
	if unit != "" {
		text += fmt.Sprintf("unit = %q\n", unit)
	}
	text += fmt.Sprintf("role = %q\n", role)
	if period > 0 {
		text += fmt.Sprintf("period = %v # its values jump by this\n", period)
		s.periods = append(s.periods, fmt.Sprintf("%s %v %s", name, period, unit))
	}
	for line := range strings.Lines(text) {
		s.text.WriteString(hash + line)
	}
}

// containsAny reports whether a name, in lower case, contains one of the words.
func containsAny(name string, words ...string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) })
}

// suggestTable writes a map of a table: its time, and a channel for each column of
// numbers that vary; those that look like no state of their own are commented out.
func suggestTable(w io.Writer, path string) error {
	o, err := csv.Look(path)
	if err != nil {
		return err
	}
	how := "guessed from the step"
	if o.Named {
		how = "from the name of the column"
	}
	channels := suggestion{angled: hasAngles(o.Columns)}
	for i := range o.Columns {
		if i != o.Time {
			channels.column(&o.Columns[i])
		}
	}
	_, err = fmt.Fprintf(w, "# What is in %s, by its first %d rows. Correct it: roles and units.\n%svehicle = \"robot\"\n\n[time]\ncolumn = %q\nunit = %q # s, ms, us or ns: %s\n# max_gap = \"1s\" # a longer time without a row begins a segment\n%s",
		filepath.Base(path), o.Rows, channels.angles(), o.Columns[o.Time].Column, o.Unit, how, channels.text.String())
	return err
}

// column adds the channel of a column, commented out where it cannot be one.
func (s *suggestion) column(c *csv.Column) {
	hash, remark := "# ", fmt.Sprintf("%.6g to %.6g", c.Low, c.High)
	switch {
	case c.Numbers == 0 && c.Others == 0:
		remark = "empty"
	case c.Others > 0:
		remark = "text: perhaps segment_column of [time]"
	case c.Low == c.High:
		remark = fmt.Sprintf("%.6g throughout: left out, of what is constant nothing is learned", c.Low)
	default:
		hash = ""
	}
	if c.NumbersSegments() {
		hash, remark = "# ", remark+": perhaps segment_column of [time]"
	}
	role := channel.State
	switch why := s.noState(c); {
	case drives(c.Name, c.Unit):
		role = channel.Input
	case containsAny(c.Name, "bat", "temp"):
		role = channel.Aux
	case hash == "" && why != "":
		hash, remark = "# ", remark+": "+why
	case hash == "":
		s.states++
	}
	s.text.WriteString("\n")
	s.channel(hash, " # "+remark, c.Name, fmt.Sprintf("column = %q", c.Column), c.Unit, role, c.Turns)
}

// noState returns why a column is proposed as no state, though it varies; "" = it is.
func (s *suggestion) noState(c *csv.Column) string {
	name := strings.ToLower(c.Name)
	switch {
	case c.Same != "":
		return "nearly the values of " + c.Same
	case containsAny(name, "acc") || channel.SameUnit(c.Unit, "m/s^2") || slices.ContainsFunc([]string{"_ax", "_ay", "_az"}, func(end string) bool { return strings.HasSuffix(name, end) }):
		return "an acceleration, which follows from states and inputs"
	case s.angled && c.Low >= -1.01 && c.High <= 1.01 && len(name) > 1 && slices.Contains([]string{"qw", "qx", "qy", "qz"}, name[len(name)-2:]):
		return "of a quaternion; there are roll, pitch and yaw"
	case s.states >= suggestStates:
		return fmt.Sprintf("the first %d states are proposed", suggestStates)
	}
	return ""
}

// hasAngles reports whether a table has columns of roll, pitch and yaw.
func hasAngles(columns []csv.Column) bool {
	return !slices.ContainsFunc([]string{"roll", "pitch", "yaw"}, func(angle string) bool {
		return !slices.ContainsFunc(columns, func(c csv.Column) bool { return strings.HasSuffix(strings.ToLower(c.Name), angle) })
	})
}

// drives reports whether a column is called as what drives a robot is, or is a torque or a force
// by its unit. A measured voltage or current is a state by its name alone.
func drives(name, unit string) bool {
	if channel.SameUnit(unit, "N m") || channel.SameUnit(unit, "N") {
		return true
	}
	if containsAny(name, "cmd", "command", "input", "torque", "motor", "pwm", "thrust", "throttle", "setpoint", "actuator", "ctrl", "control", "force") {
		return true
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(words, func(w string) bool {
		return w == "tau" || w == "duty" || w == "servo" || w == "rudder" || w == "aileron" || w == "elevator" || w == "steer" || w == "steering" ||
			w == "u" && !channel.SameUnit(unit, "m/s") // a velocity of the body is called so, too
	})
}
