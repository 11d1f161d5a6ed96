package ros

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/cdr"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Channel describes messages of one topic.
type Channel struct {
	Topic      string
	Type       string         // such as nav_msgs/msg/Odometry; "" = not known
	Encoding   string         // of the messages: cdr or ros1
	Schema     string         // language of the definition, as cdr.Parse knows them
	Definition []byte         // of the type and those in it; empty = the type may come with ROS
	Missing    string         // (optional) why there is no definition
	Publisher  telemetry.Text // (optional) who sends, where the recording says it: the node, or the number of a channel
}

// Subscription is what messages of one name and type, and of one publisher where the recording names
// it, have in common, whatever channel they come by: after a merge one topic has several. Where the type is defined
// anew, as by a later version, messages by each definition have one.
type Subscription struct {
	definition []byte
	all        *[]*sender // those of all definitions
	name, kind string
	publisher  telemetry.Text
	instance   int       // types of one name are counted
	t          *cdr.Type // nil: only counted
	unread     error
	stamp      *cdr.Reader // (optional) seconds and nanoseconds of the header, or µs of PX4
	time       []float64   // what it reads
	clock      string      // whose stamps these are
	micros     bool        // they are in µs, as those of PX4
	who        *identity   // nil: messages do not say who sends them
	senders    []*sender
	byKey      map[string]*sender
	latest     latest
	remembers  bool // latest is kept
	bad        int  // messages that were cut off
	twice      bool // a message has a name twice, which is reported
	full       bool // it has more senders than are read, which is reported
}

// Subscribe makes a subscription of a channel that is described at a byte.
func (r *Messages) Subscribe(at int64, ch *Channel) *Subscription {
	kind := ch.Topic + "\x00" + ch.Type + "\x00" + ch.Encoding
	key := kind + "\x00" + ch.Publisher.Value
	all := new([]*sender)
	for _, s := range r.subscriptions[key] {
		if all = s.all; s.defines(ch) {
			return s
		}
	}
	instance, known := r.instances[kind]
	if !known {
		instance = r.names[ch.Topic]
		r.instances[kind] = instance
		r.names[ch.Topic]++
	}
	s := &Subscription{name: ch.Topic, kind: kindName(ch.Type), publisher: ch.Publisher, instance: instance, byKey: map[string]*sender{}, definition: ch.Definition, all: all}
	r.subscriptions[key] = append(r.subscriptions[key], s)
	if s.t, s.unread = ch.parse(); s.unread != nil {
		if s.t = nil; ch.reads() && ch.defined() {
			r.report.Add(at, "schema", "%s: %v; messages of %s are only counted", ch.Type, s.unread, ch.Topic)
		}
		return s
	}
	s.who = identify(s.t, r.wants.Senders)
	s.remembers = s.who != nil && s.who.elements == "" && s.who.numbers == nil && s.t.Stamped()
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
				s.stamp, s.time, s.clock, s.micros = c, make([]float64, len(path)), px4Clock(s.name), true
			}
		}
	}
	return s
}

// reads reports whether messages of a channel are in an encoding that is read.
func (ch *Channel) reads() bool { return ch.Encoding == "cdr" || ch.Encoding == "ros1" }

// defined reports whether the recording has a definition of the messages.
func (ch *Channel) defined() bool { return ch.Missing == "" && len(bytes.TrimSpace(ch.Definition)) > 0 }

// parse returns the type of the messages of a channel, or why they are not read.
func (ch *Channel) parse() (*cdr.Type, error) {
	switch {
	case !ch.reads():
		return nil, fmt.Errorf("messages in %q are not read, only cdr is: record it with ROS 2's own encoding, or export the topic as a table", ch.Encoding)
	case ch.Missing != "":
		return nil, errors.New(ch.Missing)
	case ch.defined() || ch.Encoding != "cdr":
		return cdr.Parse(ch.Schema, ch.Type, ch.Definition)
	}
	text, known := definition(ch.Type)
	if !known {
		return nil, fmt.Errorf("type %s is not defined in the bag, and is none of those that come with ROS: convert it by ros2 bag convert into MCAP, where the type is installed", ch.Type)
	}
	return cdr.Parse("ros2msg", ch.Type, text)
}

