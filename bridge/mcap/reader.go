package mcap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/dgm-robotics/dgm/bridge/internal/logfile"
	"github.com/dgm-robotics/dgm/bridge/ros"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// What is kept of a file, so that a hostile one needs no more memory than this.
const (
	window      = 1 << 20  // bytes of the file that are held
	maxRecord   = 64 << 20 // bytes of a record, and of a chunk packed and unpacked each
	maxSchemas  = 4096
	maxSchemaMB = 32 << 20 // bytes of all schemas
	maxTopics   = 1 << 14
)

// Reader reads one file. It implements telemetry.Source.
type Reader struct {
	logfile.Reader
	records records

	schemas  map[uint16]*mcap.Schema
	schemaMB int
	channels map[uint16]channel
	topics   map[uint16]*ros.Subscription // by channel
	messages *ros.Messages
	apart    map[uint16]bool                                        // channels of topics that several publishers have channels of
	instead  func(s *ros.Subscription, channel uint16, data []byte) // (optional) takes the messages

	unpacker unpacker
	chunkAt  int64 // offset of the open chunk in the file
	size     int   // bytes of it, unpacked
	damaged  bool  // it is cut off, which is reported
	ended    bool  // the end of the data was read
	late     bool  // data behind the end of the data were reported

	raw mcap.Message
}

// channel is the origin of messages.
type channel struct {
	schema          uint16
	topic, encoding string
	caller          string // the node that sends, of a recording of ROS 1
}

var _ telemetry.Source = (*Reader)(nil)

// openPlain opens a file whose channels are not compared.
func openPlain(path string, wants telemetry.Wants) (*Reader, error) {
	return logfile.Open(path, wants, NewReader, (*Reader).begin)
}

// NewReader returns a reader of any stream; name is its name in errors. What is
// no MCAP file is refused by the first Next.
func NewReader(name string, stream io.Reader, wants telemetry.Wants) *Reader {
	log := logfile.New(name, stream, wants, window)
	r := &Reader{Reader: log, records: records{w: log.Window},
		schemas: map[uint16]*mcap.Schema{}, channels: map[uint16]channel{}, topics: map[uint16]*ros.Subscription{}}
	r.messages = ros.New(name, &r.Wants, &r.Report)
	return r
}

func (r *Reader) begin() error {
	return r.Begins(Magic, "MCAP file", "give a file ending in .mcap (a bag in SQLite has an importer of its own, db3)")
}

// Next returns the next message of any topic, or io.EOF.
func (r *Reader) Next() (*telemetry.Message, error) {
	return r.Loop(r.begin, func() (*telemetry.Message, error) {
		switch {
		case r.messages.More():
			return r.messages.Next()
		case r.records.open:
			return r.inChunk()
		}
		return r.inFile()
	})
}

// inFile reads one record of the file. Both results are nil where it was no message.
func (r *Reader) inFile() (*telemetry.Message, error) {
	at := r.Window.Offset()
	kind, size, ok := r.records.head()
	switch {
	case !ok:
		return nil, r.end(at, len(r.records.peek(headSize)))
	case kind == mcap.OpDataEnd && size == dataEndSize && !r.ended:
		r.ended = true
	case kind == mcap.OpFooter && size == footerSize:
		return nil, r.footer(at)
	case !known(kind) && kind < 0x80, kind == mcap.OpDataEnd, kind == mcap.OpFooter, size > math.MaxInt64/2, used(kind) && kind != mcap.OpChunk && size > maxRecord:
		r.resync(at, kind)
		return nil, nil
	}
	if (kind == mcap.OpChunk || kind == mcap.OpMessage) && r.ended && !r.late {
		r.late = true
		r.Report.Add(at, record(kind), "is behind the end of the data; it is read all the same")
	}
	if kind == mcap.OpChunk {
		return nil, r.openChunk(at, size)
	}
	if !used(kind) { // or of a later version
		if n := r.records.skip(headSize + int64(size)); n < headSize+int64(size) {
			return nil, r.end(at, int(n))
		}
		return nil, nil
	}
	b, whole, err := r.records.next(int(size))
	if err != nil || !whole {
		return nil, r.end(at, headSize+len(b))
	}
	return r.content(at, kind, b)
}

