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
	listed    int            // fields that were listed
	contents  contents
	numbers   []*numbering // of fields: those that may number senders, else nil
	last      []float64    // of fields
	falls     []int        // how often they do
}

// Suggest reads a log and writes a map of its contents: the preset that fits, or the fields of the topic that
// looks most like a state; the other topics are listed with their rates. A nil open means a text table: its
// first rows show the time and the columns. progress, if not nil, is called now and then with the share that is
// read.
func Suggest(ctx context.Context, w io.Writer, path string, open telemetry.Opener, progress func(float64)) error {
	if open == nil {
		return SuggestTable(w, path, nil)
	}
	f := &survey{path: path, settings: map[string][]float64{}}
	numbers := numberings{}
	all, err := look(ctx, f, open, progress, nil, numbers)
	if f.senders = numbers.found(); err == nil && len(f.senders) > 0 {
		all, err = look(ctx, f, open, progress, nil, nil)
	}
	if err == nil && slices.ContainsFunc(all, func(x *seen) bool { return len(x.fields) < suggestFields && len(x.count.Topic.Fields()) > x.listed }) {
		all, err = look(ctx, f, open, progress, all, nil) // arrays were empty at first
	}
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(x *seen) bool { return len(x.fields) > 0 }) {
		return &mapfile.Error{File: path, Reason: "no field of its topics can be read, so no map can be written", Remedy: "dgm-bridge topics " + path + " lists why"}
	}
	var b strings.Builder
	every := all
	all, repeated := relays(every)
	b.WriteString(unused(repeated))
	counts := make([]*telemetry.Count, len(all))
	for i, x := range all {
		counts[i] = x.count
	}
	f.identify(counts, &Map{})
	if m, name, where := fitting(f, all, false); name != "" {
		text, err := presetFor(m, name, where, all)
		if err != nil {
			return err
		}
		b.WriteString(chosen(text, repeated) + undriven(m, f, all))
	} else if m, name, where := fitting(f, all, true); name != "" {
		b.WriteString(likePreset(name, where, f, all) + undriven(m, f, all))
	} else {
		b.WriteString(ofOneRobot(f, all) + beginning(path, all))
	}
	b.WriteString("\n# All topics; dgm-bridge topics --fields lists their fields:\n")
	for _, x := range every {
		fmt.Fprintf(&b, "#   %-40s %8d messages, %.4g Hz%s\n", x.count.Topic, x.count.N, x.count.Rate(), senderNote(x.count.Topic))
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// undriven returns channels of what seems to drive the robot, where no message has an input of the preset that fits.
func undriven(m *Map, f *survey, all []*seen) string {
	s, why := suggestion{commanded: hasCommands(all)}, ""
	for i := range m.Channels {
		c := &m.Channels[i]
		if s.names = append(s.names, c.names()...); c.Role == channel.Input {
			why = "No input of the preset is in this log. "
		}
		if c.Role == channel.Input && slices.ContainsFunc(c.sources(), func(s *Source) bool { return s.given(f, all) }) {
			return ""
		}
	}
	s.commands(all, "")
	for _, x := range all {
		if kind := x.count.Topic.Kind; strings.HasSuffix(kind, "JointTrajectory") || strings.HasSuffix(kind, "nav_msgs/msg/Path") {
			fmt.Fprintf(&s.text, "\n# %s (%s) has plans, whose points are no inputs: record what the controller makes of them, its reference.\n", x.count.Topic, kind)
		}
	}
	if s.text.Len() == 0 {
		return ""
	}
	return "\n# " + why + "What seems to drive the robot:\n" + s.text.String()
}

// given reports whether messages have values of the fields of a source, or of the array that they are in.
func (s *Source) given(f *survey, all []*seen) bool {
	stem := func(path string) string { before, _, _ := strings.Cut(path, "["); return before }
	return slices.ContainsFunc(match(s, f), func(c *telemetry.Count) bool {
		x := all[slices.IndexFunc(all, func(x *seen) bool { return x.count == c })]
		return slices.ContainsFunc(s.paths(), func(path string) bool {
			return slices.ContainsFunc(x.fields, func(f telemetry.Field) bool { return stem(f.Path) == stem(path) })
		})
	})
}

// commands adds the channels of the topics that drive the robot, but for one, and for those of other robots: of another namespace than
// that one, where its own has such a topic, too.
func (s *suggestion) commands(all []*seen, but string) {
	space := func(name string) (own, rest string) {
		own, rest, _ = strings.Cut(strings.Trim(name, "/"), "/")
		return own, rest
	}
	own, _ := space(but)
	others := func(t *telemetry.Topic) bool {
		of, rest := space(t.Name)
		return rest != "" && of != own && slices.ContainsFunc(all, func(x *seen) bool { return strings.Trim(x.count.Topic.Name, "/") == own+"/"+rest })
	}
	for _, x := range all {
		if t := x.count.Topic; t.Name != but && drives(t.Name, "") && x.count.N > 1 && !others(t) {
			s.topic(x, slices.ContainsFunc(all, func(o *seen) bool {
				return o != x && o.count.Topic.Name == t.Name && o.count.Topic.Instance == t.Instance
			}))
		}
	}
}

// hasCommands reports whether some topic has a field that varies and is called as a command is.
func hasCommands(all []*seen) bool {
	return slices.ContainsFunc(all, func(x *seen) bool {
		for k, f := range x.fields {
			if x.varies(k) && commands(x.count.Topic.Name+"/"+f.Path) {
				return true
			}
		}
		return false
	})
}

// beginning returns a map to correct, where no preset fits: of the topic that looks most like a
// state, from all its senders, and of the topics that drive the robot.
func beginning(path string, all []*seen) string {
	s := suggestion{commanded: hasCommands(all)}
	if len(all) > 0 {
		best := all[likely(all)].count.Topic
		senders := slices.DeleteFunc(slices.Clone(all), func(x *seen) bool { return x.count.Topic.Name != best.Name || x.count.Topic.Instance != best.Instance })
		now, other := together(senders, all[likely(all)])
		for _, x := range now {
			s.topic(x, len(senders) > 1)
		}
		for _, x := range other {
			fmt.Fprintf(&s.text, "\n# %s is sent by another one before or after that, where = %s: write a map for each, and import the parts by themselves.\n", x.count.Topic, whereOf(x.count.Topic))
		}
		s.commands(all, best.Name)
	}
	return fmt.Sprintf("# A first map for %s: the topic that looks most like a state. Correct\n# it: role, unit, axes.\n%s\nvehicle = \"robot\"\n%s", filepath.Base(path), s.angles(), s.text.String())
}

// together returns the senders of a topic whose messages are in the time of one of them, and the others.
func together(senders []*seen, of *seen) (now, other []*seen) {
	for _, x := range senders {
		if a, b := x.count, of.count; a.First <= b.Last && b.First <= a.Last {
			now = append(now, x)
		} else {
			other = append(other, x)
		}
	}
	return now, other
}

// senderNote names the sender of a topic behind what is said of it.
func senderNote(t *telemetry.Topic) string {
	if len(t.Sender) == 0 {
		return ""
	}
	return ", where = " + whereOf(t).String()
}

// look reads the topics of a log and the ranges of their fields, and puts into the survey what the robot is by its settings
// and texts. before, if not nil, is what it returned before, whose topics list more fields now. numbers, if not nil, receives
// those that may number senders.
func look(ctx context.Context, f *survey, open telemetry.Opener, progress func(float64), before []*seen, numbers numberings) ([]*seen, error) {
	var all []*seen // by Seq
	total := 0
	s, err := open(f.path, telemetry.Wants{Senders: f.senders, Parameter: func(name string, v float64) {
		if len(f.settings) < maxHistory {
			f.settings[name] = []float64{v}
		}
	}, Text: f.say, Select: func(t *telemetry.Topic) (paths []string) {
		for t.Seq >= len(all) {
			all = append(all, &seen{})
		}
		x, fields := all[t.Seq], t.Fields()
		if i := slices.IndexFunc(before, func(x *seen) bool { return x.count.Topic.Seq == t.Seq }); i >= 0 {
			fields = before[i].count.Topic.Fields()
		}
		x.listed = len(fields)
		for _, f := range fields {
			f.Path = cmp.Or(f.Named, f.Path)
			if len(x.fields) < suggestFields && total < suggestAll && t.Check(f.Path) == nil {
				x.fields, x.turns = append(x.fields, f), append(x.turns, frames.Turns{})
				x.low, x.high = append(x.low, math.Inf(1)), append(x.high, math.Inf(-1))
				x.contents.sure = append(x.contents.sure, !times(f.Path) && !containsAny(f.Path, "seq"))
				x.numbers = append(x.numbers, numbers.field(f.Path))
				x.last, x.falls = append(x.last, math.Inf(-1)), append(x.falls, 0)
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
		x.contents.add(m)
		for i, v := range m.Values {
			x.add(i, v)
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

// add takes a value of field i in.
func (x *seen) add(i int, v float64) {
	if math.IsNaN(v) { // of an element that is not in this message
		return
	}
	x.low[i], x.high[i] = math.Min(x.low[i], v), math.Max(x.high[i], v)
	x.turns[i].Add(v)
	if v < x.last[i] {
		x.falls[i]++
	}
	if x.last[i] = v; x.numbers[i] != nil {
		x.numbers[i].add(v)
	}
}

// whereTheRobotIs is how many times as fast a topic that does not say where the robot, or its joints, are must come to be taken for its
// state: inertial sensors come fast.
const whereTheRobotIs = 20

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
		if drives(x.count.Topic.Name, "") {
			continue
		}
		score := min(x.count.Rate(), 1000) * math.Min(1, float64(n)/3) / math.Max(1, float64(n)/suggestStates)
		if slices.ContainsFunc(x.fields, func(f telemetry.Field) bool {
			return isOf(f.Path)([]string{"position", "positions", "pose", "translation"})
		}) {
			score *= whereTheRobotIs
		}
		if score > most {
			best, most = i, score
		}
	}
	return best
}

// varies reports whether field k has more than one value and is neither a time nor
// something about the message or the estimate.
func (x *seen) varies(k int) bool {
	return x.high[k] > x.low[k] && !x.raw() && !times(x.fields[k].Path) && !x.risesAsTime(k) && !containsAny(x.fields[k].Path, "covariance", "variance", "valid", "reset", "counter", "_count", "error", "flag", "armed", "status", "device_id", "_id", "seq", "std", "innov", "test_ratio")
}

// rawBytes are types whose messages hold bytes of something else: frames of a bus, images, clouds of points.
var rawBytes = []string{"Frame", "Image", "CompressedImage", "PointCloud2", "CustomMsg", "UInt8MultiArray", "ByteMultiArray"}

// raw reports whether messages of a topic are to be decoded first.
func (x *seen) raw() bool {
	kind := x.count.Topic.Kind
	return slices.Contains(rawBytes, kind[strings.LastIndexByte(kind, '/')+1:])
}

// proposes reports whether field k of a topic may be a channel. An acceleration that is no command follows from states and inputs.
func (s *suggestion) proposes(x *seen, k int) bool {
	f := x.fields[k]
	return x.varies(k) && (!accelerates(f.Path, f.Unit) || s.drives(x.count.Topic.Name, f.Path, f.Unit))
}

// topic adds the channels of a topic: the first suggestStates fields that vary. Those that are
// constant are named in a comment. several: it is one of the senders of its name.
func (s *suggestion) topic(x *seen, several bool) {
	t := x.count.Topic
	if x.raw() {
		fmt.Fprintf(&s.text, "\n# Messages of topic %q (%s) hold raw bytes: record what is decoded from them.\n", t.Name, t.Kind)
		return
	}
	written, several := 0, several && len(t.Sender) > 0
	var constant, turned []string
	s.ownTimes(x)
	for k, f := range x.fields {
		if x.low[k] == x.high[k] {
			constant = append(constant, fmt.Sprintf("%s (%.6g)", f.Path, x.low[k]))
		}
		if written == suggestStates || !s.proposes(x, k) || slices.Contains(turned, f.Path) {
			continue
		}
		written++
		where := fmt.Sprintf("topic = %q", t.Name)
		if t.Instance != 0 {
			where += fmt.Sprintf("\ninstance = %d", t.Instance)
		}
		if several {
			where += fmt.Sprintf("\nwhere = %s", whereOf(t))
		}
		if parts := x.quaternion(f.Path); parts != nil && !s.drives(t.Name, f.Path, f.Unit) {
			s.attitude(where, t, parts)
			turned = append(turned, parts...)
			continue
		}
		name := named.ReplaceAllString(f.Path, "_$1")
		if rest, ok := strings.CutPrefix(name, "data"); ok { // of messages of plain numbers
			name = strings.Trim(t.Name, "/") + rest
		}
		if several {
			name = strings.ReplaceAll(t.SenderName(), ", ", "_") + "_" + strings.TrimPrefix(name[strings.LastIndex(name, "].")+1:], ".")
		}
		where += fmt.Sprintf("\nfield = %q # %.4g to %.4g", f.Path, x.low[k], x.high[k])
		unit := cmp.Or(f.Unit, frames.NamedUnit(plainName.Replace(name)))
		name = s.unique(plainName.Replace(name), t.String())
		s.text.WriteString("\n")
		role := channel.State
		if s.drives(t.Name, f.Path, f.Unit) {
			role = channel.Input
		}
		s.channel("", "", name, where, unit, role, x.turns[k])
	}
	if written == 0 {
		fmt.Fprintf(&s.text, "\n# No field of topic %q varies: no motion can be learned from it.\n", t.Name)
	}
	const most = 12
	if n := len(constant); n > most {
		constant = append(constant[:most], fmt.Sprintf("and %d more", n-most))
	}
	if len(constant) > 0 {
		fmt.Fprintf(&s.text, "\n# Left out, the same in all messages: %s.\n", strings.Join(constant, ", "))
	}
}
