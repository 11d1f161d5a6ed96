package importer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// choose returns the first source of a channel that is in all files, or why none
// is.
func choose(c *Channel, files []*survey) (s *Source, id topicID, why []string) {
	for _, s := range c.sources() {
		id, reason := find(s, s.paths(), files)
		if reason == "" {
			return s, id, nil
		}
		if !slices.Contains(why, reason) {
			why = append(why, reason)
		}
	}
	return nil, topicID{}, why
}

// find returns the topic that a source names, by its type or with the lowest
// instance whose fields are not one value throughout, that all files have with these
// fields; else the reason why there is none. Of several senders the source must name one.
func find(s *Source, paths []string, files []*survey) (id topicID, reason string) {
	what := "topic " + s.Topic
	if s.Type != "" {
		what = "a topic of type " + s.Type
	}
	if s.Instance != nil {
		what += fmt.Sprintf("#%d", *s.Instance)
	}
	for _, f := range files {
		if other := s.When.contradicted(f); other != "" {
			return id, what + " does not count: " + other
		}
	}
	all := match(s, files[0])
	if len(all) == 0 {
		return id, what + " is not in " + files[0].base()
	}
	if names := namesOf(all); len(names) > 1 {
		return id, fmt.Sprintf("several topics are of type %s: %s; choose with --topic, or name one as topic in a map", s.Type, strings.Join(names, ", "))
	}
	if chosen := slices.DeleteFunc(slices.Clone(all), func(c *telemetry.Count) bool { return !s.prefer.selects(c.Topic) }); len(s.Where) == 0 && len(chosen) > 0 {
		all = chosen
	}
	if len(s.Where) > 0 {
		if all = slices.DeleteFunc(slices.Clone(all), func(c *telemetry.Count) bool { return !s.Where.selects(c.Topic) }); len(all) == 0 {
			return id, fmt.Sprintf("%s has no messages where %s; there are: %s", what, s.Where, sendersOf(match(s, files[0])))
		}
	}
	id = lowest(all, files[0])
	same := slices.DeleteFunc(slices.Clone(all), func(c *telemetry.Count) bool {
		other := files[0].id(c.Topic)
		return other.instance != id.instance || other.sender == ""
	})
	if id.sender != "" && len(same) > 1 {
		return id, fmt.Sprintf("topic %s has messages of several senders: %s; select one, as in where = %s, or --where", id.name, sendersOf(same), whereOf(same[0].Topic))
	}
	for _, f := range files {
		c := f.find(id)
		if c == nil {
			return id, fmt.Sprintf("topic %s is not in %s", id, f.base())
		}
		for _, p := range paths {
			if err := c.Topic.Check(p); err != nil {
				return id, fmt.Sprintf("topic %s: field %q: %v", id, p, err)
			}
		}
	}
	return id, ""
}

// ambiguous reports whether several topics of a file are of a type that the channel names: it is
// not left out, for one of them may be meant.
func (c *Channel) ambiguous(f *survey) bool {
	return slices.ContainsFunc(c.sources(), func(s *Source) bool { return len(namesOf(match(s, f))) > 1 })
}

// match returns the topics of a file that a source could mean, the lowest instance first.
func match(s *Source, f *survey) (all []*telemetry.Count) {
	for _, c := range f.counts { // they are sorted
		t := c.Topic
		switch {
		case s.id != nil && f.id(t) != *s.id,
			t.Name != s.Topic && (s.Type == "" || t.Kind != s.Type),
			s.Instance != nil && t.Instance != *s.Instance,
			s.Topic == "" && f.passesOver(t):
			continue
		}
		all = append(all, c)
	}
	return all
}

// passesOver reports whether another topic of the type of t was chosen.
func (f *survey) passesOver(t *telemetry.Topic) bool {
	return !slices.Contains(f.chosen, t.Name) && slices.ContainsFunc(f.counts, func(c *telemetry.Count) bool {
		return c.Topic.Kind == t.Kind && slices.Contains(f.chosen, c.Topic.Name)
	})
}

// lowest returns which of the topics of one name is meant: an instance that has one value
// throughout is of a sensor or an output that is not connected.
func lowest(all []*telemetry.Count, f *survey) topicID {
	slices.SortStableFunc(all, func(a, b *telemetry.Count) int { // who sends nearly all stands for the topic
		if f.id(a.Topic).sender == "" && f.id(b.Topic).sender != "" && a.Topic.Instance == b.Topic.Instance {
			return -1
		}
		return 0
	})
	id := f.id(all[0].Topic)
	if f.moves[id] {
		return id
	}
	for _, c := range all {
		if other := f.id(c.Topic); f.moves[other] && (other.sender == "") == (id.sender == "") {
			return other
		}
	}
	return id
}

