package mavlink

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/dgm-robotics/dgm/bridge/internal/logfile"
	"github.com/dgm-robotics/dgm/bridge/internal/number"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// What is kept of a log, so that a hostile one needs no more memory than this.
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
	logfile.Reader

	lead    int              // bytes of the time ahead of each packet; 0 = packets have none
	order   binary.ByteOrder // of the bytes of the time
	dialect *dialect
	topics  map[topicKey]*subscription
	senders map[string]int      // of messages by name: instances beyond 0 so far
	first   map[string]bool     // messages whose instance 0 is in use
	unknown map[uint32]struct{} // unknown messages that were reported
	full    [256 + 8]byte       // a payload with zeros behind it

	counters map[[2]byte]*counter // by system and sender
	home     *counter             // of packets without times: of the sender whose clock stands for the recorder's
	now      int64                // ns, by this one
	message  telemetry.Message
}

// topicKey identifies a topic.
type topicKey struct {
	id             uint32
	system, sender byte
	instance       byte // the number in the message; 0 = none
}

// subscription is a topic with the places of its fields.
type subscription struct {
	topic   *telemetry.Topic
	boot    accessor // time_boot_ms
	usec    accessor // time_usec
	unix    bool     // usec counts from 1970
	counter *counter // of the sender
	wanted  []accessor
	values  []float64
	extends bool // a message had a value in an extension, so that the sender knows it
}

var _ telemetry.Source = (*Tlog)(nil)

// IsTlog reports whether a file that begins with head is a telemetry log, or a stream of packets without times.
func IsTlog(head []byte) bool { return timed(head) != nil || isRaw(head, newDialect) }

// timed returns the order of the bytes of the time at the start of b, ahead of a packet; nil where there is none. Ground stations write
// the high byte first, some recorders on board as their processor has it.
func timed(b []byte) binary.ByteOrder {
	if len(b) < timeSize+2 {
		return nil
	}
	if _, err := parsePacket(b[timeSize:]); err != nil && !errors.Is(err, errShort) {
		return nil
	}
	for _, order := range []binary.ByteOrder{binary.BigEndian, binary.LittleEndian} {
		if plausible(order.Uint64(b)) {
			return order
		}
	}
	return nil
}

// isRaw reports whether two packets are at the start of b, one behind the other, as a radio or a serial line gives them.
func isRaw(b []byte, dialect func() *dialect) bool {
	if p, err := parsePacket(b); err == nil {
		q, err := parsePacket(b[p.size:])
		if l := dialect().find(p.id); err == nil && l != nil && p.fits(l) {
			l = dialect().find(q.id)
			return l != nil && q.fits(l)
		}
	}
	return false
}

// Open opens a log. It refuses what does not begin like one.
func Open(path string, wants telemetry.Wants) (*Tlog, error) {
	return logfile.Open(path, wants, NewTlog, (*Tlog).begin)
}

// NewTlog returns a reader of any stream; name is its name in errors.
func NewTlog(name string, stream io.Reader, wants telemetry.Wants) *Tlog {
	return &Tlog{Reader: logfile.New(name, stream, wants, window), lead: timeSize, order: binary.BigEndian, dialect: newDialect(),
		topics: map[topicKey]*subscription{}, senders: map[string]int{}, first: map[string]bool{}, unknown: map[uint32]struct{}{}, counters: map[[2]byte]*counter{}}
}

// begin refuses what has another format.
func (r *Tlog) begin() error {
	head := r.Window.Peek(4096)
	if err := r.Window.Err(); err != nil {
		return fmt.Errorf("%s: %w", r.Path, err)
	}
	for i := range len(head) {
		if order := timed(head[i:]); order != nil {
			r.order = order
			return nil
		}
	}
	for i := range len(head) {
		if isRaw(head[i:], func() *dialect { return r.dialect }) {
			r.lead = 0
			return nil
		}
	}
	return fmt.Errorf("%s: byte 0: this is no telemetry log: there is no time with a MAVLink packet in its first %d bytes; give a file ending in .tlog", r.Path, len(head))
}

// Next returns the next message of any topic, or io.EOF.
func (r *Tlog) Next() (*telemetry.Message, error) { return r.Loop(nil, r.record) }

