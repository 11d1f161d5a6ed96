package mcap

import (
	"encoding/binary"
	"errors"
)

// Magic is what a file begins and ends with.
var Magic = []byte{0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'}

// op is the kind of a record.
type op byte

const (
	opHeader  op = 0x01
	opFooter  op = 0x02
	opSchema  op = 0x03
	opChannel op = 0x04
	opMessage op = 0x05
	opChunk   op = 0x06

	opMessageIndex    op = 0x07
	opChunkIndex      op = 0x08
	opAttachment      op = 0x09
	opAttachmentIndex op = 0x0A
	opStatistics      op = 0x0B
	opMetadata        op = 0x0C
	opMetadataIndex   op = 0x0D
	opSummaryOffset   op = 0x0E
	opDataEnd         op = 0x0F
)

var names = map[op]string{
	opHeader: "header", opFooter: "footer", opSchema: "schema", opChannel: "channel", opMessage: "message", opChunk: "chunk",
	opMessageIndex: "message index", opChunkIndex: "chunk index", opAttachment: "attachment", opAttachmentIndex: "attachment index", opStatistics: "statistics",
	opMetadata: "metadata", opMetadataIndex: "metadata index", opSummaryOffset: "summary offset", opDataEnd: "data end",
}

// The contents of the records that end the data and the file, in bytes.
const (
	dataEndSize = 4
	footerSize  = 8 + 8 + 4
)

// headSize is the kind of a record and the length of its content.
const headSize = 1 + 8

var errContent = errors.New("its content ends before its last field")

// content reads the fields of a record one after the other and keeps the first
// error.
type content struct {
	b   []byte
	err error
}

func (c *content) take(n int) []byte {
	if c.err != nil || n < 0 || n > len(c.b) {
		c.err = errContent
		return make([]byte, 8)
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *content) u16() uint16 { return binary.LittleEndian.Uint16(c.take(2)) }
func (c *content) u32() uint32 { return binary.LittleEndian.Uint32(c.take(4)) }
func (c *content) u64() uint64 { return binary.LittleEndian.Uint64(c.take(8)) }

// bytes reads a length and as many bytes.
func (c *content) bytes() []byte {
	n := c.u32()
	if c.err != nil || int64(n) > int64(len(c.b)) {
		c.err = errContent
		return nil
	}
	return c.take(int(n))
}

func (c *content) text() string { return string(c.bytes()) }

// schema is how the messages of a channel are written.
type schema struct {
	name, encoding string
	data           []byte
}

func parseSchema(b []byte) (id uint16, s schema, err error) {
	c := content{b: b}
	id = c.u16()
	s.name, s.encoding = c.text(), c.text()
	s.data = append([]byte(nil), c.bytes()...)
	return id, s, c.err
}

// channel is where messages come from.
type channel struct {
	schema          uint16
	topic, encoding string
}

func parseChannel(b []byte) (id uint16, ch channel, err error) {
	c := content{b: b}
	id = c.u16()
	ch.schema = c.u16()
	ch.topic, ch.encoding = c.text(), c.text()
	return id, ch, c.err
}

// chunk is what stands before the records of a chunk.
type chunk struct {
	start, end  uint64 // ns
	size        uint64 // bytes of the records, unpacked
	crc         uint32 // of them; 0 = not known
	compression string
	packed      uint64 // bytes that follow
	head        int    // bytes before them
}

// maxChunkHead is enough for what stands before the records of a chunk.
const maxChunkHead = 8 + 8 + 8 + 4 + 4 + 16 + 8

func parseChunk(b []byte) (k chunk, err error) {
	c := content{b: b}
	k.start, k.end, k.size, k.crc = c.u64(), c.u64(), c.u64(), c.u32()
	k.compression = c.text()
	k.packed = c.u64()
	k.head = len(b) - len(c.b)
	return k, c.err
}
