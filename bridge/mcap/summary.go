package mcap

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"strconv"
)

// sorted returns the keys of a map in order.
func sorted[V any](m map[uint16]V) []uint16 { return slices.Sorted(maps.Keys(m)) }

// dataEnd ends the data; the summary follows.
func (r *Reader) dataEnd(at int64) error {
	read := r.audit.crc
	b := r.w.Peek(headSize + dataEndSize)
	if len(b) < headSize+dataEndSize {
		return r.end(at, len(b))
	}
	said := binary.LittleEndian.Uint32(b[headSize:])
	r.clean = r.problems.Count() == 0
	if said != 0 && said != read && r.clean {
		r.problems.Add(at, names[opDataEnd], "its checksum of the data, %08x, does not fit, they have %08x: bytes of them are damaged", said, read)
	}
	r.w.Pass(len(b))
	r.audit.crc, r.audit.ended = 0, r.w.Offset()
	return nil
}

// statistics holds what the file says of itself against what was read.
func (r *Reader) statistics(at int64, b []byte) {
	c := content{b: b}
	messages, schemas, channels, attached, met, chunks, first, last := c.u64(), c.u16(), c.u32(), c.u32(), c.u32(), c.u32(), c.u64(), c.u64()
	list := content{b: c.bytes()}
	if c.err != nil || len(list.b)%10 != 0 {
		r.problems.Add(at, names[opStatistics], "its length does not fit its content")
		return
	}
	a := &r.audit
	var all uint64
	for _, n := range a.messages {
		all += n
	}
	var wrong differences
	wrong.number("messages", messages, all)
	for len(list.b) > 0 {
		if channel, n := list.u16(), list.u64(); n != a.messages[channel] {
			wrong.number("messages of channel "+strconv.Itoa(int(channel)), n, a.messages[channel])
		}
	}
	wrong.number("schemas", uint64(schemas), uint64(len(r.schemas)))
	wrong.number("channels", uint64(channels), uint64(len(r.channels)))
	wrong.number("attachments", uint64(attached), uint64(a.attached))
	wrong.number("metadata", uint64(met), uint64(a.met))
	wrong.number("chunks", uint64(chunks), uint64(a.boxed))
	if all > 0 {
		wrong.number("ns as the first time", first, a.first)
		wrong.number("ns as the last time", last, a.last)
	}
	if wrong.n > 0 {
		r.problems.Add(at, names[opStatistics], "say %s, of what was read", &wrong)
	}
}

// pieceIndex holds the index of an attachment or of metadata against what stands at
// its place.
func (r *Reader) pieceIndex(at int64, kind op, b []byte) {
	c := content{b: b}
	from, length := c.u64(), c.u64()
	there, ok := r.audit.pieces[int64(min(from, 1<<62))]
	switch {
	case c.err != nil:
		r.problems.Add(at, names[kind], "%v", c.err)
	case len(r.audit.pieces) == maxAuditPieces || !ok && !r.clean:
	case !ok:
		r.problems.Add(at, names[kind], "names byte %d: %v", from, errPointless)
	case uint64(there) != length:
		r.problems.Add(at, names[kind], "says of that at byte %d %d bytes and not %d", from, length, there)
	}
}

// offsetOf holds a summary offset against the records of its kind.
func (r *Reader) offsetOf(at int64, b []byte) {
	c := content{b: b}
	kind := op(c.take(1)[0])
	from, length := c.u64(), c.u64()
	g, there := r.audit.places[kind]
	switch {
	case c.err != nil:
		r.problems.Add(at, names[opSummaryOffset], "%v", c.err)
	case r.audit.ended == 0: // the footer tells
	case !there && length == 0: // of none there are none
	case from != uint64(g.at) || length != uint64(g.end-g.at):
		r.problems.Add(at, names[opSummaryOffset], "says that kind %d of records stands at byte %d, %d bytes long, and not at %d, %d long", kind, from, length, g.at, g.end-g.at)
	}
}

// footer holds the record that ends the file against where the summary stands, and
// ends the reading.
func (r *Reader) footer(at int64) error {
	b := r.w.Peek(headSize + footerSize + len(Magic))
	if len(b) < headSize+footerSize {
		return r.end(at, len(b))
	}
	c := content{b: b[headSize : headSize+footerSize]}
	summary, offsets, said := c.u64(), c.u64(), c.u32()
	a := &r.audit
	if a.ended == 0 {
		r.problems.Add(at, names[opFooter], "the record that ends the data is missing before it")
	} else {
		begin := uint64(a.ended)
		if at == a.ended {
			begin = 0 // there is none
		}
		var wrong differences
		wrong.number("as the byte where the summary begins", summary, begin)
		wrong.number("as the byte where the summary offsets begin", offsets, uint64(a.offsets))
		if wrong.n > 0 {
			r.problems.Add(at, names[opFooter], "says %s", &wrong)
		}
		if read := crc32.Update(a.crc, crc32.IEEETable, b[:headSize+footerSize-4]); said != 0 && said != read {
			r.problems.Add(at, names[opFooter], "its checksum of the summary, %08x, does not fit, it has %08x: bytes of it are damaged", said, read)
		}
	}
	if missing := r.unnamed(); missing > 0 {
		r.problems.Add(at, names[opChunkIndex], "%d of %d chunks have none", missing, len(a.chunks))
	}
	if !bytes.Equal(b[headSize+footerSize:], Magic) {
		r.problems.Add(at+headSize+footerSize, "file", "does not end with what an MCAP file ends with")
	} else if r.w.Pass(len(b)); len(r.w.Peek(1)) > 0 {
		r.problems.Add(r.w.Offset(), "file", "goes on behind its end; what stands there is not read")
	}
	return io.EOF
}

// unnamed counts the chunks that no chunk index names, where others are named.
func (r *Reader) unnamed() (n int) {
	if !r.audit.indexed || !r.clean {
		return 0
	}
	for i := range r.audit.chunks {
		if !r.audit.chunks[i].seen {
			n++
		}
	}
	return n
}