// end ends the reading with n bytes that are no whole record.
func (r *Reader) end(at int64, n int) error {
	if n == 0 && r.Window.Err() == nil {
		missing := "the record that ends the data"
		if r.ended {
			missing = "the footer"
		}
		r.Report.Add(at, "file", "cut off: %s is missing", missing)
	}
	return r.End(at, n)
}

// footer reads the record that ends the file, and ends the reading.
func (r *Reader) footer(at int64) error {
	w := r.Window
	b := w.Peek(headSize + footerSize + len(Magic))
	if len(b) < headSize+footerSize {
		return r.end(at, len(b))
	}
	if !r.ended {
		r.Report.Add(at, "footer", "the record that ends the data is missing before it")
	}
	if !bytes.Equal(b[headSize+footerSize:], Magic) {
		r.Report.Add(at+headSize+footerSize, "file", "does not end with what an MCAP file ends with")
	} else if w.Pass(len(b)); len(w.Peek(1)) > 0 {
		r.Report.Add(w.Offset(), "file", "continues behind its end; what follows is not read")
	}
	return io.EOF
}

// openChunk unpacks a chunk of size bytes.
func (r *Reader) openChunk(at int64, size uint64) error {
	head := r.records.peek(headSize + maxChunkHead)
	k, ok := parseChunk(head[headSize:])
	switch {
	case !ok && len(head) < headSize+maxChunkHead:
		return r.end(at, len(head))
	case !ok || uint64(k.head)+k.packed != size:
		r.resync(at, mcap.OpChunk)
		return nil
	case size > maxRecord:
		r.Report.Add(at, "chunk", "has %d bytes, more than the limit of %d; skipped", k.packed, maxRecord)
		r.records.skip(headSize + int64(size))
		return nil
	}
	packed, whole, err := r.records.next(int(size))
	if err != nil {
		return r.end(at, headSize)
	}
	packed = packed[min(k.head, len(packed)):]
	plain, err := r.unpacker.unpack(&k, packed)
	switch {
	case !whole:
		r.Report.Add(at, "chunk", "cut off: %d of %d bytes are there, %d of %d can be unpacked", len(packed), k.packed, len(plain), k.size)
	case errors.Is(err, errSum):
		r.Report.Add(at, "chunk", "%v; its %d bytes are not read", err, k.size)
	case err != nil:
		r.Report.Add(at, "chunk", "%v", err)
	}
	r.chunkAt, r.size, r.damaged = at, len(plain), err != nil || !whole
	r.records.chunk, r.records.open = plain, true
	return nil
}

// inChunk reads one record of the open chunk.
func (r *Reader) inChunk() (*telemetry.Message, error) {
	left := len(r.records.chunk)
	if left == 0 {
		r.records.open = false
		return nil, nil
	}
	kind, size, ok := r.records.head()
	switch {
	case !ok || size > uint64(left-headSize) || kind == 0 && size == 0: // zeros are what no record is
		if !r.damaged { // else it is reported already
			r.Report.Add(r.chunkAt, "chunk", "its last %d bytes are no whole record", left)
		}
		r.records.open = false
		return nil, nil
	case !known(kind) && kind < 0x80:
		r.Report.Add(r.chunkAt, "chunk", "byte %d of it: records of kind %#x are not known; %d bytes skipped", r.size-left, byte(kind), headSize+size)
	}
	if !used(kind) || kind == mcap.OpChunk {
		r.records.skip(headSize + int64(size))
		return nil, nil
	}
	b, _, err := r.records.next(int(size))
	if err != nil {
		return nil, err
	}
	return r.content(r.chunkAt, kind, b)
}

// content reads the content of a record.
func (r *Reader) content(at int64, kind mcap.OpCode, b []byte) (m *telemetry.Message, err error) {
	switch kind {
	case mcap.OpSchema:
		err = r.schema(b)
	case mcap.OpChannel:
		err = r.channel(b)
	default:
		return r.messageOf(at, b)
	}
	if err != nil {
		r.Report.Add(at, record(kind), "%v", err)
	}
	return nil, nil
}

