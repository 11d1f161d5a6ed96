package mavlink

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/dgm-robotics/dgm/bridge/input"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// What is kept of a log, so that a hostile one takes no more memory than this.
const (
	window    = 1 << 18 // bytes of the file that are held
	maxTopics = 1 << 12
	timeSize  = 8 // of the time before a packet
)

// The times that a ground station can have written, µs: 2001 to 2100.
const (
	earliest = 1e15
	latest   = 4.1e15
)

// Tlog reads one telemetry log. It implements telemetry.Source.
type Tlog struct {
	input.Stream
	path     string
	w        *input.Window
	wants    telemetry.Wants
	problems telemetry.Problems

	dialect  *dialect
	topics   map[topicKey]*subscription
	senders  map[string]int      // of messages by name: instances beyond 0 so far
	first    map[string]bool     // messages whose instance 0 is taken
	unknown  map[uint32]struct{} // messages that were told to be unknown
	full     [256 + 8]byte       // a payload filled up with zeros
	message  telemetry.Message
	firstErr error
}

// topicKey tells topics apart.
type topicKey struct {
	id             uint32
	system, sender byte
}

// subscription is a topic with where its fields stand.
type subscription struct {
	topic  *telemetry.Topic
	layout *layout
	boot   accessor // time_boot_ms
	usec   accessor // time_usec
	unix   bool     // usec counts from 1970
	wanted []accessor
	values []float64
}

var _ telemetry.Source = (*Tlog)(nil)

// IsTlog says whether a file that begins with head is a telemetry log.
func IsTlog(head []byte) bool {
	if len(head) < timeSize+2 {
		return false
	}
	t := float64(binary.BigEndian.Uint64(head))
	_, err := parsePacket(head[timeSize:])
	return t > earliest && t < latest && (err == nil || errors.Is(err, errShort))
}

