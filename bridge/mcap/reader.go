package mcap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/dgm-robotics/dgm/bridge/cdr"
	"github.com/dgm-robotics/dgm/bridge/input"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// What is kept of a file, so that a hostile one takes no more memory than this.
const (
	window      = 1 << 20  // bytes of the file that are held
	maxChunk    = 64 << 20 // bytes of a chunk, packed and unpacked each
	maxRecord   = 64 << 20 // bytes of a message outside of chunks
	maxSummary  = 1 << 20  // bytes of statistics or of a chunk index: 65536 channels have 640 KiB
	maxSchemas  = 4096
	maxSchemaMB = 32 << 20 // bytes of all schemas
	maxTopics   = 1 << 14
)

// Reader reads one file. It implements telemetry.Source.
type Reader struct {
	input.Stream
	path     string
	w        *input.Window
	wants    telemetry.Wants
	problems telemetry.Problems

	schemas  map[uint16]schema
	schemaMB int
	channels map[uint16]channel
	topics   map[uint16]*subscription // by channel
	names    map[string]int           // channels of a topic so far
	unpacker unpacker
	buf      []byte // of a record outside of chunks

	records  []byte // what is left of the chunk at hand
	recordAt int64  // where in the file the chunk stands
	inChunk  bool
	box      boxed
	audit    audit
	clean    bool // nothing was amiss in the data
	message  telemetry.Message
	firstErr error
}

// subscription is a topic with where its fields stand.
type subscription struct {
	topic  *telemetry.Topic
	t      *cdr.Type   // nil: only counted
	stamp  *cdr.Reader // (optional) seconds and nanoseconds of the header
	fields *cdr.Reader
	time   [2]float64
	values []float64
	bad    int // messages that were cut off
}

var _ telemetry.Source = (*Reader)(nil)

