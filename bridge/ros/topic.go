package ros

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/cdr"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Channel describes messages of one topic.
type Channel struct {
	Topic      string
	Type       string // such as nav_msgs/msg/Odometry; "" = not known
	Encoding   string // of the messages: cdr or ros1
	Schema     string // language of the definition, as cdr.Parse knows them
	Definition []byte // of the type and those in it
	Missing    string // (optional) why there is no definition
}

// Subscription is what messages of one name and type have in common, whatever channel
// they come by: after a merge one topic has several.
type Subscription struct {
	name, kind string
	instance   int       // types of one name are counted
	t          *cdr.Type // nil: only counted
	unread     error
	stamp      *cdr.Reader // (optional) seconds and nanoseconds of the header, or µs of PX4
	time       []float64   // what it reads
	clock      string      // whose stamps these are
	who        *identity   // nil: messages do not say who sends them
	senders    []*sender
	byKey      map[string]*sender
	latest     latest
	remembers  bool // latest is kept
	bad        int  // messages that were cut off
}

// Subscribe makes a subscription of a channel that is described at a byte.
func (r *Messages) Subscribe(at int64, ch *Channel) *Subscription {
	key := ch.Topic + "\x00" + ch.Type + "\x00" + ch.Encoding
	if s := r.subscriptions[key]; s != nil {
		return s
	}
	s := &Subscription{name: ch.Topic, kind: kindName(ch.Type), instance: r.names[ch.Topic], byKey: map[string]*sender{}}
	r.names[ch.Topic]++
	r.subscriptions[key] = s
	switch {
	case ch.Encoding != "cdr" && ch.Encoding != "ros1":
		s.unread = fmt.Errorf("messages in %q are not read, only cdr is: record it with ROS 2's own encoding, or export the topic as a table", ch.Encoding)
	case ch.Missing != "":
		s.unread = errors.New(ch.Missing)
	default:
		if s.t, s.unread = cdr.Parse(ch.Schema, ch.Type, ch.Definition); s.unread != nil {
			s.t = nil
			r.report.Add(at, "schema", "%s: %v; messages of %s are only counted", ch.Type, s.unread, ch.Topic)
		}
	}
	if s.t == nil {
		return s
	}
	s.who = identify(s.t, r.wants.Senders)
	s.remembers = s.who != nil && s.who.elements == "" && s.t.Stamped()
	prefix := ""
	if s.who != nil && s.who.elements != "" {
		prefix = s.who.elements + "[0]."
	}
	for _, path := range [][]string{{prefix + "header.stamp.sec", prefix + "header.stamp.nanosec"}, {"header.stamp.sec", "header.stamp.nanosec"}, {"stamp.sec", "stamp.nanosec"}} {
		if c, err := cdr.NewReader(s.t, path); err == nil && s.stamp == nil {
			s.stamp, s.time, s.clock = c, make([]float64, 2), s.name
		}
	}
	if strings.HasPrefix(s.kind, px4Types) && s.stamp == nil {
		for _, path := range [][]string{{"timestamp", "timestamp_sample"}, {"timestamp"}} {
			if c, err := cdr.NewReader(s.t, path); err == nil && s.stamp == nil {
				s.stamp, s.time, s.clock = c, make([]float64, len(path)), "px4"
			}
		}
	}
	return s
}

// px4Types are the messages of PX4, which have a time in µs and no header; with
// timestamp_sample it is that of the sensor.
const px4Types = "px4_msgs/"

// stamped returns when a message, or its element at a place, was measured by its sender's
// clock, ns; ok is false where it does not say it.
func (s *Subscription) stamped(msg []byte, element int) (t int64, ok bool) {
	if s.stamp == nil || s.stamp.ReadFrom(s.time, msg, element) != nil {
		return 0, false
	}
	if s.clock != "px4" {
		// 0 where it was not filled in.
		return int64(s.time[0])*1e9 + int64(s.time[1]), s.time[0] >= 0 && s.time[0]+s.time[1] > 0
	}
	us := s.time[0]
	if us <= 0 || us > 1e15 {
		return 0, false
	}
	t = int64(us) * 1000
	if len(s.time) == 2 && s.time[1] < 1e15 { // not NaN
		t = telemetry.Sampled(t, int64(s.time[1])*1000)
	}
	return t, true
}

