package mcap

import (
	"bytes"
	"encoding/binary"
)

// resync goes on at the next place at which a chunk stands, or the records that
// end the data, and says which bytes it passed.
func (r *Reader) resync(at int64, kind op) error {
	name := names[kind]
	if name == "" {
		name = "record"
	}
	r.w.Pass(1)
	for {
		held := r.w.Peek(window / 2)
		most := len(held) - headSize - maxChunkHead
		if most <= 0 {
			r.w.Pass(len(held))
			r.problems.Add(at, name, "the last %d bytes are damaged or cut off and are not read", r.w.Offset()-at)
			return nil
		}
		for i := 0; i < most; i++ {
			k := bytes.IndexAny(held[i:most], "\x06\x0f")
			if k < 0 {
				break
			}
			if i += k; stands(held[i:]) {
				r.w.Pass(i)
				r.problems.Add(at, name, "damaged; %d bytes passed, read on at byte %d", r.w.Offset()-at, r.w.Offset())
				return nil
			}
		}
		r.w.Pass(most)
	}
}

// stands says whether b begins with a chunk whose lengths agree, or with the end
// of the data and what follows it.
func stands(b []byte) bool {
	size := binary.LittleEndian.Uint64(b[1:])
	if op(b[0]) == opDataEnd {
		return size == 4 && len(b) > headSize+4 && names[op(b[headSize+4])] != ""
	}
	k, err := parseChunk(b[headSize : headSize+maxChunkHead])
	return err == nil && uint64(k.head)+k.packed == size && k.start <= k.end && k.size <= maxChunk &&
		(k.compression == "" || k.compression == "lz4" || k.compression == "zstd")
}
