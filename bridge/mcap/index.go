package mcap

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// boxed is the chunk that was read last, kept until its message indexes are read.
type boxed struct {
	plain       []byte            // its records; nil where they are not whole
	size        int               // bytes of them that were unpacked
	messages    map[uint16]uint64 // by channel
	first, last uint64            // ns, as read
	behind      int64             // where its next message index must stand; 0 = no chunk
	indexes     int
}

// message counts a message of the chunk.
func (k *boxed) message(channel uint16, logged uint64) {
	if len(k.messages) == 0 {
		k.first, k.last = logged, logged
	}
	k.first, k.last = min(k.first, logged), max(k.last, logged)
	k.messages[channel]++
}

// times tells where a chunk says other times than its messages have.
func (r *Reader) times(k *boxed) {
	if len(k.messages) == 0 || k.plain == nil {
		return
	}
	if c := r.audit.find(r.recordAt); c != nil && (c.first != k.first || c.last != k.last) {
		r.problems.Add(r.recordAt, "chunk", "says that its messages are of %d to %d ns, those that were read are of %d to %d", c.first, c.last, k.first, k.last)
	}
}

// leave tells which channels of the chunk that was read have no message index, where
// others have.
func (r *Reader) leave(k *boxed) {
	if k.indexes > 0 && k.plain != nil {
		for _, channel := range sorted(k.messages) {
			r.problems.Add(k.behind, names[opMessageIndex], "there is none of channel %d, which has %d in the chunk at byte %d", channel, k.messages[channel], r.recordAt)
		}
	}
	k.behind = 0
}

// index holds a message index against the chunk before it.
func (r *Reader) index(at int64, b []byte) {
	k := &r.box
	c := content{b: b}
	channel, list := c.u16(), c.bytes()
	switch {
	case c.err != nil || len(c.b) > 0 || len(list)%16 != 0:
		r.problems.Add(at, names[opMessageIndex], "its length does not fit its content")
		return
	case k.behind != at:
		r.problems.Add(at, names[opMessageIndex], "stands behind no chunk")
		return
	}
	k.behind += headSize + int64(len(b))
	k.indexes++
	if f := r.audit.find(r.recordAt); f != nil {
		f.indexes += headSize + int64(len(b))
		f.kinds++
		f.places += place(channel, uint64(at))
	}
	if k.plain == nil {
		return // told already
	}
	there := k.messages[channel]
	delete(k.messages, channel)
	wrong, entries := 0, list
	var reason string
	for i := 0; len(entries) > 0; i, entries = i+1, entries[16:] {
		logged, from := binary.LittleEndian.Uint64(entries), binary.LittleEndian.Uint64(entries[8:])
		if !isMessage(k.plain, from, channel, logged) {
			if wrong++; wrong == 1 {
				reason = fmt.Sprintf("its entry %d, byte %d of the chunk at byte %d, is no message of channel %d at %d ns", i, from, r.recordAt, channel, logged)
			}
		}
	}
	n := uint64(len(list) / 16)
	switch {
	case wrong > 1:
		r.problems.Add(at, names[opMessageIndex], "%s, nor are %d other entries", reason, wrong-1)
	case wrong == 1:
		r.problems.Add(at, names[opMessageIndex], "%s", reason)
	case n != there:
		r.problems.Add(at, names[opMessageIndex], "lists %d of channel %d, the chunk at byte %d has %d", n, channel, r.recordAt, there)
	}
}

// isMessage says whether a message of a channel and a time stands at a place in the
// records of a chunk.
func isMessage(plain []byte, from uint64, channel uint16, logged uint64) bool {
	const most = headSize + 2 + 4 + 8 // up to the time
	if n := uint64(len(plain)); n < most || from > n-most {
		return false
	}
	b := plain[from:]
	return op(b[0]) == opMessage && binary.LittleEndian.Uint16(b[headSize:]) == channel && binary.LittleEndian.Uint64(b[headSize+6:]) == logged
}

// chunkIndex holds a chunk index against the chunk that was read at its place.
func (r *Reader) chunkIndex(at int64, b []byte) {
	c := content{b: b}
	first, last, from, length := c.u64(), c.u64(), c.u64(), c.u64()
	list := content{b: c.bytes()}
	indexes, compression, packed, size := c.u64(), c.text(), c.u64(), c.u64()
	if c.err != nil || len(list.b)%10 != 0 {
		r.problems.Add(at, names[opChunkIndex], "its length does not fit its content")
		return
	}
	kinds, places := len(list.b)/10, uint64(0)
	for len(list.b) > 0 {
		places += place(list.u16(), list.u64())
	}
	r.audit.indexed = true
	f := r.audit.find(int64(min(from, 1<<62)))
	if f == nil {
		if !r.audit.more && r.clean {
			r.problems.Add(at, names[opChunkIndex], "names a chunk at byte %d, where none stands", from)
		}
		return
	}
	f.seen = true
	var wrong differences
	wrong.number("bytes", length, uint64(f.end-f.at))
	wrong.number("ns as its first time", first, f.first)
	wrong.number("ns as its last time", last, f.last)
	wrong.number("bytes of records, packed", packed, f.packed)
	wrong.number("bytes of records", size, f.size)
	wrong.number("bytes of message indexes", indexes, uint64(f.indexes))
	wrong.number("message indexes", uint64(kinds), uint64(f.kinds))
	if compression != f.compression {
		wrong.add(fmt.Sprintf("the compression %.20q and not %.20q", compression, f.compression))
	}
	if kinds == f.kinds && places != f.places {
		wrong.add("other places of its message indexes")
	}
	if wrong.n > 0 {
		r.problems.Add(at, names[opChunkIndex], "says of the chunk at byte %d %s", f.at, &wrong)
	}
}

// differences are what a record says otherwise than it was read, in words.
type differences struct {
	first []string
	n     int
}

// told is how many differences of a record are told one by one.
const told = 5

func (d *differences) add(text string) {
	if d.n++; d.n <= told {
		d.first = append(d.first, text)
	}
}

func (d *differences) number(of string, said, read uint64) {
	if said != read && d.n < told {
		d.add(fmt.Sprintf("%d %s and not %d", said, of, read))
	} else if said != read {
		d.n++
	}
}

func (d *differences) String() string {
	text := strings.Join(d.first, ", ")
	if d.n > told {
		text += fmt.Sprintf(" and %d more that differ", d.n-told)
	}
	return text
}
