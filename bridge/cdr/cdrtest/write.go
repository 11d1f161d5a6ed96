// Package cdrtest writes messages as CDR, by the rules and not by a schema, for
// tests: each call appends one value, aligned to its size.
package cdrtest

import (
	"encoding/binary"
	"math"
)

// Writer is a message being written.
type Writer struct {
	B     []byte // with the encapsulation header
	order binary.AppendByteOrder
	wide  int
}

// New begins a message in plain CDR of version 1, little-endian.
func New() *Writer { return &Writer{B: []byte{0, 1, 0, 0}, order: binary.LittleEndian, wide: 8} }

// NewAs begins a message of version 1 or 2, big-endian or not.
func NewAs(version int, big bool) *Writer {
	w := New()
	if version == 2 {
		w.B[1], w.wide = 7, 4
	}
	if big {
		w.B[1]--
		w.order = binary.BigEndian
	}
	return w
}

func (w *Writer) align(n int) {
	for (len(w.B)-4)%min(n, w.wide) != 0 {
		w.B = append(w.B, 0xEE) // what nobody should read
	}
}

// U8 appends a byte.
func (w *Writer) U8(v ...uint8) *Writer { w.B = append(w.B, v...); return w }

// U32 appends numbers of four bytes.
func (w *Writer) U32(v ...uint32) *Writer {
	for _, x := range v {
		w.align(4)
		w.B = w.order.AppendUint32(w.B, x)
	}
	return w
}

// U64 appends numbers of eight bytes.
func (w *Writer) U64(v ...uint64) *Writer {
	for _, x := range v {
		w.align(8)
		w.B = w.order.AppendUint64(w.B, x)
	}
	return w
}

// F32 appends numbers of single precision.
func (w *Writer) F32(v ...float32) *Writer {
	for _, x := range v {
		w.U32(math.Float32bits(x))
	}
	return w
}

// F64 appends numbers of double precision.
func (w *Writer) F64(v ...float64) *Writer {
	for _, x := range v {
		w.U64(math.Float64bits(x))
	}
	return w
}

// Text appends a text with its length and the zero that ends it.
func (w *Writer) Text(s ...string) *Writer {
	for _, x := range s {
		w.U32(uint32(len(x) + 1))
		w.B = append(append(w.B, x...), 0)
	}
	return w
}

// Seq appends the length of a sequence.
func (w *Writer) Seq(n int) *Writer { return w.U32(uint32(n)) }
