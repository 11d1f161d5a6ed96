package bag

import (
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"io"

	"github.com/pierrec/lz4/v4"

	"github.com/dgm-robotics/dgm/bridge/internal/logfile"
	"github.com/dgm-robotics/dgm/bridge/ros"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Magic is what a bag begins with.
var Magic = []byte("#ROSBAG V2.0\n")

// What is kept of a bag, so that a hostile one needs no more memory than this.
const (
	window      = 1 << 20   // bytes of the file that are held
	maxHeader   = 1 << 20   // bytes of the header of a record
	maxChunk    = 256 << 20 // bytes of a chunk, packed and unpacked each
	maxChannels = 1 << 14
)

// Kinds of records.
const (
	opMessage    = 0x02
	opBag        = 0x03
	opIndex      = 0x04
	opChunk      = 0x05
	opChunkInfo  = 0x06
	opConnection = 0x07
)

// Reader reads one bag. It implements telemetry.Source.
type Reader struct {
	logfile.Reader
	messages *ros.Messages
	topics   map[uint32]*ros.Subscription
	buf      []byte // of a record
	unpacked []byte // memory of a chunk
	chunk    []byte // what is left of the open one
	cutOff   bool   // its end is missing, which is reported
	at       int64  // offset of the record at hand in the file
}

var _ telemetry.Source = (*Reader)(nil)

// Open opens a bag. It refuses what does not begin like one.
func Open(path string, wants telemetry.Wants) (*Reader, error) {
	return logfile.Open(path, wants, NewReader, (*Reader).begin)
}

// NewReader returns a reader of any stream; name is its name in errors. What is no bag is
// refused by the first Next.
func NewReader(name string, stream io.Reader, wants telemetry.Wants) *Reader {
	r := &Reader{Reader: logfile.New(name, stream, wants, window), topics: map[uint32]*ros.Subscription{}}
	r.messages = ros.New(name, &r.Wants, &r.Report)
	return r
}

func (r *Reader) begin() error {
	return r.Begins(Magic, "bag of ROS 1, version 2.0", "give a file ending in .bag")
}

// Next returns the next message of any topic, or io.EOF.
func (r *Reader) Next() (*telemetry.Message, error) {
	return r.Loop(r.begin, func() (*telemetry.Message, error) {
		switch {
		case r.messages.More():
			return r.messages.Next()
		case len(r.chunk) > 0:
			return r.inChunk()
		}
		return r.inFile()
	})
}

// Close frees memory.
func (r *Reader) Close() error {
	r.messages.Close()
	return r.Reader.Close()
}

// header is the fields of the header of a record.
type header map[string][]byte

// parseHeader reads fields "name=value", each behind its length.
func parseHeader(b []byte) (header, error) {
	h := header{}
	for len(b) > 0 {
		if len(b) < 4 {
			return nil, errShort
		}
		n := binary.LittleEndian.Uint32(b)
		if uint64(n) > uint64(len(b)-4) {
			return nil, errShort
		}
		name, value, ok := bytes.Cut(b[4:4+n], []byte{'='})
		if !ok {
			return nil, errors.New("a field of its header has no value")
		}
		h[string(name)], b = value, b[4+n:]
	}
	return h, nil
}

var errShort = errors.New("its header is shorter than the fields in it")

// op is the kind of a record; −1 where it has none.
func (h header) op() int {
	if v := h["op"]; len(v) == 1 {
		return int(v[0])
	}
	return -1
}

func (h header) u32(name string) (uint32, bool) {
	v := h[name]
	if len(v) != 4 {
		return 0, false
	}
	return binary.LittleEndian.Uint32(v), true
}

// inFile reads one record of the file. Both results are nil where it was no message.
func (r *Reader) inFile() (*telemetry.Message, error) {
	r.at = r.Window.Offset()
	if len(r.Window.Peek(1)) == 0 {
		return nil, r.End(r.at, 0)
	}
	head, ok := r.part(maxHeader)
	if !ok {
		return nil, io.EOF
	}
	h, err := parseHeader(bytes.Clone(head))
	if err != nil {
		r.Report.Add(r.at, "record", "%v; what follows is not read", err)
		return nil, io.EOF
	}
	switch h.op() {
	case opIndex, opChunkInfo, opBag:
		n := r.length()
		if n < 0 || r.Window.Skip(int64(n)) < int64(n) {
			r.cut()
			return nil, io.EOF
		}
		return nil, nil
	}
	data, ok := r.part(maxChunk)
	if h.op() == opChunk && (len(data) > 0 || ok) {
		r.open(h, data, !ok)
		return nil, nil
	}
	if !ok {
		return nil, io.EOF
	}
	return r.record(h, data)
}

// length reads the length of a part of a record, −1 at the end.
func (r *Reader) length() int {
	b := r.Window.Peek(4)
	if len(b) < 4 {
		return -1
	}
	n := int(binary.LittleEndian.Uint32(b))
	r.Window.Pass(4)
	return n
}

// part reads one part of a record, of most bytes, valid until the next call: what is there of it where it is cut off, which is
// reported, and then ok is false.
func (r *Reader) part(most int) (b []byte, ok bool) {
	n := r.length()
	if n < 0 {
		r.cut()
		return nil, false
	}
	if n > most {
		r.Report.Add(r.at, "record", "has a part of %d bytes, more than the limit of %d; what follows is not read", n, most)
		return nil, false
	}
	for len(r.buf) < n && len(r.buf) < most { // as far as it is there
		r.buf = append(r.buf, make([]byte, min(n-len(r.buf), 1<<20))...)
	}
	if k, err := io.ReadFull(r.Window, r.buf[:n]); err != nil {
		r.Report.Add(r.at, "record", "cut off: %d of %d bytes are there", k, n)
		return r.buf[:k], false
	}
	return r.buf[:n], true
}

// unfinished reads what a recorder that was killed wrote of a packed chunk, whose size it had not written yet.
func (r *Reader) unfinished() []byte {
	var b bytes.Buffer
	n, _ := io.Copy(&b, io.LimitReader(r.Window, maxChunk))
	r.Report.Add(r.at, "chunk", "the recorder ended before it was finished; what can be unpacked of its %d bytes is read", n)
	return b.Bytes()
}

func (r *Reader) cut() { r.Report.Add(r.at, "file", "cut off within a record") }

// open unpacks a chunk, or what is there of one that was cut off.
func (r *Reader) open(h header, data []byte, cut bool) {
	size, _ := h.u32("size")
	c := string(h["compression"])
	if size == 0 && len(data) == 0 && c != "none" && c != "" {
		data, size, cut = r.unfinished(), maxChunk, true
	}
	r.cutOff = cut
	if size > maxChunk {
		r.Report.Add(r.at, "chunk", "unpacks to %d bytes, more than the limit of %d; skipped", size, maxChunk)
		return
	}
	var packed io.Reader
	switch c {
	case "none", "":
		packed = bytes.NewReader(data)
	case "bz2":
		packed = bzip2.NewReader(bytes.NewReader(data))
	case "lz4":
		packed = lz4.NewReader(bytes.NewReader(data))
	default:
		r.Report.Add(r.at, "chunk", "compression %q is not known", telemetry.Clip(c))
		return
	}
	plain := bytes.NewBuffer(r.unpacked[:0])
	if n, err := io.Copy(plain, io.LimitReader(packed, int64(size))); !cut && (err != nil || n < int64(size)) {
		r.Report.Add(r.at, "chunk", "only %d of %d bytes can be unpacked (%v)", n, size, err)
	}
	r.unpacked = plain.Bytes()
	r.chunk = r.unpacked
}

// inChunk reads one record of the open chunk.
func (r *Reader) inChunk() (*telemetry.Message, error) {
	take := func() ([]byte, bool) {
		if len(r.chunk) < 4 {
			return nil, false
		}
		n := uint64(binary.LittleEndian.Uint32(r.chunk))
		if n > uint64(len(r.chunk)-4) {
			return nil, false
		}
		b := r.chunk[4 : 4+n]
		r.chunk = r.chunk[4+n:]
		return b, true
	}
	head, ok := take()
	data, ok2 := take()
	h, err := parseHeader(head)
	if !ok || !ok2 || err != nil {
		if !r.cutOff {
			r.Report.Add(r.at, "chunk", "its last %d bytes are no whole record", len(r.chunk))
		}
		r.chunk = nil
		return nil, nil
	}
	return r.record(h, data)
}

// record reads a connection or a message.
func (r *Reader) record(h header, data []byte) (*telemetry.Message, error) {
	id, ok := h.u32("conn")
	switch op := h.op(); {
	case op != opMessage && op != opConnection:
		return nil, nil
	case !ok:
		r.Report.Add(r.at, "record", "has no connection")
		return nil, nil
	case op == opConnection:
		r.connection(id, h, data)
		return nil, nil
	}
	s, at := r.topics[id], h["time"]
	if s == nil || len(at) != 8 {
		r.Report.Add(r.at, "message", "its connection %d is not described, or it has no time", id)
		return nil, nil
	}
	logged := int64(binary.LittleEndian.Uint32(at))*1e9 + int64(binary.LittleEndian.Uint32(at[4:]))
	return r.messages.Take(s, r.at, logged, data)
}

// connection keeps what is described of messages. The first description counts.
func (r *Reader) connection(id uint32, h header, data []byte) {
	if r.topics[id] != nil {
		return
	}
	d, err := parseHeader(data)
	if err != nil || len(r.topics) >= maxChannels {
		r.Report.Add(r.at, "connection", "%d cannot be read, or there are too many", id)
		return
	}
	r.topics[id] = r.messages.Subscribe(r.at, &ros.Channel{Topic: string(h["topic"]), Type: string(d["type"]), Encoding: "ros1", Schema: "ros1msg", Definition: bytes.Clone(d["message_definition"]), Publisher: telemetry.Text{Path: "callerid", Value: string(d["callerid"])}})
}
