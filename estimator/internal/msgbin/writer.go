package msgbin

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/vmihailenco/msgpack/v5"
)

// Writer appends msgpack values to a slice. It allocates only where the slice is
// too short.
type Writer struct {
	sink sink
	enc  *msgpack.Encoder // writes to sink
}

// sink is the slice behind an Encoder. It never fails, and so no method of the
// Encoder returns an error here.
type sink struct{ buf []byte }

func (s *sink) Write(b []byte) (int, error) {
	s.buf = append(s.buf, b...)
	return len(b), nil
}

func (s *sink) WriteByte(b byte) error {
	s.buf = append(s.buf, b)
	return nil
}

// NewWriter returns a Writer that appends to dst.
func NewWriter(dst []byte) *Writer {
	w := &Writer{sink: sink{dst}}
	w.enc = msgpack.NewEncoder(&w.sink)
	return w
}

// Reset makes the Writer append to dst.
func (w *Writer) Reset(dst []byte) { w.sink.buf = dst }

// Bytes returns dst with what was appended.
func (w *Writer) Bytes() []byte { return w.sink.buf }

// Len returns the length of Bytes.
func (w *Writer) Len() int { return len(w.sink.buf) }

// writers holds Writers to use again, see readers.
var writers = make(chan *Writer, 16)

// Append returns dst with what write appends. It uses the Writer of an earlier
// call, so that nothing is allocated where dst is long enough.
func Append(dst []byte, write func(w *Writer)) []byte {
	var w *Writer
	select {
	case w = <-writers:
		w.Reset(dst)
	default:
		w = NewWriter(dst)
	}
	write(w)
	dst = w.Bytes()
	w.Reset(nil)
	select {
	case writers <- w:
	default:
	}
	return dst
}

// size panics for what no header holds; the library would write other sizes.
func size(n int) int {
	if n < 0 || uint64(n) > math.MaxUint32 {
		panic("msgbin: a size is beyond what msgpack holds")
	}
	return n
}

// Map appends the header of a map of n pairs.
func (w *Writer) Map(n int) { _ = w.enc.EncodeMapLen(size(n)) }

// Array appends the header of an array of n elements.
func (w *Writer) Array(n int) { _ = w.enc.EncodeArrayLen(size(n)) }

func (w *Writer) String(s string) {
	size(len(s))
	_ = w.enc.EncodeString(s)
}

// Bin appends binary data, which may be nil for none.
func (w *Writer) Bin(b []byte) {
	w.binHeader(len(b))
	w.sink.buf = append(w.sink.buf, b...)
}

// binHeader appends the header of a bin of n bytes.
func (w *Writer) binHeader(n int) { _ = w.enc.EncodeBytesLen(size(n)) }

// Int appends an integer in its shortest form.
func (w *Writer) Int(v int64) { _ = w.enc.EncodeInt(v) }

// Uint appends an integer in its shortest form.
func (w *Writer) Uint(v uint64) { _ = w.enc.EncodeUint(v) }

// Float64 appends a float64.
func (w *Writer) Float64(v float64) { _ = w.enc.EncodeFloat64(v) }

// Bool appends a bool.
func (w *Writer) Bool(v bool) { _ = w.enc.EncodeBool(v) }

// Nil appends nil.
func (w *Writer) Nil() { _ = w.enc.EncodeNil() }

// Raw appends encoded values as they are.
func (w *Writer) Raw(b []byte) { w.sink.buf = append(w.sink.buf, b...) }

// Strings appends an array of strings.
func (w *Writer) Strings(list []string) {
	w.Array(len(list))
	for _, s := range list {
		w.String(s)
	}
}

// Floats appends a vector as a bin of float64.
func (w *Writer) Floats(v []float64) {
	w.binHeader(8 * len(v))
	buf := slices.Grow(w.sink.buf, 8*len(v))
	for _, x := range v {
		buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(x))
	}
	w.sink.buf = buf
}

// Floats24 appends a vector as a bin of the upper three bytes of each number as a float32, rounded
// to nearest.
func (w *Writer) Floats24(v []float64) {
	w.binHeader(3 * len(v))
	buf := slices.Grow(w.sink.buf, 3*len(v))
	for _, x := range v {
		bits := math.Float32bits(float32(x)) + 1<<7
		buf = append(buf, byte(bits>>8), byte(bits>>16), byte(bits>>24))
	}
	w.sink.buf = buf
}

// Floats32 appends a vector as a bin of float32, each number rounded.
func (w *Writer) Floats32(v []float64) {
	w.binHeader(4 * len(v))
	buf := slices.Grow(w.sink.buf, 4*len(v))
	for _, x := range v {
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(float32(x)))
	}
	w.sink.buf = buf
}
