package importer

import (
	"fmt"
	"slices"
	"strconv"
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
// fields; else the reason why there is none.
func find(s *Source, paths []string, files []*survey) (id topicID, reason string) {
	what := "topic " + s.Topic
	if s.Type != "" {
		what = "a topic of type " + s.Type
	}
	if s.Instance != nil {
		what += fmt.Sprintf("#%d", *s.Instance)
	}
	id, names := match(s, files[0])
	if len(names) == 0 {
		return id, what + " is not in " + files[0].base()
	}
	if len(names) > 1 {
		return id, fmt.Sprintf("several topics are of type %s: %s; name one as topic", s.Type, strings.Join(names, ", "))
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

// match returns the names of the topics of a file that a source could mean, and which
// of the first name is meant: an instance that has one value throughout is of a
// sensor or an output that is not connected.
func match(s *Source, f *survey) (id topicID, names []string) {
	moves := false
	for _, c := range f.counts { // they are sorted: the lowest instance comes first
		t := c.Topic
		if t.Name != s.Topic && (s.Type == "" || t.Kind != s.Type) || s.Instance != nil && t.Instance != *s.Instance {
			continue
		}
		if names = append(names, t.Name); len(names) == 1 || !moves && f.moves[idOf(t)] {
			id, moves = idOf(t), f.moves[idOf(t)]
		}
	}
	return id, slices.Compact(names)
}

// expand returns the map with a channel for each text of an array, as the name
// of a joint, where a channel requires it.
func (m *Map) expand(files []*survey) (*Map, error) {
	out := *m
	out.Channels = nil
	for i := range m.Channels {
		c := &m.Channels[i]
		if c.Each == "" {
			out.Channels = append(out.Channels, *c)
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

func (c *Channel) expand(files []*survey) (all []Channel, why string) {
	id, reason := find(&c.Source, nil, files)
	if reason != "" {
		return nil, reason
	}
	t := files[0].find(id).Topic
	var texts []string
	if t.Texts != nil {
		texts = t.Texts(c.Each)
	}
	if len(texts) == 0 {
		return nil, fmt.Sprintf("topic %s has no texts in %s", id, c.Each)
	}
	there := t.Fields()
	for n, text := range texts {
		name, number := strings.NewReplacer("{}", text), strings.NewReplacer("{}", strconv.Itoa(n))
		e := *c
		e.Each = ""
		e.Name, e.Derivative = name.Replace(c.Name), name.Replace(c.Derivative)
		e.Field, e.Times = number.Replace(c.Field), number.Replace(c.Times)
		if !slices.ContainsFunc(there, func(f telemetry.Field) bool { return f.Path == e.Field }) {
			return nil, fmt.Sprintf("topic %s: %s is not in its first message", id, e.Field)
		}
		all = append(all, e)
	}
	return all, ""
}