// Open opens a file. It refuses what does not begin like one.
func Open(path string, wants telemetry.Wants) (*Reader, error) {
	file, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	r := NewReader(path, file, wants)
	if err := r.begin(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

// NewReader returns a reader of any stream; name is what errors call it. What is
// no MCAP file is refused by the first Next.
func NewReader(name string, stream io.Reader, wants telemetry.Wants) *Reader {
	w := input.NewWindow(stream, window)
	r := &Reader{path: name, w: w, Stream: w.Stream(), wants: wants, audit: newAudit(), box: boxed{messages: map[uint16]uint64{}},
		schemas: map[uint16]schema{}, channels: map[uint16]channel{}, topics: map[uint16]*subscription{}, names: map[string]int{}}
	w.Tap(r.audit.passed)
	return r
}

func (r *Reader) begin() error {
	b := r.w.Peek(len(Magic))
	if err := r.w.Err(); err != nil {
		return fmt.Errorf("%s: %w", r.path, err)
	}
	if !bytes.Equal(b, Magic) {
		return fmt.Errorf("%s: byte 0: this is no MCAP file: it begins with % x; give a file ending in .mcap (a bag in SQLite is converted by ros2 bag convert)", r.path, b)
	}
	r.w.Pass(len(Magic))
	return nil
}

// Next returns the next message of any topic, or io.EOF.
func (r *Reader) Next() (*telemetry.Message, error) {
	if r.firstErr == nil && r.w.Offset() == 0 {
		r.firstErr = r.begin()
	}
	for r.firstErr == nil {
		var m *telemetry.Message
		var err error
		if r.inChunk {
			m, err = r.within()
		} else {
			m, err = r.record()
		}
		if err != nil {
			r.firstErr = err
		} else if m != nil {
			return m, nil
		}
	}
	return nil, r.firstErr
}

// record reads one record of the file. Both results are nil where it was no
// message.
func (r *Reader) record() (*telemetry.Message, error) {
	at := r.w.Offset()
	head := r.w.Peek(headSize)
	if len(head) < headSize {
		return nil, r.end(at, len(head))
	}
	kind, size := op(head[0]), binary.LittleEndian.Uint64(head[1:])
	if r.box.behind != 0 && kind != opMessageIndex {
		r.leave(&r.box)
	}
	switch {
	case kind == opDataEnd && size == dataEndSize && r.audit.ended == 0:
		return nil, r.dataEnd(at)
	case kind == opFooter && size == footerSize:
		return nil, r.footer(at)
	case kind == 0 || kind == opDataEnd || kind == opFooter || size > math.MaxInt64/2:
		return nil, r.resync(at, kind)
	case names[kind] == "" && kind < 0x80:
		return nil, r.resync(at, kind) // of a later version kinds are from 0x80 on
	}
	end := at + headSize + int64(size)
	r.audit.summarised(kind, at, end)
	if (kind == opChunk || kind == opMessage) && r.audit.ended != 0 && !r.audit.late {
		r.audit.late = true
		r.problems.Add(at, names[kind], "stands behind the end of the data; it is read all the same")
	}
	switch kind {
	case opChunk:
		return nil, r.chunk(at, size)
	case opChunkIndex, opStatistics, opAttachmentIndex, opMetadataIndex, opSummaryOffset:
		if size <= maxSummary {
			return r.small(at, kind, int(size))
		}
		r.problems.Add(at, names[kind], "has %d bytes, more than the limit of %d; passed", size, maxSummary)
	case opSchema, opChannel, opMessage, opMessageIndex:
		if size > maxRecord {
			return nil, r.resync(at, kind)
		}
		return r.small(at, kind, int(size))
	}
	// Of no use here, or of a later version.
	r.w.Pass(headSize)
	if n := r.w.Skip(int64(size)); n < int64(size) {
		return nil, r.end(at, headSize+int(n))
	}
	r.audit.piece(kind, at, end)
	return nil, nil
}

// small reads a record outside of chunks.
func (r *Reader) small(at int64, kind op, size int) (*telemetry.Message, error) {
	r.w.Pass(headSize)
	// In steps, so that a length that lies takes no memory for what is not there.
	r.buf = r.buf[:0]
	for len(r.buf) < size {
		step := min(size-len(r.buf), window)
		b := r.w.Peek(step)
		r.buf = append(r.buf, b...)
		r.w.Pass(len(b))
		if len(b) < step {
			return nil, r.end(at, headSize+len(r.buf))
		}
	}
	return r.take(at, kind, r.buf)
}

// end ends the reading with n bytes that are no whole record.
func (r *Reader) end(at int64, n int) error {
	switch {
	case r.w.Err() != nil:
		r.problems.Add(at, "file", "cannot be read on: %v", r.w.Err())
	case n > 0:
		r.problems.Add(at, "file", "cut off within a record, the last %d bytes are not read", n)
	case r.audit.ended != 0:
		r.problems.Add(at, "file", "cut off: the footer is missing")
	default:
		r.problems.Add(at, "file", "cut off: the record that ends the data is missing")
	}
	return io.EOF
}

// chunk unpacks a chunk.
func (r *Reader) chunk(at int64, size uint64) error {
	head := r.w.Peek(headSize + maxChunkHead)
	k, err := parseChunk(head[headSize:])
	if err != nil && len(head) < headSize+maxChunkHead {
		return r.end(at, len(head))
	}
	if err != nil || uint64(k.head)+k.packed != size {
		return r.resync(at, opChunk)
	}
	r.w.Pass(headSize + k.head)
	r.audit.chunk(at, at+headSize+int64(size), &k)
	r.box = boxed{messages: r.box.messages, behind: at + headSize + int64(size)}
	clear(r.box.messages)
	if k.packed > maxChunk {
		r.problems.Add(at, "chunk", "has %d bytes, more than the limit of %d; passed", k.packed, maxChunk)
		r.recordAt = at
		r.w.Skip(int64(k.packed))
		return nil
	}
	packed := r.unpacker.packed[:0]
	for uint64(len(packed)) < k.packed {
		step := int(min(k.packed-uint64(len(packed)), window))
		b := r.w.Peek(step)
		packed = append(packed, b...)
		r.w.Pass(len(b))
		if len(b) < step {
			break
		}
	}
	r.unpacker.packed = packed
	cut := uint64(len(packed)) < k.packed
	plain, err := r.unpacker.unpack(&k, packed)
	switch {
	case cut:
		r.problems.Add(at, "chunk", "cut off: %d of %d bytes are there, %d of %d can be unpacked", len(packed), k.packed, len(plain), k.size)
	case errors.Is(err, errSum):
		r.problems.Add(at, "chunk", "%v; its %d bytes are not read", err, k.size)
	case err != nil:
		r.problems.Add(at, "chunk", "%v", err)
	default:
		r.box.plain = plain
	}
	r.records, r.recordAt, r.inChunk = plain, at, true
	r.box.size = len(plain)
	return nil
}

// within reads one record of the chunk at hand.
func (r *Reader) within() (*telemetry.Message, error) {
	b := r.records
	if len(b) == 0 {
		r.inChunk = false
		r.times(&r.box)
		return nil, nil
	}
	size := uint64(0)
	if len(b) >= headSize {
		size = binary.LittleEndian.Uint64(b[1:])
	}
	if len(b) < headSize || size > uint64(len(b)-headSize) || b[0] == 0 && size == 0 { // zeros are what no record is
		if n := len(r.problems.List); n == 0 || r.problems.List[n-1].Offset != r.recordAt { // a chunk cut off is told already
			r.problems.Add(r.recordAt, "chunk", "its last %d bytes are no whole record", len(b))
		}
		r.inChunk = false
		r.box.plain = nil
		return nil, nil
	}
	r.records = b[headSize+int(size):]
	if names[op(b[0])] == "" && b[0] < 0x80 {
		r.problems.Add(r.recordAt, "chunk", "byte %d of it: records of kind %#x are not known; %d bytes passed", r.box.size-len(b), b[0], headSize+size)
		return nil, nil
	}
	return r.take(r.recordAt, op(b[0]), b[headSize:headSize+int(size)])
}

// take takes the content of a record.
func (r *Reader) take(at int64, kind op, b []byte) (*telemetry.Message, error) {
	switch kind {
	case opSchema:
		id, s, err := parseSchema(b)
		if old, there := r.schemas[id]; err == nil && there {
			if old.name != s.name || old.encoding != s.encoding || !bytes.Equal(old.data, s.data) {
				r.problems.Add(at, "schema", "%d is not what it was before, which counts", id)
			}
		} else if err == nil {
			if r.schemaMB += len(s.data); len(r.schemas) >= maxSchemas || r.schemaMB > maxSchemaMB {
				err = errors.New("more schemas than are kept")
			} else {
				r.schemas[id] = s
			}
		}
		if err != nil {
			r.problems.Add(at, "schema", "%v", err)
		}
	case opChannel:
		id, c, err := parseChannel(b)
		if err != nil {
			r.problems.Add(at, "channel", "%v", err)
		} else if old, there := r.channels[id]; !there {
			r.channels[id] = c
		} else if old != c {
			r.problems.Add(at, "channel", "%d is not what it was before, which counts", id)
		}
	case opMessage:
		return r.messageOf(at, b)
	case opMessageIndex:
		r.index(at, b)
	case opChunkIndex:
		r.chunkIndex(at, b)
	case opStatistics:
		r.statistics(at, b)
	case opAttachmentIndex, opMetadataIndex:
		r.pieceIndex(at, kind, b)
	case opSummaryOffset:
		r.offsetOf(at, b)
	}
	return nil, nil
}

// messageOf makes a message of the content of its record.
func (r *Reader) messageOf(at int64, b []byte) (*telemetry.Message, error) {
	c := content{b: b}
	id := c.u16()
	c.u32() // its number
	logged, _ := c.u64(), c.u64()
	if c.err != nil {
		r.problems.Add(at, "message", "%v", c.err)
		return nil, nil
	}
	r.audit.message(id, logged)
	if r.inChunk {
		r.box.message(id, logged)
	}
	if logged > math.MaxInt64/2 {
		r.problems.Add(at, "message", "recorded at %d ns, which is no time", logged)
		return nil, nil
	}
	s := r.topics[id]
	if s == nil {
		ch, ok := r.channels[id]
		if !ok || len(r.topics) >= maxTopics {
			r.problems.Add(at, "message", "its channel %d is not described", id)
			return nil, nil
		}
		var err error
		if s, err = r.topic(at, ch, c.b); err != nil {
			return nil, err
		}
		r.topics[id] = s
	}
	t, stamped := int64(logged), false
	if s.stamp != nil {
		if err := s.stamp.Read(s.time[:], c.b); err == nil && s.time[0] > 0 { // 0 where nobody filled it in
			t, stamped = int64(s.time[0])*1e9+int64(s.time[1]), true
		}
	}
	if s.fields != nil {
		if err := s.fields.Read(s.values, c.b); err != nil {
			if s.bad++; s.bad == 1 {
				r.problems.Add(at, "message", "of %s: %v; others like it are not told", s.topic, err)
			}
		}
	}
	r.message = telemetry.Message{Topic: s.topic, Time: t, Stamped: stamped, Logged: int64(logged), Offset: at, Values: s.values}
	return &r.message, nil
}

// Problems returns what could not be read so far.
func (r *Reader) Problems() *telemetry.Problems { return &r.problems }

// Close closes the file.
func (r *Reader) Close() error {
	r.unpacker.close()
	return r.Stream.Close()
}
