package msgbin

import (
	"hash/crc32"
	"math"
)

// Logs and recordings are sequences of records. A record is an array of three: its
// kind, from 0 to MaxKind, the CRC-32C of the kind as one byte followed by the
// payload, and the payload as a bin.
const (
	RecordStart = 0x93 // the first byte of every record
	MaxKind     = 0x7f
)

// Record is a record, its payload in place.
type Record struct {
	Kind    uint8
	Payload []byte
	Size    int // bytes of the whole record
	sum     uint32
}

// Intact reports whether the checksum matches the record.
func (r *Record) Intact() bool { return checksum(r.Kind, r.Payload) == r.sum }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// kindBytes[k] is k, so that a checksum can run over a kind without allocating.
var kindBytes = func() (b [MaxKind + 1]byte) {
	for k := range b {
		b[k] = byte(k)
	}
	return b
}()

// checksum returns the checksum of a record.
func checksum(kind uint8, payload []byte) uint32 {
	return crc32.Update(crc32.Update(0, castagnoli, kindBytes[kind:kind+1]), castagnoli, payload)
}

// Record appends a record.
func (w *Writer) Record(kind uint8, payload []byte) {
	w.Array(3)
	w.Uint(uint64(kind))
	w.Uint(uint64(checksum(kind, payload)))
	w.Bin(payload)
}

// Record reads a record with a payload of up to maxPayload bytes. It does not
// compute the checksum.
func (r *Reader) Record(maxPayload int) (rec Record, err error) {
	if code := r.data[r.Offset():]; len(code) > 0 && code[0] != RecordStart {
		return rec, r.fail("no record starts here")
	}
	from := r.Offset()
	if _, err = r.Array(3); err != nil {
		return rec, err
	}
	kind, err := r.Uint64()
	if err != nil {
		return rec, err
	}
	sum, err := r.Uint64()
	if err != nil {
		return rec, err
	}
	if kind > MaxKind || sum > math.MaxUint32 {
		return rec, r.fail("the kind or the checksum of a record is out of range")
	}
	if rec.Payload, err = r.Bin(maxPayload); err != nil {
		return rec, err
	}
	rec.Kind, rec.sum, rec.Size = uint8(kind), uint32(sum), r.Offset()-from
	return rec, nil
}
