package ros

import (
	"bytes"

	"github.com/klauspost/compress/zstd"
)

// packed is what a message begins with that ROS 2's recorder packed by itself (compression
// mode message); no message in CDR does.
var packed = []byte{0x28, 0xb5, 0x2f, 0xfd}

// maxMessage bounds a message, unpacked, in bytes.
const maxMessage = 64 << 20

// unpacker holds the memory for messages that are packed one by one.
type unpacker struct {
	decoder *zstd.Decoder
	plain   []byte
}

// unpack returns a message as it was before it was packed, valid until the next call.
func (u *unpacker) unpack(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, packed) {
		return data, nil
	}
	if u.decoder == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxMessage))
		if err != nil {
			return nil, err
		}
		u.decoder = d
	}
	var err error
	u.plain, err = u.decoder.DecodeAll(data, u.plain[:0])
	return u.plain, err
}

// Close frees memory.
func (r *Messages) Close() {
	if r.unpacker.decoder != nil {
		r.unpacker.decoder.Close()
	}
}
