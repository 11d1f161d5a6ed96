package importer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// presetFor returns the text of the preset that fits a log, for the sender that where selects,
// behind a comment on which of its channels are never valid in the log.
func presetFor(m *Map, name string, where Where, all []*seen) (string, error) {
	text, err := PresetText(name)
	if err != nil {
		return "", err
	}
	if where != nil {
		text = strings.Replace(text, "\nvehicle = ", fmt.Sprintf("\nwhere = %s # one of several senders, see the topics below\nvehicle = ", where), 1)
	}
	unknown := neverValid(m, all)
	switch {
	case m.states(unknown) == 0:
		return fmt.Sprintf("# No preset can use this log: all states of %s are never valid in it. It is:\n\n%s", name, text), nil
	case len(unknown) > 0:
		return fmt.Sprintf("# The preset %s fits this log but for %s, which are never valid in it: an\n# import leaves them out. It is:\n\n%s", name, strings.Join(unknown, ", "), text), nil
	}
	return fmt.Sprintf("# The preset %s fits this log. It is:\n\n%s", name, text), nil
}

// likePreset returns the beginning of a map that has the states of a preset which does not fit, and says why.
func likePreset(name string, where Where, f *survey, all []*seen) string {
	why, sender := "", ""
	if m, err := Preset(name); err == nil {
		m.Where, f.kinds = where, m.kinds(all)
		if m, err = m.expand([]*survey{f}); err == nil {
			_, err = bind(m, []*survey{f})
		}
		if wrong, ok := errors.AsType[*mapfile.Error](err); ok {
			why = ": " + wrong.Reason
		}
	}
	if where != nil {
		sender = fmt.Sprintf("where = %s # one of several senders, see the topics below\n", where)
	}
	return fmt.Sprintf("# The states of this log are those of the preset %s, which does not fit it%s.\nlike = %q\n%svehicle = \"robot\"\n", name, why, name, sender)
}

// fitting returns the preset all of whose channels that are not optional are in a
// log, or all states of which are, and its map, or ""; one that uses all of these, before one of which some are never valid. Of a topic with
// several senders the map has one, which where selects.
func fitting(f *survey, all []*seen, states bool) (best *Map, called string, sender Where) {
	senders := []Where{nil}
	for _, c := range f.counts {
		if f.id(c.Topic).sender != "" {
			senders = append(senders, whereOf(c.Topic))
		}
	}
	for _, name := range Presets() {
		for _, where := range senders {
			switch m := fitted(name, where, f, all, states); {
			case m == nil:
			case len(neverValid(m, all)) == 0:
				return m, name, where
			case best == nil:
				best, called, sender = m, name, where
			}
		}
	}
	return best, called, sender
}

// fitted returns the map of a preset for a log, nil where it does not fit.
func fitted(name string, where Where, f *survey, all []*seen, states bool) *Map {
	m, err := Preset(name)
	if err != nil || states && m.Like != "" {
		return nil
	}
	if m.Where = where; states {
		m.Refusals, m.Channels = nil, slices.DeleteFunc(m.Channels, func(c Channel) bool { return c.Role == channel.Input })
	}
	f.kinds = m.kinds(all)
	files := []*survey{f}
	if m, err = m.expand(files); err != nil || len(m.Channels) == 0 {
		return nil
	}
	if _, err := bind(m, files); err != nil {
		return nil
	}
	return m
}

// ofOneRobot returns a comment on the preset that fits the topics of one namespace, where several robots have one each; "" = none does.
func ofOneRobot(f *survey, all []*seen) string {
	defer func() { f.chosen = nil }()
	var spaces []string
	for _, x := range all {
		if own, rest := namespace(x.count.Topic.Name); rest != "" && !slices.Contains(spaces, own) {
			spaces = append(spaces, own)
		}
	}
	for _, own := range spaces {
		f.chosen = nil
		flags := ""
		for _, x := range all {
			t := x.count.Topic
			if of, _ := namespace(t.Name); of != own {
				continue
			}
			f.chosen = append(f.chosen, t.Name)
			if slices.ContainsFunc(all, func(o *seen) bool { return o.count.Topic.Kind == t.Kind && o.count.Topic.Name != t.Name }) {
				flags += " --topic " + t.Name
			}
		}
		if _, name, _ := fitting(f, all, false); name != "" {
			return fmt.Sprintf("# The preset %s fits the topics of %s: import with --preset %s%s; or by this map:\n#\n", name, own, name, flags)
		}
	}
	return ""
}

// namespace returns the first part of the name of a topic of ROS, as that of a robot, and what is behind it.
func namespace(topic string) (own, rest string) {
	own, rest, _ = strings.Cut(strings.Trim(topic, "/"), "/")
	return own, rest
}

// kinds returns for the refusals of a map, by their numbers, the values of their fields.
func (m *Map) kinds(all []*seen) map[int]float64 {
	out := map[int]float64{}
	for i := range m.Refusals {
		r := &m.Refusals[i]
		for _, x := range all {
			k := slices.IndexFunc(x.fields, func(f telemetry.Field) bool { return f.Path == r.Field })
			if k >= 0 && r.reads(x.count.Topic) {
				out[i] = x.high[k]
			}
		}
	}
	return out
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
