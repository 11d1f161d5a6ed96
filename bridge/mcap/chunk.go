package mcap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// chunk is the head of a chunk, which precedes its records.
type chunk struct {
	first, last uint64 // ns
	size        uint64 // bytes of the records, unpacked
	crc         uint32 // of them; 0 = not known
	compression string
	packed      uint64 // bytes that follow
	head        int    // bytes before them
}

// maxChunkHead is enough for the head of a chunk of a compression that is known.
const maxChunkHead = 8 + 8 + 8 + 4 + 4 + 16 + 8

// parseChunk reads the head of a chunk; ok is false where b does not hold one.
// mcap.ParseChunk does not check the length of the records that it slices.
func parseChunk(b []byte) (k chunk, ok bool) {
	if len(b) < 32 {
		return k, false
	}
	le := binary.LittleEndian
	k.first, k.last, k.size, k.crc = le.Uint64(b), le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint32(b[24:])
	n := uint64(le.Uint32(b[28:]))
	if n+8 > uint64(len(b)-32) {
		return k, false
	}
	k.compression, k.packed, k.head = string(b[32:32+n]), le.Uint64(b[32+n:]), int(40+n)
	return k, true
}

// unpacker holds the memory for chunks.
type unpacker struct {
	plain []byte
	zstd  *zstd.Decoder
	lz4   *lz4.Reader
}

// unpack unpacks the records of a chunk, as far as that goes: packed may be cut
// off. The bytes are valid until the next call. The error is what is wrong with
// them; bytes that are returned with one are as they were written, unless the error is
// errSum.
func (u *unpacker) unpack(k *chunk, packed []byte) ([]byte, error) {
	if k.size > maxRecord {
		return nil, fmt.Errorf("it unpacks to %d bytes, more than the limit of %d", k.size, maxRecord)
	}
	var r io.Reader
	switch k.compression {
	case "":
		r = bytes.NewReader(packed)
	case "zstd":
		if u.zstd == nil {
			d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(2*maxRecord))
			if err != nil {
				return nil, err
			}
			u.zstd = d
		}
		if err := u.zstd.Reset(bytes.NewReader(packed)); err != nil {
			return nil, err
		}
		r = u.zstd
	case "lz4":
		if u.lz4 == nil {
			u.lz4 = lz4.NewReader(nil)
		}
		u.lz4.Reset(bytes.NewReader(packed))
		r = u.lz4
	default:
		return nil, fmt.Errorf("compression %q is not known", k.compression)
	}
	if uint64(cap(u.plain)) < k.size {
		u.plain = make([]byte, k.size)
	}
	plain := u.plain[:k.size]
	n, err := io.ReadFull(r, plain)
	if err != nil && !(k.size == 0 && errors.Is(err, io.EOF)) {
		return plain[:n], fmt.Errorf("only %d of %d bytes can be unpacked (%w)", n, k.size, err)
	}
	if k.crc != 0 && crc32.ChecksumIEEE(plain) != k.crc {
		return nil, errSum
	}
	return plain, nil
}

var errSum = errors.New("its checksum does not fit")

// close frees memory.
func (u *unpacker) close() {
	if u.zstd != nil {
		u.zstd.Close()
	}
}
