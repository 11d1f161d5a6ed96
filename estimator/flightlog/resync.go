package flightlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

// skipDamage moves to the next whole record, or to the end of the log, and
// reports the damage between. reason is the error at the place it starts from.
//
// Records are found by their checksum. Any byte may look like the start of a
// record of a megabyte, so that checking every candidate could cost time quadratic
// in the length of the log; a budget keeps it linear.
func (r *Reader) skipDamage(reason error) error {
	d := &DamageError{Path: r.path, Offset: r.src.Offset(), Record: r.records, Err: reason}
	budget := sumBudget
	zeros := r.src.Bytes()[0] == 0
	r.src.Advance(1)
	for {
		window := r.src.Bytes()
		n := bytes.IndexByte(window, msgbin.RecordStart)
		if n < 0 {
			n = len(window)
		}
		zeros = zeros && len(bytes.TrimLeft(window[:n], "\x00")) == 0
		budget += sumsPerByte * n
		r.src.Advance(n)
		if n == len(window) {
			if r.src.Fill(1) {
				continue
			}
			break
		}
		zeros = false
		if _, whole := r.recordAt(0, &budget); whole {
			d.End = r.src.Offset()
			return d
		}
		budget += sumsPerByte
		r.src.Advance(1)
	}
	if err := r.src.Err(); err != nil {
		return fmt.Errorf("%s: reading at byte %d: %w", r.path, r.src.Offset(), err)
	}
	d.End, d.Tail = r.src.Offset(), true
	if zeros {
		d.Err = errZeros
	}
	return d
}

// Why the bytes at some place are no whole record.
var (
	errNoRecord = errors.New("no record starts here")
	errChecksum = errors.New("the checksum does not match the record")
	errTorn     = fmt.Errorf("the log ends within a record (%w)", io.ErrUnexpectedEOF)
	errNoCount  = fmt.Errorf("the count of the records, which ends a log, is missing, and perhaps records before it (%w)", io.ErrUnexpectedEOF)
	errZeros    = fmt.Errorf("only zeros from here on, as a power cut leaves them (%w)", io.ErrUnexpectedEOF)
)

// parse reads the record at the start of b. It returns errTorn where b ends before
// the record does. sum is how many bytes of payload were summed; a payload above
// maxSum is not summed but refused.
func (r *Reader) parse(b []byte, maxSum int) (rec msgbin.Record, sum int, err error) {
	if len(b) > 0 && b[0] != msgbin.RecordStart {
		return rec, 0, errNoRecord
	}
	r.raw.Reset(b)
	rec, err = r.raw.Record(MaxPayload)
	switch {
	case err == nil && len(rec.Payload) > maxSum:
		return rec, 0, errChecksum
	case err == nil && rec.Intact():
		return rec, len(rec.Payload), nil
	case err == nil:
		return rec, len(rec.Payload), errChecksum
	case errors.Is(err, io.ErrUnexpectedEOF):
		return rec, 0, errTorn
	}
	return rec, 0, errNoRecord
}

// recordAt returns the whole record at a place in the window, reading more as it
// needs to, and takes the bytes of payloads that it summed from the budget.
func (r *Reader) recordAt(at int, budget *int) (rec msgbin.Record, whole bool) {
	for {
		window := r.src.Bytes()
		rec, sum, err := r.parse(window[at:], *budget)
		if err == nil {
			return rec, true
		}
		*budget -= sum
		if !errors.Is(err, errTorn) || !r.src.Fill(len(window)+1) {
			return rec, false
		}
	}
}

// The budget bounds the bytes of candidates that are summed: a fixed part, so that
// no record is missed in ordinary damage, and a part for each byte passed.
const (
	sumBudget   = 16 << 20
	sumsPerByte = 64
)