// Open opens a log. It refuses what does not begin like one.
func Open(path string, wants telemetry.Wants) (*Tlog, error) {
	file, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	r := NewTlog(path, file, wants)
	head := r.w.Peek(4096)
	if err := r.w.Err(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	for i := range len(head) {
		if IsTlog(head[i:]) {
			return r, nil
		}
	}
	return nil, errors.Join(fmt.Errorf("%s: byte 0: this is no telemetry log: no time with a MAVLink packet stands in its first %d bytes; give a file ending in .tlog", path, len(head)), file.Close())
}

// NewTlog returns a reader of any stream; name is what errors call it.
func NewTlog(name string, stream io.Reader, wants telemetry.Wants) *Tlog {
	w := input.NewWindow(stream, window)
	return &Tlog{path: name, w: w, Stream: w.Stream(), wants: wants, dialect: newDialect(),
		topics: map[topicKey]*subscription{}, senders: map[string]int{}, first: map[string]bool{}, unknown: map[uint32]struct{}{}}
}

// Next returns the next message of any topic, or io.EOF.
func (r *Tlog) Next() (*telemetry.Message, error) {
	for r.firstErr == nil {
		m, err := r.record()
		if err != nil {
			r.firstErr = err
		} else if m != nil {
			return m, nil
		}
	}
	return nil, r.firstErr
}

// record reads one time and packet. Both results are nil where there was none.
func (r *Tlog) record() (*telemetry.Message, error) {
	at := r.w.Offset()
	b := r.w.Peek(timeSize + maxFrame)
	if len(b) == 0 {
		if err := r.w.Err(); err != nil {
			r.problems.Add(at, "file", "cannot be read on: %v", err)
		}
		return nil, io.EOF
	}
	if len(b) < timeSize {
		return nil, r.resync(at, "packet")
	}
	us := binary.BigEndian.Uint64(b)
	p, err := parsePacket(b[timeSize:])
	if errors.Is(err, errShort) && plausible(us) {
		r.problems.Add(at, "file", "cut off within a packet, the last %d bytes are not read", len(b))
		return nil, io.EOF
	}
	if err != nil || !plausible(us) {
		return nil, r.resync(at, "packet")
	}
	l := r.dialect.find(p.id)
	if l == nil || !p.fits(l) {
		name := fmt.Sprintf("message %d", p.id)
		if l != nil {
			name = l.name
		}
		// Where another packet follows this one was whole, only not understood.
		if !r.stands(b[min(len(b), timeSize+p.size):], false) {
			return nil, r.resync(at, name)
		}
		r.w.Pass(timeSize + p.size)
		if _, told := r.unknown[p.id]; l == nil && told {
			return nil, nil
		}
		if l == nil {
			r.unknown[p.id] = struct{}{}
			r.problems.Add(at, name, "is not defined here; it and others of its kind are passed")
		} else {
			r.problems.Add(at, name, "wrong checksum, %d bytes passed", timeSize+p.size)
		}
		return nil, nil
	}
	clear(r.full[copy(r.full[:], p.payload):])
	r.w.Pass(timeSize + p.size)
	return r.take(at, int64(us)*1000, &p, l)
}

func plausible(us uint64) bool { return float64(us) > earliest && float64(us) < latest }

// take makes a message of a packet whose payload stands in full.
func (r *Tlog) take(at, logged int64, p *packet, l *layout) (*telemetry.Message, error) {
	key := topicKey{p.id, p.system, p.sender}
	s := r.topics[key]
	if s == nil {
		if len(r.topics) >= maxTopics {
			r.problems.Add(at, l.name, "more than %d senders and messages: not read", maxTopics)
			return nil, nil
		}
		var err error
		if s, err = r.topic(key, l); err != nil {
			return nil, err
		}
		r.topics[key] = s
	}
	t, stamped := s.stamp(r.full[:])
	if !stamped {
		t = logged
	}
	for i, a := range s.wanted {
		s.values[i] = a.read(r.full[:])
	}
	if l.name == "STATUSTEXT" {
		r.wants.Say(logged, l.text("text", r.full[:]))
	}
	r.message = telemetry.Message{Topic: s.topic, Time: t, Stamped: stamped, Logged: logged, Offset: at, Values: s.values}
	return &r.message, nil
}

// unixTime is what time_usec is above where it counts from 1970 and not from the
// start of the sender, µs.
const unixTime = 1e15

// stamp returns the sender's time in a payload, ns.
func (s *subscription) stamp(b []byte) (t int64, ok bool) {
	if s.boot.kind != reflect.Invalid {
		v := s.boot.read(b)
		return int64(v) * 1e6, v > 0
	}
	if s.usec.kind != reflect.Invalid {
		v := s.usec.read(b)
		return int64(v) * 1e3, v > 0 && v < latest && (v > unixTime) == s.unix
	}
	return 0, false
}

// topic gives a message of a sender an instance.
func (r *Tlog) topic(key topicKey, l *layout) (*subscription, error) {
	instance := 0
	if key.sender == 1 && !r.first[l.name] {
		r.first[l.name] = true
	} else {
		r.senders[l.name]++
		instance = r.senders[l.name]
	}
	s := &subscription{layout: l, topic: &telemetry.Topic{Name: l.name, Instance: instance, Seq: len(r.topics),
		Fields: l.list,
		Check:  func(path string) error { _, err := l.find(path); return err },
	}}
	if a, err := l.find("time_boot_ms"); err == nil {
		s.boot = a
	}
	if a, err := l.find("time_usec"); err == nil {
		s.usec = a
		s.unix = a.read(r.full[:]) > unixTime
	}
	if s.boot.kind != reflect.Invalid || s.usec.kind != reflect.Invalid {
		s.topic.Clock = fmt.Sprintf("%d/%d", key.system, key.sender)
		if s.boot.kind == reflect.Invalid && s.unix {
			s.topic.Clock += " unix"
		}
	}
	for _, path := range r.wants.Paths(s.topic) {
		a, err := l.find(path)
		if err != nil {
			return nil, telemetry.NewFieldError(r.path, s.topic, path, err.Error())
		}
		s.wanted = append(s.wanted, a)
	}
	s.values = make([]float64, len(s.wanted))
	return s, nil
}

// stands says whether b begins with a time and a packet, or is at its end. sure
// asks for a checksum that fits.
func (r *Tlog) stands(b []byte, sure bool) bool {
	if len(b) == 0 {
		return !sure
	}
	if len(b) < timeSize+2 || !plausible(binary.BigEndian.Uint64(b)) {
		return false
	}
	p, err := parsePacket(b[timeSize:])
	if !sure {
		return err == nil || errors.Is(err, errShort)
	}
	l := r.dialect.find(p.id)
	return err == nil && l != nil && p.fits(l)
}

// resync goes on at the next byte at which a time and a packet with a fitting
// checksum stand, and says which bytes it passed.
func (r *Tlog) resync(at int64, record string) error {
	r.w.Pass(1)
	for {
		held := r.w.Peek(window / 2)
		most := len(held) - timeSize
		if most <= 0 {
			r.w.Pass(len(held))
			r.problems.Add(at, record, "the last %d bytes are damaged or cut off and are not read", r.w.Offset()-at)
			return nil
		}
		if len(held) == window/2 {
			most = len(held) / 2
		}
		for i := 0; i < most; i++ {
			// The first bytes of a plausible time are zero.
			k := bytes.IndexByte(held[i:most], 0)
			if k < 0 {
				break
			}
			if i += k; r.stands(held[i:min(len(held), i+timeSize+maxFrame)], true) {
				r.w.Pass(i)
				r.problems.Add(at, record, "damaged; %d bytes passed, read on at byte %d", r.w.Offset()-at, r.w.Offset())
				return nil
			}
		}
		r.w.Pass(most)
	}
}

// Problems returns what could not be read so far.
func (r *Tlog) Problems() *telemetry.Problems { return &r.problems }
