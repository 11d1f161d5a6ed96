package flightlog

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/dgm-robotics/dgm/estimator/msgbin"
)

// frameStart is the first byte of every record: an array of three.
const frameStart = 0x93

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// kindByte[k] is k, so that a checksum can run over a kind without allocating.
var kindByte = func() (b [maxKind + 1]byte) {
	for k := range b {
		b[k] = byte(k)
	}
	return b
}()

// checksum is the CRC-32C of the kind, as one byte, followed by the payload.
func checksum(kind Kind, payload []byte) uint32 {
	return crc32.Update(crc32.Update(0, castagnoli, kindByte[kind:kind+1]), castagnoli, payload)
}

// appendFrame appends a whole record.
func appendFrame(dst []byte, kind Kind, payload []byte) []byte {
	dst = append(dst, frameStart, byte(kind))
	dst = msgbin.AppendUint(dst, uint64(checksum(kind, payload)))
	return msgbin.AppendBin(dst, payload)
}

// frame is a whole record, its payload in place.
type frame struct {
	kind    Kind
	payload []byte
	size    int // bytes with the framing
}

// Why the bytes at some place are no whole record.
var (
	errNoRecord = errors.New("no record starts here")
	errChecksum = errors.New("the checksum does not fit the record")
	errTorn     = fmt.Errorf("the log ends within a record (%w)", io.ErrUnexpectedEOF)
	errZeros    = fmt.Errorf("only zeros from here on, as a power cut leaves them (%w)", io.ErrUnexpectedEOF)
)

// parseFrame reads the record at the start of b. It returns errTorn where b ends
// before the record does, so that more bytes could make it whole. sum is how many
// bytes of payload were summed; a payload above maxSum is not summed but refused.
func parseFrame(b []byte, maxSum int) (f frame, sum int, err error) {
	if len(b) == 0 {
		return f, 0, errTorn
	}
	if b[0] != frameStart {
		return f, 0, errNoRecord
	}
	r := msgbin.NewReader(b[1:])
	kind, err := r.Uint64()
	var crc uint64
	if err == nil && kind > maxKind {
		return f, 0, errNoRecord
	}
	if err == nil {
		crc, err = r.Uint64()
	}
	if err == nil && crc > math.MaxUint32 {
		return f, 0, errNoRecord
	}
	if err == nil {
		f.payload, err = r.Bin(MaxPayload)
	}
	if err != nil {
		var e *msgbin.Error
		if errors.As(err, &e) && e.Short {
			return f, 0, errTorn
		}
		return f, 0, errNoRecord
	}
	if len(f.payload) > maxSum {
		return f, 0, errChecksum
	}
	f.kind, f.size = Kind(kind), 1+r.Offset()
	if checksum(f.kind, f.payload) != uint32(crc) {
		return f, len(f.payload), errChecksum
	}
	return f, len(f.payload), nil
}
