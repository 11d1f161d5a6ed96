package ros

import (
	"bytes"

	"github.com/klauspost/compress/zstd"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// maxTopics bounds the topics and senders of a recording.
const maxTopics = 1 << 14

// Messages makes telemetry of the messages of one recording.
type Messages struct {
	path   string
	wants  *telemetry.Wants
	report *telemetry.Problems

	names         map[string]int             // types of a topic so far
	instances     map[string]int             // by name, type and encoding
	subscriptions map[string][]*Subscription // by name, type, encoding and publisher: one for each definition of the type
	seq           int                        // topics and senders so far
	key           []byte                     // what names the sender of the message at hand
	rest          elements                   // of the message at hand
	message       telemetry.Message
	unpacker      unpacker
}

// New returns the messages of a recording, which errors call path. report receives what
// cannot be read.
func New(path string, wants *telemetry.Wants, report *telemetry.Problems) *Messages {
	return &Messages{path: path, wants: wants, report: report, names: map[string]int{}, instances: map[string]int{}, subscriptions: map[string][]*Subscription{}}
}

// elements are the parts of a message that are still to be returned.
type elements struct {
	s      *Subscription
	at     int64
	logged int64
	data   []byte
	next   int
}

// Take takes a message of a subscription, at a byte, recorded at a time (ns). Its data must
// stay as they are while More reports more.
func (r *Messages) Take(s *Subscription, at, logged int64, data []byte) (*telemetry.Message, error) {
	plain, err := r.unpacker.unpack(data)
	if err != nil {
		r.report.Add(at, "message", "of %s: packed by zstd, and %v", s.name, err)
		return nil, nil
	}
	r.rest = elements{s, at, logged, plain, 0}
	return r.Next()
}

// More reports whether the message at hand has parts that are still to be returned.
func (r *Messages) More() bool { return r.rest.s != nil }

// Next returns the next part of the message at hand: all of it, or one element of
// those that come from senders of their own; nil where there is none.
func (r *Messages) Next() (*telemetry.Message, error) {
	e := &r.rest
	s, k := e.s, e.next
	if e.next++; s.who == nil || s.who.elements == "" {
		e.s = nil
	}
	from, fields, err := r.sender(s, e.data, k)
	if from == nil || err != nil {
		e.s = nil
		return nil, err
	}
	if from.topic == nil {
		return nil, nil
	}
	from.sampled(e.data)
	t, stamped := e.logged, false
	if at, ok := s.stamped(e.data, k); ok {
		t, stamped = at, true
	}
	if fields != nil {
		if err := fields.ReadFrom(from.values, e.data, k); err != nil {
			if s.bad++; s.bad == 1 {
				r.report.Add(e.at, "message", "of %s: %v; others like it are not reported", s.name, err)
			}
		}
	}
	r.message = telemetry.Message{Topic: from.topic, Time: t, Stamped: stamped, Logged: e.logged, Values: from.values}
	return &r.message, nil
}

// Numbers appends the first numbers of a message to dst, some at most, and returns what the message says of who sends
// it, valid until the next call; nothing of a message that cannot be read.
func (r *Messages) Numbers(dst []float64, s *Subscription, data []byte, most int) (sender []byte, numbers []float64) {
	plain, err := r.unpacker.unpack(data)
	if err != nil || s.t == nil {
		return nil, dst
	}
	key := r.key[:0]
	if s.who != nil {
		key, _, _ = s.who.key(key, s.t, plain, 0)
		r.key = key
	}
	_ = s.t.Visit(plain, func(_ string, v float64) bool { // of one that is cut off, what is there
		dst = append(dst, v)
		return len(dst) < most
	}, func(string, string) bool { return true })
	return key, dst
}

// packed is what a message begins with that ROS 2's recorder packed by itself (compression
// mode message); no message in CDR does.
var packed = []byte{0x28, 0xb5, 0x2f, 0xfd}

// maxMessage bounds a message, unpacked, in bytes.
const maxMessage = 64 << 20

// unpacker holds the memory for messages that are packed one by one.
type unpacker struct {
	decoder *zstd.Decoder
	plain   []byte
}

// unpack returns a message as it was before it was packed, valid until the next call.
func (u *unpacker) unpack(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, packed) {
		return data, nil
	}
	if u.decoder == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxMessage))
		if err != nil {
			return nil, err
		}
		u.decoder = d
	}
	var err error
	u.plain, err = u.decoder.DecodeAll(data, u.plain[:0])
	return u.plain, err
}

// Close frees memory.
func (r *Messages) Close() {
	if r.unpacker.decoder != nil {
		r.unpacker.decoder.Close()
	}
}
