package crazyflie

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/dgm-robotics/dgm/bridge/internal/logfile"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Magic is the first byte of a log.
const Magic = 0xBC

// What is accepted of a log, so that a hostile one needs no more memory than
// this.
const (
	window       = 1 << 18 // bytes of the file that are held
	maxKinds     = 1 << 10
	maxVariables = 1 << 12 // of all kinds
	maxName      = 256
	headSize     = 5 // magic, version, number of kinds
	sumSize      = 4
	chain        = 3    // events in a row that must make sense after damage
	longest      = 60e9 // ns between events after damage
)

// Reader reads one log. It implements telemetry.Source.
type Reader struct {
	logfile.Reader

	version uint16
	kinds   map[uint16]*event
	seq     int
	sum     uint32 // CRC of what was passed
	last    int64  // ns, of the event before
	message telemetry.Message
}

var _ telemetry.Source = (*Reader)(nil)

// Is reports whether a file that begins with head is such a log.
func Is(head []byte) bool {
	return len(head) >= headSize && head[0] == Magic && head[2] == 0 && (head[1] == 1 || head[1] == 2) && binary.LittleEndian.Uint16(head[3:]) <= maxKinds
}

// Open opens a log and reads its header. It refuses what is none.
func Open(path string, wants telemetry.Wants) (*Reader, error) {
	return logfile.Open(path, wants, NewReader, (*Reader).begin)
}

// NewReader returns a reader of any stream; name is its name in errors. What is
// no log is refused by the first Next.
func NewReader(name string, stream io.Reader, wants telemetry.Wants) *Reader {
	return &Reader{Reader: logfile.New(name, stream, wants, window), kinds: map[uint16]*event{}}
}

// pass advances by n bytes that the checksum covers.
func (r *Reader) pass(n int) {
	r.sum = crc32.Update(r.sum, crc32.IEEETable, r.Window.Peek(n))
	r.Window.Pass(n)
}

func (r *Reader) begin() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%s: byte %d: header: %s", r.Path, r.Window.Offset(), fmt.Sprintf(format, args...))
	}
	head := r.Window.Peek(headSize)
	if err := r.Window.Err(); err != nil {
		return fmt.Errorf("%s: %w", r.Path, err)
	}
	if len(head) < headSize || head[0] != Magic {
		return bad("this is no log of a Crazyflie: it begins with % x; give a file from the card", head)
	}
	r.version = binary.LittleEndian.Uint16(head[1:])
	kinds := int(binary.LittleEndian.Uint16(head[3:]))
	switch {
	case r.version != 1 && r.version != 2:
		return bad("version %d is not known, only 1 and 2 are; get a newer dgm-bridge", r.version)
	case kinds > maxKinds:
		return bad("%d kinds of events are more than any firmware has; copy the file again", kinds)
	}
	r.pass(headSize)
	total := 0
	for range kinds {
		id, ok := r.u16()
		name, ok2 := r.name()
		n, ok3 := r.u16()
		if !ok || !ok2 || !ok3 {
			return bad("it is cut off; copy the file again")
		}
		if total += int(n); total > maxVariables {
			return bad("more than %d variables; copy the file again", maxVariables)
		}
		e := &event{name: name}
		for range n {
			text, ok := r.name()
			if !ok {
				return bad("it is cut off; copy the file again")
			}
			v, err := parseVariable(text)
			if err != nil {
				return bad("event %q: %v; copy the file again", telemetry.Clip(name), err)
			}
			v.at = e.size
			e.size += v.kind.Size()
			e.variables = append(e.variables, v)
		}
		if r.kinds[id] != nil {
			return bad("event %q has the number %d of %q; copy the file again", telemetry.Clip(name), id, telemetry.Clip(r.kinds[id].name))
		}
		r.kinds[id] = e
	}
	return nil
}

func (r *Reader) u16() (uint16, bool) {
	b := r.Window.Peek(2)
	if len(b) < 2 {
		return 0, false
	}
	v := binary.LittleEndian.Uint16(b)
	r.pass(2)
	return v, true
}

// name reads text up to a zero.
func (r *Reader) name() (string, bool) {
	b := r.Window.Peek(maxName)
	for i, c := range b {
		if c == 0 {
			s := string(b[:i])
			r.pass(i + 1)
			return s, true
		}
	}
	return "", false
}

// Next returns the next message of any topic, or io.EOF.
func (r *Reader) Next() (*telemetry.Message, error) { return r.Loop(r.begin, r.record) }

// frame is the size of an event before its values.
func (r *Reader) frame() int {
	if r.version == 1 {
		return 2 + 4
	}
	return 2 + 8
}

