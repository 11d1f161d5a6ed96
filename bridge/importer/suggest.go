package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// What a suggestion looks at.
const (
	suggestFields = 200  // fields of one topic
	suggestAll    = 8000 // fields of all topics
	suggestStates = 24   // channels that are not commented out
)

// seen is what a suggestion knows of a topic.
type seen struct {
	count     *telemetry.Count
	fields    []telemetry.Field
	low, high []float64
}

// Suggest reads a log and writes a map of what is in it: the preset that fits, or
// the topic that looks most like a state, and everything else commented out, with
// the range of its values. tell, if not nil, is called now and then with the share
// that is read.
func Suggest(ctx context.Context, w io.Writer, path string, open func(string, telemetry.Wants) (telemetry.Source, error), tell func(float64)) error {
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
	counts, err := telemetry.Survey(ctx, s, tell, func(m *telemetry.Message) {
		x := all[m.Topic.Seq]
		for i, v := range m.Values {
			x.low[i], x.high[i] = math.Min(x.low[i], v), math.Max(x.high[i], v) // NaN stays: it says that the field is not a plain number
		}
	})
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	for _, c := range counts {
		all[c.Topic.Seq].count = c
	}
	all = slices.DeleteFunc(all, func(x *seen) bool { return x.count == nil })
	return suggest(w, &survey{path: path, counts: counts, first: map[phaseKey]bool{}, moves: map[topicID]bool{}}, all)
}

// suggest writes the map.
func suggest(w io.Writer, f *survey, all []*seen) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# What is in %s. Take the # away from what you want, and correct it: role, unit,\n# axes, and period = 6.283185307179586 of an angle.\n\n", f.base())
	active := -1
	if name := fitting(f); name != "" {
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
	_, err := io.WriteString(w, b.String())
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

// varies says whether field k has more than one value and is no time.
func (x *seen) varies(k int) bool {
	name := strings.ToLower(x.fields[k].Path)
	for _, word := range []string{"timestamp", "time_us", "time_boot", "timeus", "timems", "stamp.", "sampleus", "covariance"} {
		if strings.Contains(name, word) {
			return false
		}
	}
	return x.high[k] > x.low[k]
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
		fmt.Fprintf(b, "%s[[channel]]\n%sname = %s\n%stopic = %s\n", hash, hash, strconv.Quote(channelName(f.Path)), hash, strconv.Quote(t.Name))
		if t.Instance != 0 {
			fmt.Fprintf(b, "%sinstance = %d\n", hash, t.Instance)
		}
		fmt.Fprintf(b, "%sfield = %s # %.4g to %.4g\n", hash, strconv.Quote(f.Path), x.low[k], x.high[k])
		if f.Unit != "" {
			fmt.Fprintf(b, "%sunit = %s\n", hash, strconv.Quote(f.Unit))
		}
		fmt.Fprintf(b, "%srole = \"state\"\n", hash)
	}
	if written == 0 {
		b.WriteString("# nothing in it varies\n")
	}
}

// channelName makes the name of a channel of a path: its last parts, unique
// within a topic.
func channelName(path string) string {
	return strings.NewReplacer("[", "_", "]", "", ".", "_", "/", "_").Replace(path)
}