// sender returns who sent a message, or its element at a place, with the reader of what is
// wanted of it; nil where there is no such element.
func (r *Messages) sender(s *Subscription, msg []byte, element int) (*sender, *cdr.Reader, error) {
	if s.latest.is(msg) {
		return s.latest.from, s.latest.fields, nil
	}
	key, read, ok := r.key[:0], 0, true
	if s.who != nil {
		key, read, ok = s.who.key(key, s.t, msg, element)
		r.key = key
	}
	if !ok && s.who.elements != "" {
		return nil, nil, nil
	}
	from := s.byKey[string(key)]
	if !ok && len(s.senders) > 0 { // it is cut off, or names nothing
		from = s.senders[0]
	}
	if from == nil {
		if from = s.known(key); from == nil {
			var err error
			if from, err = r.topic(s, key, msg); err != nil {
				return nil, nil, err
			}
			s.senders = append(s.senders, from)
		} else if s.who.names != "" && from.fields != nil && len(key) > 0 && !from.moved {
			from.moved = true
			r.report.Add(r.rest.at, "message", "of %s: the order or number of its names changes, so that a field by its number is not always of the same one; write it by name, as in position[%s=%s]", s.name, s.who.names, from.names[0])
		}
		if len(s.byKey) < telemetry.MaxFields {
			s.byKey[string(key)] = from
		}
	}
	fields := from.fields
	if from.orders != nil {
		var err error
		if fields, err = from.ordered(s.t, key); err != nil {
			return nil, nil, fmt.Errorf("%s: topic %s: %w", r.path, from.topic, err)
		}
	}
	if ok && s.remembers && read >= stampEnd {
		s.latest = latest{append(s.latest.bytes[:0], msg[stampEnd:read]...), from, fields}
	}
	return from, fields, nil
}

// known returns the sender of a key that is new: one that has some of its names, or any
// where there are too many.
func (s *Subscription) known(key []byte) *sender {
	if s.who != nil && s.who.names != "" {
		names := split(key)
		for _, x := range s.senders {
			if len(key) == 0 || x.shares(names) {
				x.learn(names)
				return x
			}
		}
	}
	if len(s.senders) >= maxSenders {
		return s.senders[maxSenders-1]
	}
	return nil
}

// topic makes a topic of a sender at its first message.
func (r *Messages) topic(s *Subscription, key, first []byte) (*sender, error) {
	if r.seq >= maxTopics {
		return nil, fmt.Errorf("%s: more than %d topics and senders", r.path, maxTopics)
	}
	// The first message shows how long its arrays are.
	sample := bytes.Clone(first[:min(len(first), maxSample)])
	x := &sender{}
	x.topic = &telemetry.Topic{
		Name: s.name, Kind: s.kind, Instance: s.instance, Seq: r.seq, Unread: s.unread,
		Fields: func() []telemetry.Field { return s.list(sample) },
		Texts:  func(path string) []string { return s.texts(x, sample, path) },
		Check:  s.check,
	}
	r.seq++
	x.topic.Clock = s.clock
	if s.who != nil && s.who.names != "" {
		x.learn(split(key))
		x.topic.Sender = []telemetry.Text{{Path: s.who.names, Value: strings.Join(x.names, " ")}}
	} else if s.who != nil {
		for i, text := range split(key) {
			if i < len(s.who.paths) {
				x.topic.Sender = append(x.topic.Sender, telemetry.Text{Path: strings.TrimPrefix(s.who.paths[i], s.who.elements+"[0]."), Value: text})
			}
		}
	}
	x.paths = r.wants.Paths(x.topic)
	for _, path := range x.paths {
		if err := s.check(path); err != nil {
			return nil, telemetry.NewFieldError(r.path, x.topic, path, err.Error())
		}
	}
	if len(x.paths) == 0 {
		return x, nil
	}
	x.values = make([]float64, len(x.paths))
	if slices.ContainsFunc(x.paths, func(p string) bool { _, _, _, ok := named(p); return ok }) {
		x.orders = map[string]*cdr.Reader{}
		return x, nil
	}
	var err error
	if x.fields, err = cdr.NewReader(s.t, x.paths); err != nil {
		return nil, fmt.Errorf("%s: topic %s: %w", r.path, x.topic, err)
	}
	return x, nil
}

// check returns what is wrong with a path.
func (s *Subscription) check(path string) error {
	if s.t == nil {
		return s.unread
	}
	if array, names, _, ok := named(path); ok {
		if s.who == nil || s.who.names != names {
			return fmt.Errorf("%q is no array of names in %s", names, s.t.Name)
		}
		path = array + index(0)
	}
	return s.t.Check(path)
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

func (s *Subscription) list(msg []byte) (out []telemetry.Field) {
	if s.t == nil {
		return nil
	}
	// The message may be cut off where it was too long to be kept: the fields up
	// to there are listed.
	_ = s.t.Visit(msg, func(path string, _ float64) bool {
		if s.who == nil || s.who.elements == "" || !strings.HasPrefix(path, s.who.elements+"[") || strings.HasPrefix(path, s.who.elements+"[0]") {
			out = append(out, telemetry.Field{Path: path})
		}
		return len(out) < telemetry.MaxFields
	}, func(string, string) bool { return true })
	return out
}

// texts returns the texts of an array of the messages of a sender.
func (s *Subscription) texts(x *sender, msg []byte, array string) (out []string) {
	if s.t == nil {
		return nil
	}
	if s.who != nil && s.who.names == array && array != "" {
		return x.names
	}
	_ = s.t.Visit(msg, func(string, float64) bool { return true }, func(path, text string) bool {
		if name, _, ok := strings.Cut(path, "["); ok && name == array || path == array {
			out = append(out, text)
		}
		return len(out) < telemetry.MaxFields
	})
	return out
}