// defines reports whether messages of a channel are read by a subscription of their name and type: by the same definition, or one of the
// same fields.
func (s *Subscription) defines(ch *Channel) bool {
	if s.t == nil || len(ch.Definition) == 0 || bytes.Equal(s.definition, ch.Definition) {
		return true
	}
	t, err := cdr.Parse(ch.Schema, ch.Type, ch.Definition)
	return err != nil || reflect.DeepEqual(t, s.t)
}

// elsewhere returns the sender of the same texts and names whose messages are by another definition.
func (s *Subscription) elsewhere(texts, names []string) *sender {
	for _, x := range *s.all {
		if x.is(texts, names) && !slices.Contains(s.senders, x) {
			return x
		}
	}
	return nil
}

// px4Types are the messages of PX4, which have a time in µs and no header; with
// timestamp_sample it is that of the sensor. The time is that since the autopilot began, or,
// where its clock is synchronised with that of ROS, since 1970.
const px4Types = "px4_msgs/"

// px4Clock names the clock of the PX4 that sends a topic: of several each has one, and topics in its namespace.
func px4Clock(topic string) string {
	space, _, ok := strings.Cut(topic, "/fmu/")
	if first, _, more := strings.Cut(strings.TrimPrefix(topic, "/"), "/"); !ok {
		if space = ""; more {
			space = "/" + first
		}
	}
	if space == "" {
		return "px4"
	}
	return "px4 of " + space
}

// Times in µs: above synchronised, in the year 2001, they count since 1970; above mostMicros, in
// the year 2096, they are none.
const synchronised, mostMicros = 1e15, 4e15

