package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/csv"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// What a suggestion looks at.
const (
	suggestFields = 200  // fields of one topic
	suggestAll    = 8000 // fields of all topics
	suggestStates = 24   // channels that are not commented out
)

// seen is what a suggestion has read of a topic.
type seen struct {
	count     *telemetry.Count
	fields    []telemetry.Field
	low, high []float64 // of fields
}

// Suggest reads a log and writes a map of what is in it: the preset that fits, or
// the topic that looks most like a state, and everything else commented out, with
// the range of its values. A nil open is of a table of text: its first rows show the
// time and the columns. progress, if not nil, is called now and then with the share
// that is read.
func Suggest(ctx context.Context, w io.Writer, path string, open telemetry.Opener, progress func(float64)) error {
	if open == nil {
		return suggestTable(w, path)
	}
	var all []*seen // by Seq
	total := 0
	s, err := open(path, telemetry.Wants{Select: func(t *telemetry.Topic) (paths []string) {
		for t.Seq >= len(all) {
			all = append(all, &seen{})
		}
		x := all[t.Seq]
		for _, f := range t.Fields() {
			if len(x.fields) < suggestFields && total < suggestAll && t.Check(f.Path) == nil {
				x.fields = append(x.fields, f)
				x.low, x.high = append(x.low, math.Inf(1)), append(x.high, math.Inf(-1))
				paths = append(paths, f.Path)
				total++
			}
		}
		return paths
	}})
	if err != nil {
		return err
	}
	counts, err := telemetry.Survey(ctx, s, progress, func(m *telemetry.Message) {
		x := all[m.Topic.Seq]
		for i, v := range m.Values {
			x.low[i], x.high[i] = math.Min(x.low[i], v), math.Max(x.high[i], v) // NaN stays: the field is not a plain number
		}
	})
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	for _, c := range counts {
		all[c.Topic.Seq].count = c
	}
	all = slices.DeleteFunc(all, func(x *seen) bool { return x.count == nil })
	var b strings.Builder
	fmt.Fprintf(&b, "# What is in %s. Take the # away from what you want, and correct it: role, unit,\n# axes, and period = 6.283185307179586 of an angle.\n\n", filepath.Base(path))
	active := -1
	if name := fitting(&survey{path: path, counts: counts}); name != "" {
		text, err := PresetText(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "# The preset %s fits this log. It is:\n\n%s", name, text)
	} else {
		b.WriteString("vehicle = \"robot\"\n")
		active = likely(all)
	}
	for i, x := range all {
		x.write(&b, i == active)
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// fitting returns the preset all of whose channels that are not optional are in a
// log, or "".
func fitting(f *survey) string {
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
			return name
		}
	}
	return ""
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

// varies reports whether field k has more than one value and is no time.
func (x *seen) varies(k int) bool {
	return x.high[k] > x.low[k] && !containsAny(x.fields[k].Path,
		"timestamp", "time_us", "time_boot", "timeus", "timems", "stamp.", "sampleus", "covariance")
}

// write writes the channels of a topic, commented out unless active.
func (x *seen) write(b *strings.Builder, active bool) {
	t := x.count.Topic
	fmt.Fprintf(b, "\n# %s: %d messages, %.4g Hz", t, x.count.N, x.count.Rate())
	if t.Kind != "" {
		fmt.Fprintf(b, ", %s", t.Kind)
	}
	b.WriteString("\n")
	hash := "# "
	if active {
		hash = ""
	}
	written := 0
	for k, f := range x.fields {
		if !x.varies(k) && !(active && written == 0 && k == len(x.fields)-1) {
			continue
		}
		if active && written >= suggestStates {
			hash = "# "
		}
		written++
		where := fmt.Sprintf("topic = %q", t.Name)
		if t.Instance != 0 {
			where += fmt.Sprintf("\ninstance = %d", t.Instance)
		}
		where += fmt.Sprintf("\nfield = %q # %.4g to %.4g", f.Path, x.low[k], x.high[k])
		name := strings.NewReplacer("[", "_", "]", "", ".", "_", "/", "_").Replace(f.Path)
		writeChannel(b, hash, "", name, where, f.Unit, channel.State)
	}
	if written == 0 {
		b.WriteString("# nothing in it varies\n")
	}
}

// writeChannel writes a channel of a map, with hash before each line.
func writeChannel(b *strings.Builder, hash, remark, name, where, unit string, role channel.Role) {
	text := fmt.Sprintf("[[channel]]%s\nname = %q\n%s\n", remark, name, where)
	if unit != "" {
		text += fmt.Sprintf("unit = %q\n", unit)
	}
	text += fmt.Sprintf("role = %q\n", role)
	for line := range strings.Lines(text) {
		b.WriteString(hash + line)
	}
}

// containsAny reports whether a name, in lower case, contains one of the words.
func containsAny(name string, words ...string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) })
}

// suggestTable writes a map of a table: its time, and a channel for each column of
// numbers that vary.
func suggestTable(w io.Writer, path string) error {
	o, err := csv.Look(path)
	if err != nil {
		return err
	}
	how := "guessed from the step"
	if o.Named {
		how = "from the name of the column"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# What is in %s, by its first %d rows. Correct it: roles, units, and\n# period = 6.283185307179586 of an angle.\n", filepath.Base(path), o.Rows)
	fmt.Fprintf(&b, "vehicle = \"robot\"\n\n[time]\ncolumn = %q\nunit = %q # s, ms, us or ns: %s\n", o.Columns[o.Time].Column, o.Unit, how)
	for i := range o.Columns {
		if i != o.Time {
			writeColumn(&b, &o.Columns[i])
		}
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// writeColumn writes the channel of a column, commented out where it cannot be one.
func writeColumn(b *strings.Builder, c *csv.Column) {
	hash, remark := "# ", fmt.Sprintf("%.6g to %.6g", c.Low, c.High)
	switch {
	case c.Numbers == 0 && c.Others == 0:
		remark = "empty"
	case c.Others > 0:
		remark = "text: perhaps segment_column of [time]"
	case c.Low == c.High:
		remark = fmt.Sprintf("%.6g throughout", c.Low)
	default:
		hash = ""
	}
	role := channel.State
	if containsAny(c.Name, "cmd", "command", "input", "torque", "motor", "pwm", "thrust", "setpoint", "actuator", "ctrl") ||
		strings.EqualFold(c.Name, "u") && c.Unit != "m/s" { // a velocity of the body is called so, too
		role = channel.Input
	}
	b.WriteString("\n")
	writeChannel(b, hash, " # "+remark, c.Name, fmt.Sprintf("column = %q", c.Column), c.Unit, role)
}
