package mcap

import (
	"bytes"
	"encoding/binary"

	"github.com/foxglove/mcap/go/mcap"
)

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
