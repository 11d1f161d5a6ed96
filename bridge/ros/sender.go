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
	paths   []string    // texts, then numbers, one each
	texts   *cdr.Texts  // of these; nil = there are none
	numbers *cdr.Reader // the same
	values  []float64   // of the numbers
	naming
	elements string // an array of messages, each with a sender of its own; "" = none
}

// senderTexts are the fields that name the sender, or what a message is about.
var senderTexts = []string{"header.frame_id", "child_frame_id", "name", "robot", "robot_name", "robot_id", "vehicle", "device", "joint_name", "joint"}

// elementArrays are the fields that hold messages of several senders.
var elementArrays = []string{"transforms", "poses", "states", "objects"}

// maxSenders bounds the senders of a topic that are read, maxOrders the orders of names of one that are kept.
const maxSenders, maxOrders = 512, 64

// identify finds what identifies the sender of messages of a type. more are the texts and numbers that
// a map asks for.
func identify(t *cdr.Type, more []string) *identity {
	id := &identity{naming: namingOf(t)}
	prefix := ""
	for _, a := range elementArrays {
		if (id.names == "" || id.of == a) && (t.CheckText(a+"[0].child_frame_id") == nil || t.CheckText(a+"[0].name") == nil) {
			id.elements, id.naming, prefix = a, naming{}, a+"[0]."
			break
		}
	}
	for _, path := range append(slices.Clone(senderTexts), more...) {
		if t.CheckText(prefix+path) == nil && !slices.Contains(id.paths, prefix+path) {
			id.paths = append(id.paths, prefix+path)
		}
	}
	texts := len(id.paths)
	for _, path := range more {
		if t.Check(prefix+path) == nil {
			id.paths = append(id.paths, prefix+path)
		}
	}
	if id.names == "" && len(id.paths) == 0 {
		return nil
	}
	var err error
	if texts > 0 {
		if id.texts, err = cdr.NewTexts(t, id.paths[:texts]); err != nil {
			return nil
		}
	}
	if n := len(id.paths) - texts; n > 0 {
		if id.numbers, err = cdr.NewReader(t, id.paths[texts:]); err != nil {
			return nil
		}
		id.values = make([]float64, n)
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
		if read, err = id.texts.Read(msg, element, func(_ int, s []byte) { add(s) }); err != nil || n != len(id.paths)-len(id.values) {
			return b, read, false
		}
	}
	if id.numbers != nil {
		if err := id.numbers.ReadFrom(id.values, msg, element); err != nil {
			return b, read, false
		}
		for _, v := range id.values {
			b = append(strconv.AppendFloat(b, v, 'g', -1, 64), 0)
			n++
		}
	}
	if id.names == "" {
		return b, read, true
	}
	end, err := t.Names(msg, id.of, id.names, func(_ int, s []byte) { add(s) })
	if id.inner != "" && err == nil {
		end, err = t.Names(msg, id.inner, id.innerNames, func(element int, s []byte) {
			b = append(append(append(b, within), strconv.Itoa(element)...), within)
			b = append(append(b, s...), 0)
		})
	}
	return b, max(read, end), err == nil && n > len(id.paths)
}

// within stands in a key before and behind the number of an element to which a name belongs.
const within = 1

// split returns the texts of a key, the names behind them, and the names within elements.
func (id *identity) split(key []byte) (texts, names []string, inner [][]string) {
	if len(key) == 0 {
		return nil, nil, nil
	}
	all := strings.Split(strings.TrimSuffix(string(key), "\x00"), "\x00")
	n := min(len(id.paths), len(all))
	texts, names = all[:n], all[n:]
	if id.inner == "" {
		return texts, names, nil
	}
	begins := slices.IndexFunc(names, func(s string) bool { return s != "" && s[0] == within })
	if begins < 0 {
		return texts, names, nil
	}
	for _, s := range names[begins:] {
		number, name, _ := strings.Cut(strings.TrimPrefix(s, string(rune(within))), string(rune(within)))
		k, err := strconv.ParseUint(number, 10, 12) // as many as MaxFields
		for err == nil && len(inner) <= int(k) {
			inner = append(inner, nil)
		}
		if err == nil {
			inner[k] = append(inner[k], name)
		}
	}
	return texts, names[:begins], inner
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
	moved  bool   // its names changed their order, which is reported
	sample []byte // the longest message so far, as that shows the arrays
}

// maxSample is how much of a message is kept, to list its fields.
const maxSample = 64 << 10

// sampled keeps a message that is longer than all before: arrays may be empty at first.
func (s *sender) sampled(msg []byte) {
	if msg = msg[:min(len(msg), maxSample)]; len(msg) > len(s.sample) {
		s.sample = append(s.sample[:0], msg...)
	}
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

// ordered returns the reader of what is wanted of messages with a key, in which the names are.
func (s *sender) ordered(t *cdr.Type, id *identity, key []byte) (*cdr.Reader, error) {
	if r := s.orders[string(key)]; r != nil {
		return r, nil
	}
	_, names, inner := id.split(key)
	paths := slices.Clone(s.paths)
	for i, path := range paths {
		paths[i] = among(path, names, inner)
	}
	r, err := cdr.NewReader(t, paths)
	if err == nil && len(s.orders) < maxOrders {
		s.orders[string(key)] = r
	}
	return r, err
}