// record reads one time and packet. Both results are nil where there was none.
func (r *Tlog) record() (*telemetry.Message, error) {
	at := r.Window.Offset()
	b := r.Window.Peek(r.lead + maxFrame)
	if len(b) == 0 {
		return nil, r.End(at, 0)
	}
	var us uint64
	var p packet
	err := errNoPacket
	if r.lead == 0 {
		p, err = parsePacket(b)
	} else if len(b) >= timeSize {
		us = r.order.Uint64(b)
		p, err = parsePacket(b[timeSize:])
	}
	known := r.lead == 0 || plausible(us)
	if errors.Is(err, errShort) && known {
		r.Report.Add(at, "file", "cut off within a packet, the last %d bytes are not read", len(b))
		return nil, io.EOF
	}
	if err != nil || !known {
		r.resync(at, "packet")
		return nil, nil
	}
	l := r.dialect.find(p.id)
	if l == nil || !p.fits(l) {
		name := fmt.Sprintf("message %d", p.id)
		if l != nil {
			name = l.name
		}
		// Where another packet follows this one was whole, only not understood.
		if !r.resyncCandidate(b[min(len(b), r.lead+p.size):], false) {
			r.resync(at, name)
			return nil, nil
		}
		r.Window.Pass(r.lead + p.size)
		if _, reported := r.unknown[p.id]; l == nil && reported {
			return nil, nil
		}
		if l == nil {
			r.unknown[p.id] = struct{}{}
			r.Report.Add(at, name, "is not defined here; it and others of its kind are skipped")
		} else {
			r.Report.Add(at, name, "wrong checksum, %d bytes skipped", r.lead+p.size)
		}
		return nil, nil
	}
	clear(r.full[copy(r.full[:], p.payload):])
	r.Window.Pass(r.lead + p.size)
	return r.content(at, int64(us)*1000, &p, l)
}

func plausible(us uint64) bool { return float64(us) > earliest && float64(us) < latest }

// content makes a message of a packet whose payload is in full.
func (r *Tlog) content(at, logged int64, p *packet, l *layout) (*telemetry.Message, error) {
	if v := r.Wants.Vehicle; v != "" && v != strconv.Itoa(int(p.system)) {
		return nil, nil
	}
	key := topicKey{id: p.id, system: p.system, sender: p.sender}
	if a, err := l.find(l.instance); err == nil {
		key.instance = byte(a.read(r.full[:]))
	}
	s := r.topics[key]
	if s == nil {
		if len(r.topics) >= maxTopics {
			r.Report.Add(at, l.name, "more than %d senders and messages: not read", maxTopics)
			return nil, nil
		}
		var err error
		if s, err = r.topic(key, l); err != nil {
			return nil, err
		}
		r.topics[key] = s
	}
	if r.lead == 0 {
		logged = r.now
	}
	t, stamped := r.stamp(s, logged)
	if r.lead == 0 && stamped && s.boot.kind != number.None && (r.now == 0 || r.home == s.counter) {
		r.home, r.now, logged = s.counter, t, t
	}
	if !stamped {
		t = logged
	}
	// Zeros at the end of a payload are cut off: an extension that is never there is not sent.
	s.extends = s.extends || len(p.payload) > l.base
	for i, a := range s.wanted {
		if s.values[i] = a.read(r.full[:]); a.ext && !s.extends {
			s.values[i] = math.NaN()
		}
	}
	switch l.name {
	case "STATUSTEXT":
		r.Wants.Say(logged, l.text("text", r.full[:]))
	case "PARAM_VALUE":
		if a, err := l.find("param_value"); err == nil && key.sender == 1 {
			r.Wants.Set(l.text("param_id", r.full[:]), a.read(r.full[:]))
		}
	}
	if r.lead == 0 && r.now == 0 {
		return nil, nil // ahead of the first that says when it is
	}
	r.message = telemetry.Message{Topic: s.topic, Time: t, Stamped: stamped, Logged: logged, Values: s.values}
	return &r.message, nil
}

// unixTime is what time_usec is above where it counts from 1970 and not from the
// start of the sender, µs.
const unixTime = 1e15

