package journal

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/dgm-robotics/dgm/estimator/msgbin"
)

// Reader reads a journal.
type Reader struct {
	Header Header

	// The record that Next read; those of other kinds hold what they held.
	Model      Model
	State      State
	Prediction Prediction
	Lost       uint64 // records that are missing before the one read, in all

	name    string
	in      *bufio.Reader
	offset  int64 // of the next record
	at      int64 // of the record read
	record  int   // number of records read
	next    uint64
	payload bytes.Buffer
}

// ErrTorn is that a journal ends within a record, as it does where the power was
// cut; what was read before is whole.
var ErrTorn = errors.New("the file ends within a record")

// NewReader reads the header. name is for errors.
func NewReader(in io.Reader, name string) (*Reader, error) {
	r := &Reader{name: name, in: bufio.NewReaderSize(in, 64<<10)}
	k, err := r.frame()
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, ErrTorn) {
			return nil, fmt.Errorf("%s: %w", name, ErrTorn)
		}
		return nil, err
	}
	if k != KindHeader {
		return nil, r.fail("is not the header of a journal: was this file written by --record?")
	}
	b := msgbin.NewReader(r.payload.Bytes())
	if err := r.Header.read(&b); err != nil {
		return nil, r.fail(err.Error())
	}
	return r, nil
}

// Record returns the number and the place of the record that Next read.
func (r *Reader) Record() (number int, offset int64) { return r.record - 1, r.at }

// Next reads a record. It returns io.EOF at the end, ErrTorn where the file ends
// within a record, and an *Error for what cannot be read.
func (r *Reader) Next() (Kind, error) {
	k, err := r.frame()
	if err != nil {
		return 0, err
	}
	b := msgbin.NewReader(r.payload.Bytes())
	n, err := b.Array(64)
	if err != nil || n < 1 {
		return 0, r.fail("is not an array with a number")
	}
	number, err := b.Uint64()
	if err != nil {
		return 0, r.fail("has no number")
	}
	if number < r.next {
		return 0, r.fail(fmt.Sprintf("has number %d, after %d", number, r.next))
	}
	if k == KindLost { // announces the gap; the next record has this number too
		return k, nil
	}
	r.Lost += number - r.next
	r.next = number + 1
	switch k {
	case KindModel:
		err = r.Model.read(&b, n)
	case KindState:
		err = r.State.read(&b, n)
	case KindPrediction:
		err = r.Prediction.read(&b, n)
	}
	if err != nil {
		return 0, r.fail(err.Error())
	}
	return k, nil
}

// frame reads one record's frame; its payload is then in r.payload.
func (r *Reader) frame() (Kind, error) {
	r.at = r.offset
	r.record++
	var head [12]byte
	if _, err := io.ReadFull(r.in, head[:1]); err != nil {
		return 0, io.EOF
	}
	if head[0] == 0 {
		return 0, ErrTorn // what a file system leaves behind a power cut
	}
	if head[0] != frameStart {
		return 0, r.fail("no record begins here: the file is damaged")
	}
	if err := r.full(head[1:2]); err != nil {
		return 0, err
	}
	kind := head[1]
	sum, n1, err := r.uint(head[2:])
	if err != nil {
		return 0, err
	}
	size, n2, err := r.binHeader(head[2:])
	if err != nil {
		return 0, err
	}
	if size > mostBytes {
		return 0, r.fail(fmt.Sprintf("claims %d bytes, at most %d", size, mostBytes))
	}
	r.payload.Reset()
	if _, err := io.CopyN(&r.payload, r.in, int64(size)); err != nil {
		return 0, ErrTorn
	}
	if kind == 0 || int(kind) >= len(kindBytes) {
		return 0, r.fail(fmt.Sprintf("is of kind %d, which this program does not know", kind))
	}
	if uint64(checksum(Kind(kind), r.payload.Bytes())) != sum {
		return 0, r.fail("its checksum does not fit: the file is damaged")
	}
	r.offset += int64(2+n1+n2) + int64(size)
	return Kind(kind), nil
}

func (r *Reader) full(b []byte) error {
	if _, err := io.ReadFull(r.in, b); err != nil {
		return ErrTorn
	}
	return nil
}

// uint reads a msgpack unsigned integer and returns its size too.
func (r *Reader) uint(b []byte) (v uint64, n int, err error) {
	if err := r.full(b[:1]); err != nil {
		return 0, 0, err
	}
	width := 0
	switch c := b[0]; {
	case c <= 0x7f:
		return uint64(c), 1, nil
	case c >= 0xcc && c <= 0xcf:
		width = 1 << (c - 0xcc)
	default:
		return 0, 0, r.fail("has no checksum")
	}
	return r.big(b[1:], width)
}

// binHeader reads the header of a bin.
func (r *Reader) binHeader(b []byte) (size uint64, n int, err error) {
	if err := r.full(b[:1]); err != nil {
		return 0, 0, err
	}
	if b[0] < 0xc4 || b[0] > 0xc6 {
		return 0, 0, r.fail("has no payload")
	}
	return r.big(b[1:], 1<<(b[0]-0xc4))
}

// big reads a big-endian integer of some bytes, behind one that was read.
func (r *Reader) big(b []byte, width int) (v uint64, n int, err error) {
	if err := r.full(b[:width]); err != nil {
		return 0, 0, err
	}
	var whole [8]byte
	copy(whole[8-width:], b[:width])
	return binary.BigEndian.Uint64(whole[:]), 1 + width, nil
}

func (r *Reader) fail(text string) error {
	return &Error{Name: r.name, Record: r.record - 1, Offset: r.at, Text: text}
}
