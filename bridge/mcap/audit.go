package mcap

import (
	"errors"
	"hash/crc32"
	"slices"
)

// What is kept of a file for comparing its index with, so that a hostile one takes
// no more memory than this. What is beyond is read, but its index is not judged.
const (
	maxAuditChunks = 1 << 16
	maxAuditPieces = 1 << 12 // attachments and metadata
)

// audit remembers what was read, in order to hold against it what the file says of
// itself: message indexes, chunk indexes, statistics, checksums and the footer.
// Nothing is found by an index here, so one that is wrong costs no message; but other
// programs look for messages by it and find others, or none.
type audit struct {
	chunks []chunkFacts // by where they stand
	more   bool         // there were more chunks than are kept
	pieces map[int64]int64
	places map[op]group // in the summary

	messages             map[uint16]uint64 // by channel
	first, last          uint64            // ns, when the first and the last message were recorded
	attached, met, boxed uint32            // attachments, metadata, chunks
	indexed              bool              // a chunk index was there

	crc     uint32 // of what was passed, since the data or the summary began
	ended   int64  // where the summary begins; 0 = still in the data
	offsets int64  // where the summary offsets begin; 0 = there are none
	late    bool   // data behind the end of the data were told
}

// group is where the records of one kind stand in the summary.
type group struct{ at, end int64 }

// chunkFacts is what an index says of a chunk.
type chunkFacts struct {
	at, end      int64 // in the file
	first, last  uint64
	packed, size uint64
	compression  string
	indexes      int64  // bytes of the message indexes behind it
	kinds        int    // how many those are
	places       uint64 // digest of where each of them stands
	seen         bool   // a chunk index names it
}

func newAudit() audit {
	return audit{pieces: map[int64]int64{}, places: map[op]group{}, messages: map[uint16]uint64{}}
}

// passed sums up bytes of the file.
func (a *audit) passed(b []byte) { a.crc = crc32.Update(a.crc, crc32.IEEETable, b) }

// message counts one.
func (a *audit) message(channel uint16, logged uint64) {
	if len(a.messages) == 0 {
		a.first, a.last = logged, logged
	}
	a.first, a.last = min(a.first, logged), max(a.last, logged)
	a.messages[channel]++
}

// chunk remembers one.
func (a *audit) chunk(at, end int64, k *chunk) {
	a.boxed++
	if len(a.chunks) == maxAuditChunks {
		a.more = true
		return
	}
	a.chunks = append(a.chunks, chunkFacts{at: at, end: end, first: k.start, last: k.end, packed: k.packed, size: k.size, compression: known(k.compression)})
}

// known returns a text that holds on to nothing else for the compressions there are.
func known(compression string) string {
	for _, c := range []string{"", "zstd", "lz4"} {
		if c == compression {
			return c
		}
	}
	return compression
}

// piece remembers an attachment or metadata.
func (a *audit) piece(kind op, at, end int64) {
	switch kind {
	case opAttachment:
		a.attached++
	case opMetadata:
		a.met++
	default:
		return
	}
	if len(a.pieces) < maxAuditPieces {
		a.pieces[at] = end - at
	}
}

// summarised remembers where a record of the summary stands.
func (a *audit) summarised(kind op, at, end int64) {
	if a.ended == 0 {
		return
	}
	if kind == opSummaryOffset {
		if a.offsets == 0 {
			a.offsets = at
		}
		return
	}
	g, there := a.places[kind]
	if !there {
		g.at = at
	}
	g.end = end
	a.places[kind] = g
}

// find returns the chunk that stands at a place, nil where none was read.
func (a *audit) find(at int64) *chunkFacts {
	i, ok := slices.BinarySearchFunc(a.chunks, at, func(c chunkFacts, at int64) int { return int(min(1, max(-1, c.at-at))) })
	if !ok {
		return nil
	}
	return &a.chunks[i]
}

// place is a digest of where the message index of a channel stands, to be summed up.
func place(channel uint16, at uint64) uint64 {
	h := at*0x9E3779B97F4A7C15 ^ uint64(channel)*0xC2B2AE3D27D4EB4F
	h ^= h >> 29
	return h * 0xBF58476D1CE4E5B9
}

var errPointless = errors.New("no record of that kind stands there")
