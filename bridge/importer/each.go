package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// expand returns the map with a channel for each text of an array, as the name
// of a joint, where a channel asks for that.
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
			return nil, &mapfile.Error{File: m.file, Field: "channel " + c.Name, Reason: why, Mend: "correct each, or name the channels one by one"}
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
		put := strconv.Itoa(n)
		e := *c
		e.Each = ""
		e.Name = strings.ReplaceAll(c.Name, "{}", text)
		e.Derivative = strings.ReplaceAll(c.Derivative, "{}", text)
		e.Field = strings.ReplaceAll(c.Field, "{}", put)
		e.Times = strings.ReplaceAll(c.Times, "{}", put)
		if !slices.ContainsFunc(there, func(f telemetry.Field) bool { return f.Path == e.Field }) {
			return nil, fmt.Sprintf("topic %s: %s is not in its first message", id, e.Field)
		}
		all = append(all, e)
	}
	return all, ""
}
