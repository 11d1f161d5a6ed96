package mcap

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// unpacker holds the memory for chunks.
type unpacker struct {
	packed, plain []byte
	zstd          *zstd.Decoder
	lz4           *lz4.Reader
}

// unpack unpacks the records of a chunk, as far as that goes: packed may be cut
// off. The bytes are valid until the next call. The error says what is wrong with
// them; bytes that come with one are as they were written, unless the error is
// errSum.
func (u *unpacker) unpack(k *chunk, packed []byte) ([]byte, error) {
	if k.size > maxChunk {
		return nil, fmt.Errorf("it unpacks to %d bytes, more than the limit of %d", k.size, maxChunk)
	}
	var r io.Reader
	switch k.compression {
	case "":
		r = bytes.NewReader(packed)
	case "zstd":
		if u.zstd == nil {
			d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(2*maxChunk))
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
	plain = plain[:n]
	if n == len(plain) && errors.Is(err, io.EOF) && k.size == 0 {
		err = nil
	}
	if err != nil {
		return plain, fmt.Errorf("only %d of %d bytes can be unpacked (%w)", n, k.size, err)
	}
	if k.crc != 0 && crc32.ChecksumIEEE(plain) != k.crc {
		return nil, errSum
	}
	return plain, nil
}

var errSum = errors.New("its checksum does not fit")

// close gives memory back.
func (u *unpacker) close() {
	if u.zstd != nil {
		u.zstd.Close()
	}
}
