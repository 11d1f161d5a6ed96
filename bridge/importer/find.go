package importer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// choose returns the first source of a channel that is in all files, of which some field changes if any source has one, or why none
// is.
func choose(c *Channel, files []*survey) (s *Source, id topicID, why []string) {
	for _, other := range c.sources() {
		at, reason := find(other, other.paths(), files)
		moves := slices.ContainsFunc(files, func(f *survey) bool { return f.moves[at] })
		if reason == "" && (s == nil || moves) {
			s, id = other, at
		}
		if reason == "" && moves {
			break
		}
		if reason != "" && !slices.Contains(why, reason) {
			why = append(why, reason)
		}
	}
	return s, id, why
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
	all, reason := s.among(files[0])
	if len(all) == 0 {
		return id, cmp.Or(reason, what+" is not in "+files[0].base())
	}
	if reason = cmp.Or(reason, s.several(all, files[0])); reason != "" {
		return id, reason
	}
	id = lowest(all, files[0])
	for _, f := range files {
		c := f.find(id)
		if c == nil {
			return id, cmp.Or(s.unclear(f), fmt.Sprintf("topic %s is not in %s", id, f.base()))
		}
		for _, p := range paths {
			if err := c.Topic.Check(p); err != nil {
				reason = fmt.Sprintf("topic %s: field %q: %v", id, p, err)
				if len(files) > 1 {
					reason += " in " + f.base()
				}
				return id, reason
			}
		}
	}
	return id, ""
}

// among returns the topics of a file that a source could mean, of the sender that it or the map
// selects, and what is wrong where there is none, or where they have several names.
func (s *Source) among(f *survey) (all []*telemetry.Count, reason string) {
	there := match(s, f)
	if names := namesOf(there); len(names) > 1 {
		return there, fmt.Sprintf("several topics are of type %s: %s; choose with --topic, or name one as topic in a map", s.Type, strings.Join(names, ", "))
	}
	selected := func(w Where) (all []*telemetry.Count) {
		for _, c := range there {
			if w.selects(c.Topic) {
				all = append(all, c)
			}
		}
		return all
	}
	switch {
	case len(s.Where) == 0:
		if all = selected(s.prefer); len(all) == 0 { // it is about other topics
			all = there
		}
	case len(there) > 0:
		if all = selected(s.Where); len(all) == 0 {
			reason = fmt.Sprintf("topic %s of %s has no messages where %s; there are: %s", there[0].Topic.Name, f.base(), s.Where, sendersOf(there))
		}
	}
	return all, reason
}

// several returns that several senders send what a source means, of which it must select one; "" = they do not.
func (s *Source) several(all []*telemetry.Count, f *survey) string {
	id := lowest(all, f)
	same := slices.DeleteFunc(slices.Clone(all), func(c *telemetry.Count) bool {
		other := f.id(c.Topic)
		return other.instance != id.instance || other.sender == ""
	})
	if id.sender == "" || len(same) < 2 {
		return ""
	}
	return fmt.Sprintf("topic %s of %s has messages of several senders: %s; select one, as in where = %s, or --where", id.name, f.base(), sendersOf(same), Differing(same)[0])
}

// unclear returns which of several topics or senders of a file a source could mean; "" = one, or none.
func (s *Source) unclear(f *survey) string {
	plain := *s
	if s.id != nil { // one of them, of another file
		plain.id, plain.Topic, plain.Type = nil, s.id.name, ""
	}
	all, reason := plain.among(f)
	if len(all) == 0 || reason != "" {
		return reason
	}
	return plain.several(all, f)
}

// unclear returns why the channel is not left out, though it is optional: one of several topics or
// senders may be meant.
func (c *Channel) unclear(files []*survey) (why []string) {
	for _, s := range c.sources() {
		for _, f := range files {
			if reason := s.unclear(f); reason != "" && !slices.Contains(why, reason) {
				why = append(why, reason)
			}
		}
	}
	return why
}

// unselected returns an error where the sender that the map selects sends nothing of what it names.
func (m *Map) unselected(files []*survey) error {
	if len(m.Where) == 0 {
		return nil
	}
	f, named := files[0], false
	var there []*telemetry.Count
	for i := range m.Channels {
		for _, s := range m.Channels[i].sources() {
			for _, c := range match(s, f) {
				if m.Where.selects(c.Topic) || s.Where.selects(c.Topic) && len(s.Where) > 0 {
					return nil
				}
				if named = true; len(c.Topic.Sender) > 0 && !slices.Contains(there, c) {
					there = append(there, c)
				}
			}
		}
	}
	if !named { // what else is wrong is said of the channels
		return nil
	}
	what := "its messages name no sender"
	if len(there) > 0 {
		what = "there are: " + sendersOf(there)
	}
	if m.IsTable() {
		what = "it is a table, whose rows where under [time] selects"
	}
	return m.wrong("where", fmt.Sprintf("no message of %s that the map names has %s; %s", f.base(), m.Where, what), "correct it, or leave --where out")
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

// sendersOf lists senders with their messages.
func sendersOf(all []*telemetry.Count) string {
	var texts []string
	for i, w := range Differing(all)[:min(len(all), 12)] {
		texts = append(texts, fmt.Sprintf("%s (%d messages)", w, all[i].N))
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

// Differing returns what selects each of several topics with one name and several senders: the texts in which
// they differ.
func Differing(all []*telemetry.Count) (out []Where) {
	for _, c := range all {
		w := whereOf(c.Topic)
		for path, value := range whereOf(c.Topic) {
			if len(all) > 1 && !slices.ContainsFunc(all, func(o *telemetry.Count) bool { return whereOf(o.Topic)[path] != value }) {
				delete(w, path)
			}
		}
		out = append(out, w)
	}
	return out
}

// absent returns the error about a channel that has no source in the files. What is damaged of
// them comes first: there may be the source.
func (m *Map) absent(c *Channel, files []*survey, why []string, remedy string) error {
	reason := strings.Join(why, "; ")
	if all := files[0].counts; len(all) > 0 && !slices.ContainsFunc(all, func(c *telemetry.Count) bool { return c.Topic.Unread == nil }) {
		return m.wrong("channel "+cmp.Or(c.label(), c.Name), fmt.Sprintf("no topic of %s can be read: %s", files[0].base(), all[0].Topic.Name), all[0].Topic.Unread.Error())
	}
	for _, f := range files {
		if len(f.problems) > 0 {
			reason = fmt.Sprintf("%s is damaged: %s; in what can be read of it %s", f.base(), f.problems[0], reason)
			remedy = "repair the file, or record it anew; dgm-bridge topics " + f.path + " shows what can be read of it"
			break
		}
	}
	return &mapfile.Error{File: m.file, Field: "channel " + cmp.Or(c.label(), c.Name), Reason: reason, Remedy: remedy}
}

// choosing is the remedy where one of several topics or senders must be chosen.
func (m *Map) choosing(files []*survey) string {
	return "it may be written into a copy of the map (--print-map); what is there shows dgm-bridge topics " + files[0].path
}