// selects reports whether the messages of a topic have the texts.
func (w Where) selects(t *telemetry.Topic) bool {
	for path, value := range w {
		if !slices.Contains(t.Sender, telemetry.Text{Path: path, Value: value}) {
			return false
		}
	}
	return true
}

// sendersOf lists senders with their messages.
func sendersOf(all []*telemetry.Count) string {
	var texts []string
	for _, c := range all[:min(len(all), 12)] {
		texts = append(texts, fmt.Sprintf("%s (%d messages)", whereOf(c.Topic), c.N))
	}
	if n := len(all) - 12; n > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(texts, ", ")
}

// whereOf returns what selects a topic.
func whereOf(t *telemetry.Topic) Where {
	w := Where{}
	for _, x := range t.Sender {
		w[x.Path] = x.Value
	}
	return w
}

// expand returns the map with a channel for each text of an array, as the name
// of a joint, where a channel requires it.
func (m *Map) expand(files []*survey) (*Map, error) {
	if err := m.refuse(files); err != nil {
		return nil, err
	}
	out := *m
	out.Channels = nil
	for i := range m.Channels {
		c := &m.Channels[i]
		for _, s := range c.sources() {
			s.prefer = m.Where
		}
		if c.Each == "" {
			driven, err := m.drive(c, files)
			if err != nil {
				return nil, err
			}
			out.Channels = append(out.Channels, driven)
			continue
		}
		all, why := c.expand(files)
		if len(all) == 0 && !c.Optional {
			return nil, &mapfile.Error{File: m.file, Field: "channel " + c.Name, Reason: why, Remedy: "correct each, or name the channels one by one"}
		}
		out.Channels = append(out.Channels, all...)
	}
	return &out, nil
}

// expand returns a channel for each text of the array, of all senders of the topic.
func (c *Channel) expand(files []*survey) (all []Channel, why string) {
	topics := slices.DeleteFunc(match(&c.Source, files[0]), func(t *telemetry.Count) bool { return !c.Where.selects(t.Topic) })
	if names := namesOf(topics); len(names) > 1 {
		return nil, fmt.Sprintf("several topics are of type %s: %s; choose with --topic, or name one as topic in a map", c.Type, strings.Join(names, ", "))
	}
	if len(topics) == 0 {
		_, why := find(&c.Source, nil, files)
		return nil, why
	}
	for _, count := range topics {
		t, id := count.Topic, files[0].id(count.Topic)
		var texts []string
		if t.Texts != nil {
			texts = t.Texts(c.Each)
		}
		if len(texts) == 0 {
			why = fmt.Sprintf("topic %s has no texts in %s", id, c.Each)
		}
		for _, text := range texts {
			name, number := strings.NewReplacer("{}", text), strings.NewReplacer("{}", c.Each+"="+text)
			e := *c
			e.Each, e.id = "", &id
			e.Name, e.Derivative = name.Replace(c.Name), name.Replace(c.Derivative)
			e.Field, e.Times = number.Replace(c.Field), number.Replace(c.Times)
			if err := t.Check(e.Field); err != nil {
				return nil, fmt.Sprintf("topic %s: field %q: %v", id, e.Field, err)
			}
			all = append(all, e)
		}
	}
	return all, why
}

// drive returns a channel with the motors that the settings of the robot name.
func (m *Map) drive(c *Channel, files []*survey) (Channel, error) {
	out := *c
	out.Or = slices.Clone(c.Or)
	for _, s := range out.sources() {
		if s.Outputs == nil || files[0].named(s) == nil {
			continue
		}
		motors, known, other := s.Outputs.motors(files[0])
		if !known {
			return out, nil
		}
		for _, f := range files[1:] {
			if there, also, _ := s.Outputs.motors(f); also && !slices.Equal(there, motors) {
				return out, m.wrong("channel "+c.label(), fmt.Sprintf("%s and %s have the motors on other outputs", files[0].base(), f.base()), "import them one by one")
			}
		}
		var names, fields []string
		for i, n := range motors {
			if n > 0 {
				names, fields = append(names, s.Outputs.name(c, i)), append(fields, s.Outputs.field(n))
			}
		}
		if len(names) == 0 {
			return out, m.wrong("channel "+c.label(), fmt.Sprintf("by its settings %s has no motor on any output (%s = %d): %s", files[0].base(), strings.ReplaceAll(s.Outputs.Parameter, "{}", "n"), s.Outputs.Functions[0], other),
				"write a map of its own: dgm-bridge topics "+files[0].path+" --suggest")
		}
		source := *s
		source.Fields, source.Outputs, source.Unit = fields, nil, cmp.Or(s.Unit, c.Unit)
		out.Name, out.Names, out.Source, out.Or = "", names, source, nil
		return out, nil
	}
	return out, nil
}

// named returns the first topic that a source names, nil without one.
func (f *survey) named(s *Source) *telemetry.Count {
	for _, c := range match(s, f) {
		return c
	}
	return nil
}