func (r *Reader) schema(b []byte) error {
	s, err := mcap.ParseSchema(b)
	if err != nil {
		return err
	}
	if old := r.schemas[s.ID]; old != nil {
		if old.Name != s.Name || old.Encoding != s.Encoding || !bytes.Equal(old.Data, s.Data) {
			return fmt.Errorf("%d differs from what it was before, which counts", s.ID)
		}
		return nil
	}
	if r.schemaMB += len(s.Data); len(r.schemas) >= maxSchemas || r.schemaMB > maxSchemaMB {
		return errors.New("more schemas than are kept")
	}
	r.schemas[s.ID] = s
	return nil
}

func (r *Reader) channel(b []byte) error {
	parsed, err := mcap.ParseChannel(b)
	if err != nil {
		return err
	}
	c := channel{parsed.SchemaID, parsed.Topic, parsed.MessageEncoding, parsed.Metadata["callerid"]}
	if old, there := r.channels[parsed.ID]; there && old != c {
		return fmt.Errorf("%d differs from what it was before, which counts", parsed.ID)
	}
	r.channels[parsed.ID] = c
	return nil
}

// messageOf makes a message of the content of its record.
func (r *Reader) messageOf(at int64, b []byte) (*telemetry.Message, error) {
	if err := r.raw.PopulateFrom(b, false); err != nil {
		r.Report.Add(at, "message", "%v", err)
		return nil, nil
	}
	id, logged, data := r.raw.ChannelID, r.raw.LogTime, r.raw.Data
	if logged == 0 { // some converters fill only this in
		logged = r.raw.PublishTime
	}
	if logged > math.MaxInt64/2 {
		r.Report.Add(at, "message", "recorded at %d ns, which is no time", logged)
		return nil, nil
	}
	s := r.topics[id]
	if s == nil {
		ch, ok := r.channels[id]
		if !ok || len(r.topics) >= maxTopics {
			r.Report.Add(at, "message", "its channel %d is not described", id)
			return nil, nil
		}
		s = r.subscribe(at, id, &ch)
		r.topics[id] = s
	}
	if r.instead != nil {
		r.instead(s, id, data)
		return nil, nil
	}
	return r.messages.Take(s, at, int64(logged), data)
}

// subscribe makes a subscription of a channel with a number.
func (r *Reader) subscribe(at int64, id uint16, ch *channel) *ros.Subscription {
	c := ros.Channel{Topic: ch.topic, Encoding: ch.encoding}
	switch {
	case ch.caller != "":
		c.Publisher = telemetry.Text{Path: "callerid", Value: ch.caller}
	case r.apart[id]:
		c.Publisher = telemetry.Text{Path: "channel", Value: strconv.Itoa(int(id))}
	}
	if sc := r.schemas[ch.schema]; sc == nil || sc.Name == "" {
		c.Missing = fmt.Sprintf("its schema %d is not in the file", ch.schema)
	} else {
		c.Type, c.Schema, c.Definition = sc.Name, sc.Encoding, sc.Data
	}
	return r.messages.Subscribe(at, &c)
}

func (r *Reader) Close() error {
	r.unpacker.close()
	r.messages.Close()
	return r.Reader.Close()
}

// resync continues at the next place with a chunk, or with the records that end the
// data.
func (r *Reader) resync(at int64, kind mcap.OpCode) {
	r.Resync(at, record(kind), "damaged", headSize+maxChunkHead, 1, func(held []byte, most int) int {
		for i := 0; i < most; i++ {
			k := bytes.IndexAny(held[i:most], "\x06\x0f")
			if k < 0 {
				break
			}
			if i += k; resyncCandidate(held[i:]) {
				return i
			}
		}
		return -1
	})
}

// resyncCandidate reports whether b begins with a chunk whose lengths agree, or with
// the end of the data and what follows it.
func resyncCandidate(b []byte) bool {
	size := binary.LittleEndian.Uint64(b[1:])
	if mcap.OpCode(b[0]) == mcap.OpDataEnd {
		return size == dataEndSize && len(b) > headSize+dataEndSize && known(mcap.OpCode(b[headSize+dataEndSize]))
	}
	k, ok := parseChunk(b[headSize : headSize+maxChunkHead])
	return ok && uint64(k.head)+k.packed == size && k.first <= k.last && k.size <= maxRecord &&
		(k.compression == "" || k.compression == "lz4" || k.compression == "zstd")
}