// stamped returns when a message, or its element at a place, was measured by its sender's
// clock, ns; ok is false where it does not say it.
func (s *Subscription) stamped(msg []byte, element int) (t int64, ok bool) {
	if s.stamp == nil || s.stamp.ReadFrom(s.time, msg, element) != nil {
		return 0, false
	}
	if !s.micros {
		// 0 where it was not filled in.
		return int64(s.time[0])*1e9 + int64(s.time[1]), s.time[0] >= 0 && s.time[0]+s.time[1] > 0
	}
	us := s.time[0]
	if us <= 0 || us > mostMicros {
		return 0, false
	}
	t = int64(us) * 1000
	if len(s.time) == 2 && s.time[1] < mostMicros { // not NaN
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
	if !ok && len(s.senders) > 0 { // it is cut off
		from = s.senders[0]
	}
	if from == nil {
		var err error
		if from, err = r.find(s, key, msg); err != nil {
			return nil, nil, err
		}
	}
	fields := from.fields
	if from.orders != nil {
		var err error
		if fields, err = from.ordered(s.t, s.who, key); err != nil {
			return nil, nil, fmt.Errorf("%s: topic %s: %w", r.path, from.topic, err)
		}
	}
	if ok && s.remembers && read >= stampEnd {
		s.latest = latest{append(s.latest.bytes[:0], msg[stampEnd:read]...), from, fields}
	}
	return from, fields, nil
}

// find returns the sender of a key that is new: one that has the same texts and some of the
// names, or one that is not read where there are too many, or else a new one.
func (r *Messages) find(s *Subscription, key, msg []byte) (*sender, error) {
	var texts, names []string
	if s.who != nil {
		texts, names, _ = s.who.split(key)
	}
	var from *sender
	if s.who != nil && s.who.names != "" {
		if n := repeated(names); n != "" && !s.twice {
			s.twice = true
			r.report.Add(r.rest.at, "message", "of %s: it has %q in %s twice, of which the first counts", s.name, telemetry.Clip(n), s.who.names)
		}
		if i := slices.IndexFunc(s.senders, func(x *sender) bool { return x.is(texts, names) }); i >= 0 {
			from = s.senders[i]
			if from.fields != nil && len(from.names) > 0 && len(names) > 0 && !from.moved {
				from.moved = true
				r.report.Add(r.rest.at, "message", "of %s: the order or number of its names changes, so that a field by its number is not always of the same one; write it by name, as in %s[%s=%s]", s.name, cmp.Or(s.who.of, s.who.inner, "position"), s.who.names, from.names[0])
			}
			from.learn(s.who.names, names)
		}
	}
	switch {
	case from != nil:
	case len(s.senders) >= maxSenders:
		if from = new(sender); !s.full {
			s.full = true
			r.report.Add(r.rest.at, "message", "of %s: it has more than %d senders; messages of further ones are not read", s.name, maxSenders)
		}
	default:
		var err error
		if from, err = r.topic(s, texts, names, msg); err != nil {
			return nil, err
		}
		s.senders = append(s.senders, from)
	}
	if len(s.byKey) < telemetry.MaxFields {
		s.byKey[string(key)] = from
	}
	return from, nil
}

// topic makes a topic of a sender at its first message.
func (r *Messages) topic(s *Subscription, texts, names []string, first []byte) (*sender, error) {
	if r.seq >= maxTopics {
		return nil, fmt.Errorf("%s: more than %d topics and senders", r.path, maxTopics)
	}
	x := &sender{texts: texts}
	x.sampled(first)
	x.topic = &telemetry.Topic{
		Name: s.name, Kind: s.kind, Instance: s.instance, Seq: r.seq, Unread: s.unread,
		Fields: func() []telemetry.Field { return s.list(x.sample) },
		Texts:  func(path string) []string { return s.texts(x, path) },
		Check:  s.check,
	}
	r.seq++
	x.topic.Clock.Name = s.clock
	if t, ok := s.stamped(first, 0); ok && s.micros && t > 1000*synchronised {
		x.topic.Clock.Synchronised = true
	}
	for i, text := range texts {
		x.topic.Sender = append(x.topic.Sender, telemetry.Text{Path: strings.TrimPrefix(s.who.paths[i], s.who.elements+"[0]."), Value: text})
	}
	if s.publisher.Value != "" {
		x.topic.Sender = append(x.topic.Sender, s.publisher)
	}
	if len(names) > 0 {
		x.learn(s.who.names, names)
	}
	other := s.elsewhere(texts, names)
	if *s.all = append(*s.all, x); other == nil {
		x.paths = r.wants.Paths(x.topic)
	} else {
		x.topic, x.paths = other.topic, other.paths
		r.seq--
	}
	for _, path := range x.paths {
		if err := s.check(path); err != nil && other != nil {
			r.report.Add(r.rest.at, "message", "of %s: %s is defined anew, and %v; messages by this definition are not read", s.name, s.t.Name, err)
			x.topic = nil
			return x, nil
		} else if err != nil {
			return nil, telemetry.NewFieldError(r.path, x.topic, path, err.Error())
		}
	}
	if len(x.paths) == 0 {
		return x, nil
	}
	x.values = make([]float64, len(x.paths))
	if slices.ContainsFunc(x.paths, func(p string) bool { _, ok := named(p); return ok }) {
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
	var names *naming
	if s.who != nil {
		names = &s.who.naming
	}
	plain, err := names.check(path)
	if err != nil {
		return fmt.Errorf("%w in %s", err, s.t.Name)
	}
	return s.t.Check(plain)
}

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
	if s.who != nil && s.who.names != "" {
		key, _, _ := s.who.key(nil, s.t, msg, 0)
		_, names, inner := s.who.split(key)
		s.who.write(out, names, inner)
	}
	return out
}

// texts returns the texts of an array of the messages of a sender.
func (s *Subscription) texts(x *sender, array string) (out []string) {
	if s.t == nil {
		return nil
	}
	if s.who != nil && s.who.names == array && array != "" {
		return x.names
	}
	_ = s.t.Visit(x.sample, func(string, float64) bool { return true }, func(path, text string) bool {
		if name, _, ok := strings.Cut(path, "["); ok && name == array || path == array {
			out = append(out, text)
		}
		return len(out) < telemetry.MaxFields
	})
	return out
}
