package ros

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/cdr"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// identity is what the messages of a topic say of who sent them.
type identity struct {
	paths    []string   // texts, one each
	texts    *cdr.Texts // of these
	names    string     // an array of names that belong to the elements of the other arrays; "" = none
	elements string     // an array of messages, each with a sender of its own; "" = none
}

// senderTexts are the fields that name the sender, or what a message is about.
var senderTexts = []string{"header.frame_id", "child_frame_id", "name", "robot", "robot_name", "robot_id", "vehicle", "device", "joint_name", "joint"}

// nameArrays are the fields that name the elements of the other arrays.
var nameArrays = []string{"name", "names", "joint_names"}

// elementArrays are the fields that hold messages of several senders.
var elementArrays = []string{"transforms", "poses", "states", "objects"}

// maxSenders bounds the senders of a topic that are kept apart.
const maxSenders = 64

// identify finds what identifies the sender of messages of a type. more are the texts that
// a map asks for.
func identify(t *cdr.Type, more []string) *identity {
	id := &identity{}
	prefix := ""
	for _, a := range elementArrays {
		if t.CheckText(a+"[0].child_frame_id") == nil || t.CheckText(a+"[0].name") == nil {
			id.elements, prefix = a, a+"[0]."
			break
		}
	}
	for _, a := range nameArrays {
		if t.CheckText(a+"[0]") == nil && id.names == "" {
			id.names, id.elements, prefix = a, "", ""
		}
	}
	for _, path := range append(slices.Clone(senderTexts), more...) {
		if t.CheckText(prefix+path) == nil && !slices.Contains(id.paths, prefix+path) {
			id.paths = append(id.paths, prefix+path)
		}
	}
	if id.names == "" && len(id.paths) == 0 {
		return nil
	}
	if len(id.paths) > 0 {
		var err error
		if id.texts, err = cdr.NewTexts(t, id.paths); err != nil {
			return nil
		}
	}
	return id
}

// key appends what names the sender of a message, or of its element at a place, each text
// with a zero behind it; ok is false where there is no such element. It depends on the first
// read bytes.
func (id *identity) key(b []byte, t *cdr.Type, msg []byte, element int) (key []byte, read int, ok bool) {
	n := 0
	add := func(s []byte) {
		b = append(append(b, s...), 0)
		n++
	}
	if id.texts != nil {
		var err error
		if read, err = id.texts.Read(msg, element, func(_ int, s []byte) { add(s) }); err != nil || n != len(id.paths) {
			return b, read, false
		}
	}
	if id.names != "" {
		end, err := t.Array(msg, id.names, add)
		return b, max(read, end), err == nil && n > len(id.paths)
	}
	return b, read, true
}

// split returns the texts of a key, and the names behind them.
func (id *identity) split(key []byte) (texts, names []string) {
	if len(key) == 0 {
		return nil, nil
	}
	all := strings.Split(strings.TrimSuffix(string(key), "\x00"), "\x00")
	n := min(len(id.paths), len(all))
	return all[:n], all[n:]
}

// sender is one sender of a topic, with the places of the fields that are wanted.
type sender struct {
	topic  *telemetry.Topic // nil: messages are not read
	texts  []string         // that its messages have
	paths  []string
	fields *cdr.Reader            // nil: none, or their places depend on the names
	orders map[string]*cdr.Reader // by the names of a message, as key returns them
	names  []string               // all names so far, in the order of their appearance
	values []float64
	moved  bool // its names changed their order, which is reported
}

// latest is the sender of the message before, and the bytes that named it: those of a message
// that begins with a stamp are the same in nearly all messages.
type latest struct {
	bytes  []byte
	from   *sender
	fields *cdr.Reader
}

// stampEnd is where a message continues behind the stamp that it begins with, in bytes.
const stampEnd = 4 + 8

// is reports whether a message is of the same sender.
func (l *latest) is(msg []byte) bool {
	return l.from != nil && len(msg) >= stampEnd+len(l.bytes) && bytes.Equal(msg[stampEnd:stampEnd+len(l.bytes)], l.bytes)
}

// is reports whether messages with these texts and names are of the sender: it has the texts,
// and one of the names, or one of both has no names.
func (s *sender) is(texts, names []string) bool {
	named := func(n string) bool { return n != "" }
	if !slices.Equal(s.texts, texts) {
		return false
	}
	return len(s.names) == 0 || !slices.ContainsFunc(names, named) || slices.ContainsFunc(names, func(n string) bool { return slices.Contains(s.names, n) })
}

// learn keeps the names that are new; the first ones are part of what the sender is known by.
// An empty one names nothing.
func (s *sender) learn(array string, names []string) {
	known := len(s.names) > 0
	for _, n := range names {
		if n != "" && !slices.Contains(s.names, n) && len(s.names) < telemetry.MaxFields {
			s.names = append(s.names, n)
		}
	}
	if !known && len(s.names) > 0 {
		s.topic.Sender = append(s.topic.Sender, telemetry.Text{Path: array, Value: strings.Join(s.names, " ")})
	}
}

// named splits a path such as position[name=elbow] into its array, the array of names and
// the name.
func named(path string) (array, names, name string, ok bool) {
	array, rest, ok := strings.Cut(path, "[")
	names, name, ok2 := strings.Cut(strings.TrimSuffix(rest, "]"), "=")
	return array, names, name, ok && ok2 && strings.HasSuffix(rest, "]")
}

func index(i int) string { return "[" + strconv.Itoa(i) + "]" }

// absent is the index of an element that is in no message.
const absent = "[16777215]"

// placed returns the reader of the wanted fields of messages with names in an order.
func (s *sender) placed(t *cdr.Type, names []string) (*cdr.Reader, error) {
	paths := slices.Clone(s.paths)
	for i, path := range paths {
		if array, _, name, ok := named(path); ok {
			paths[i] = array + absent
			if k := slices.Index(names, name); k >= 0 {
				paths[i] = array + index(k)
			}
		}
	}
	return cdr.NewReader(t, paths)
}

// ordered returns the reader of what is wanted of messages with a key, in which the names are.
func (s *sender) ordered(t *cdr.Type, id *identity, key []byte) (*cdr.Reader, error) {
	if r := s.orders[string(key)]; r != nil {
		return r, nil
	}
	_, names := id.split(key)
	r, err := s.placed(t, names)
	if err == nil && len(s.orders) < maxSenders {
		s.orders[string(key)] = r
	}
	return r, err
}
