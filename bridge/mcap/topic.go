package mcap

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/dgm-robotics/dgm/bridge/cdr"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// topic makes a topic of a channel at its first message.
func (r *Reader) topic(at int64, ch channel, first []byte) (*subscription, error) {
	s := &subscription{}
	sc := r.schemas[ch.schema]
	if sc == nil {
		sc = &mcap.Schema{}
	}
	var why error
	switch {
	case ch.encoding != "cdr":
		why = fmt.Errorf("messages in %q are not read, only cdr is: record it with ROS 2's own encoding, or export the topic as a table", ch.encoding)
	case sc.Name == "":
		why = fmt.Errorf("its schema %d is not in the file", ch.schema)
	default:
		if s.t, why = cdr.Parse(sc.Encoding, sc.Name, sc.Data); why != nil {
			s.t = nil
			r.Report.Add(at, "schema", "%s: %v; messages of %s are only counted", sc.Name, why, ch.topic)
		}
	}
	// The first message shows how long its arrays are.
	sample := bytes.Clone(first[:min(len(first), maxSample)])
	s.topic = &telemetry.Topic{Name: ch.topic, Kind: kindName(sc.Name), Instance: r.names[ch.topic], Seq: len(r.topics), Unread: why,
		Fields: func() []telemetry.Field { return list(s.t, sample) },
		Texts:  func(path string) []string { return texts(s.t, sample, path) },
		Check: func(path string) error {
			if s.t == nil {
				return why
			}
			return s.t.Check(path)
		},
	}
	r.names[ch.topic]++
	if s.t != nil {
		for _, path := range [][]string{{"header.stamp.sec", "header.stamp.nanosec"}, {"stamp.sec", "stamp.nanosec"}} {
			if c, err := cdr.NewReader(s.t, path); err == nil && s.stamp == nil {
				s.stamp = c
				s.topic.Clock = ch.topic
			}
		}
	}
	paths := r.Wants.Paths(s.topic)
	for _, path := range paths {
		if err := s.topic.Check(path); err != nil {
			return nil, telemetry.NewFieldError(r.Path, s.topic, path, err.Error())
		}
	}
	if len(paths) > 0 {
		var err error
		if s.fields, err = cdr.NewReader(s.t, paths); err != nil {
			return nil, fmt.Errorf("%s: topic %s: %w", r.Path, s.topic, err)
		}
		s.values = make([]float64, len(paths))
	}
	return s, nil
}

// maxSample is how much of a topic's first message is kept, to list its fields.
const maxSample = 64 << 10

// kindName writes the name of a type as ROS 2 does: package/msg/Name.
func kindName(name string) string {
	if parts := strings.Split(name, "/"); len(parts) == 2 {
		return parts[0] + "/msg/" + parts[1]
	}
	return name
}

func list(t *cdr.Type, msg []byte) (out []telemetry.Field) {
	if t == nil {
		return nil
	}
	// The message may be cut off where it was too long to be kept: the fields up
	// to there are listed.
	_ = t.Visit(msg, func(path string, _ float64) bool {
		out = append(out, telemetry.Field{Path: path})
		return len(out) < telemetry.MaxFields
	}, func(string, string) bool { return true })
	return out
}

// texts returns the texts of an array of a message.
func texts(t *cdr.Type, msg []byte, array string) (out []string) {
	if t == nil {
		return nil
	}
	_ = t.Visit(msg, func(string, float64) bool { return true }, func(path, s string) bool {
		if name, _, ok := strings.Cut(path, "["); ok && name == array || path == array {
			out = append(out, s)
		}
		return len(out) < telemetry.MaxFields
	})
	return out
}