// stamp returns the sender's time in the payload at hand, ns. A counter of 32 bits is
// continued where it wraps: near the time at which the sender must be.
func (r *Tlog) stamp(s *subscription, logged int64) (t int64, ok bool) {
	a, unit := s.boot, int64(1e6)
	if a.kind == number.None {
		a, unit = s.usec, 1e3
	}
	if a.kind == number.None {
		return 0, false
	}
	v := a.read(r.full[:])
	if a.kind != number.U32 {
		return int64(v) * unit, v > 0 && v < latest && (v > unixTime) == s.unix
	}
	c := s.counter
	switch {
	case v == 0, !c.known && s.boot.kind == number.None: // µs since the start have wrapped nobody knows how often
		return 0, false
	case c.known:
		t = c.continued(int64(v), unit, logged)
	default:
		t = int64(v) * unit
	}
	if s.boot.kind != number.None {
		*c = counter{true, t, logged}
	}
	return t, true
}

// counter is the time of a sender since its start, as its counter of ms last gave it.
type counter struct {
	known  bool
	t      int64 // ns
	logged int64 // ns, of the recorder
}

// wrapped is, in ns, how near to the time that is expected a counter must be which wrapped.
const wrapped = 60e9

// continued returns the time of a counter of 32 bits in a unit (ns): of the times that it may
// mean the one that is expected; or the first, where none is, as after a restart.
func (c *counter) continued(v, unit, logged int64) int64 {
	expected := c.t + logged - c.logged
	round := unit << 32
	t := v * unit
	t += (expected - t + round/2) / round * round
	if d := t - expected; t < 0 || d > wrapped || -d > wrapped {
		return v * unit
	}
	return t
}

// topic gives a message of a sender an instance.
func (r *Tlog) topic(key topicKey, l *layout) (*subscription, error) {
	instance := 0
	if key.sender == 1 && key.instance == 0 && !r.first[l.name] {
		r.first[l.name] = true
	} else {
		r.senders[l.name]++
		instance = r.senders[l.name]
	}
	s := &subscription{topic: &telemetry.Topic{Name: l.name, Instance: instance, Seq: len(r.topics),
		Sender: []telemetry.Text{{Path: "system", Value: strconv.Itoa(int(key.system))}, {Path: "component", Value: strconv.Itoa(int(key.sender))}},
		Fields: l.list,
		Check:  func(path string) error { _, err := l.find(path); return err },
	}}
	if l.instance != "" {
		s.topic.Sender = append(s.topic.Sender, telemetry.Text{Path: l.instance, Value: strconv.Itoa(int(key.instance))})
	}
	if a, err := l.find("time_boot_ms"); err == nil {
		s.boot = a
	}
	if a, err := l.find("time_usec"); err == nil {
		s.usec = a
		s.unix = a.read(r.full[:]) > unixTime
	}
	sender := [2]byte{key.system, key.sender}
	if s.counter = r.counters[sender]; s.counter == nil {
		s.counter = &counter{}
		r.counters[sender] = s.counter
	}
	if s.boot.kind != number.None || s.usec.kind != number.None {
		s.topic.Clock.Name = fmt.Sprintf("%d/%d", key.system, key.sender)
		s.topic.Clock.Synchronised = s.boot.kind == number.None && s.unix
	}
	var err error
	if s.wanted, err = logfile.Wanted(&r.Reader, s.topic, l.find); err != nil {
		return nil, err
	}
	s.values = make([]float64, len(s.wanted))
	return s, nil
}

// resyncCandidate reports whether b begins with a time and a packet, or is at its end. sure
// asks for a checksum that fits.
func (r *Tlog) resyncCandidate(b []byte, sure bool) bool {
	if len(b) == 0 {
		return !sure
	}
	if r.lead > 0 && (len(b) < timeSize+2 || !plausible(r.order.Uint64(b))) {
		return false
	}
	p, err := parsePacket(b[r.lead:])
	if !sure {
		return err == nil || errors.Is(err, errShort)
	}
	l := r.dialect.find(p.id)
	return err == nil && l != nil && p.fits(l)
}

// resync continues at the next byte at which a time and a packet with a fitting
// checksum begin, or a packet in a stream without times.
func (r *Tlog) resync(at int64, record string) {
	r.Resync(at, record, "damaged", timeSize, 2, func(held []byte, most int) int {
		for i := 0; i < most; i++ {
			k := slices.IndexFunc(held[i+r.lead:most+r.lead], func(c byte) bool { return c == magic1 || c == magic2 })
			if k < 0 {
				break
			}
			if i += k; r.resyncCandidate(held[i:min(len(held), i+r.lead+maxFrame)], true) {
				return i
			}
		}
		return -1
	})
}