// head returns kind and time of the event at the start of b.
func (r *Reader) head(b []byte) (e *event, t int64, ok bool) {
	if len(b) < r.frame() {
		return nil, 0, false
	}
	if r.version == 1 {
		t = int64(binary.LittleEndian.Uint32(b[2:])) * 1e6 // ms
	} else {
		us := binary.LittleEndian.Uint64(b[2:])
		if us > math.MaxInt64/2000 {
			return nil, 0, false
		}
		t = int64(us) * 1e3
	}
	e = r.kinds[binary.LittleEndian.Uint16(b)]
	return e, t, e != nil
}

// record reads one event. Both results are nil where there was none.
func (r *Reader) record() (*telemetry.Message, error) {
	at := r.Window.Offset()
	b := r.Window.Peek(r.frame() + sumSize)
	if len(b) <= sumSize {
		return nil, r.end(at, b)
	}
	e, t, ok := r.head(b)
	if !ok && len(b) < r.frame()+sumSize {
		r.Report.Add(at, "file", "cut off within an event, the last %d bytes are not read, and the checksum is missing", len(b))
		return nil, r.stop()
	}
	if !ok {
		r.resync(at)
		return nil, nil
	}
	size := r.frame() + e.size
	whole := r.Window.Peek(size + sumSize)
	if len(whole) < size+sumSize {
		r.Report.Add(at, "file", "cut off within event %q, the last %d bytes are not read, and the checksum is missing", telemetry.Clip(e.name), len(whole))
		return nil, r.stop()
	}
	if e.topic == nil {
		if err := r.topic(e); err != nil {
			return nil, err
		}
	}
	values := whole[r.frame():size]
	for i, k := range e.wanted {
		e.values[i] = e.variables[k].read(values)
	}
	r.pass(size)
	r.last = t
	r.message = telemetry.Message{Topic: e.topic, Time: t, Stamped: true, Logged: t, Values: e.values}
	return &r.message, nil
}

// end tests the checksum, which is all that is left.
func (r *Reader) end(at int64, b []byte) error {
	switch {
	case len(b) < sumSize:
		r.Report.Add(at, "file", "cut off: the checksum is missing")
	case binary.LittleEndian.Uint32(b) != r.sum:
		r.Report.Add(at, "checksum", "it does not fit: some of what was read is damaged, or the file was cut off and continues with something else")
	}
	return r.stop()
}

func (r *Reader) stop() error {
	if err := r.Window.Err(); err != nil {
		r.Report.Add(r.Window.Offset(), "file", "cannot be read further: %v", err)
	}
	return io.EOF
}

// topic makes a topic of a kind of event at its first event.
func (r *Reader) topic(e *event) error {
	t := &telemetry.Topic{Name: e.name, Seq: r.seq, Fields: e.list, Check: func(path string) error { _, err := e.find(path); return err }}
	var err error
	if e.wanted, err = logfile.Wanted(&r.Reader, t, e.find); err != nil {
		return err
	}
	e.values = make([]float64, len(e.wanted))
	e.topic = t
	r.seq++
	return nil
}

// resync continues at the next byte from which events follow each other, and reports
// which bytes it skipped.
func (r *Reader) resync(at int64) {
	r.pass(1)
	for {
		held := r.Window.Peek(window / 2)
		most := len(held) - r.frame() - sumSize
		if most <= 0 {
			n := max(0, len(held)-sumSize)
			r.pass(n)
			r.Report.Add(at, "event", "the last %d bytes are damaged or cut off and are not read", r.Window.Offset()-at)
			return
		}
		if len(held) == window/2 {
			most = len(held) / 2
		}
		for i := range most {
			if r.resyncCandidate(held[i:]) {
				i = r.best(held, i)
				r.pass(i)
				r.Report.Add(at, "event", "damaged; %d bytes skipped, continued at byte %d", r.Window.Offset()-at, r.Window.Offset())
				return
			}
		}
		r.pass(most)
	}
}

// best returns the index from i on at which events begin: bytes read at the
// wrong place can make sense, too, but not with times as near to the last one.
func (r *Reader) best(held []byte, i int) int {
	best, nearest := i, math.Inf(1)
	for k := i; k < min(i+64, len(held)); k++ {
		if !r.resyncCandidate(held[k:]) {
			continue
		}
		_, t, _ := r.head(held[k:])
		if d := math.Abs(float64(t - r.last)); d < nearest {
			best, nearest = k, d
		}
	}
	return best
}

// resyncCandidate reports whether held begins with events whose times follow each
// other.
func (r *Reader) resyncCandidate(held []byte) bool {
	last := r.last
	for k := range chain {
		if len(held) <= sumSize && k > 0 {
			return true // up to the end of the file
		}
		e, t, ok := r.head(held)
		if !ok || t < last-longest || t > last+longest || len(held) < r.frame()+e.size {
			return false
		}
		last, held = t, held[r.frame()+e.size:]
	}
	return true
}
