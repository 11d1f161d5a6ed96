package msgbin

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// Reader is a cursor over msgpack bytes. It never panics and, except for String
// and errors, allocates nothing after its first use.
type Reader struct {
	data []byte
	base int // offset of data in what errors count from
	in   bytes.Reader
	dec  *msgpack.Decoder // reads in

	unknown      int    // keys that Fields skipped
	firstUnknown []byte // of these, in place
	deferred     []Deferred
}

// NewReader returns a cursor at the start of b, which it reads in place.
func NewReader(b []byte) *Reader {
	r := new(Reader)
	r.dec = msgpack.NewDecoder(&r.in)
	r.Reset(b)
	return r
}

// readers holds Readers to use again. A sync.Pool would drop them at every second
// garbage collection, and the next message would allocate.
var readers = make(chan *Reader, 16)

// AcquireReader is NewReader with the memory of an earlier Reader. Release gives
// it back.
func AcquireReader(b []byte) *Reader {
	select {
	case r := <-readers:
		r.Reset(b)
		return r
	default:
		return NewReader(b)
	}
}

// Release gives the Reader back; it must not be used again.
func (r *Reader) Release() {
	r.Reset(nil)
	r.firstUnknown = nil
	clear(r.deferred)
	select {
	case readers <- r:
	default:
	}
}

// Reset moves the cursor to the start of b.
func (r *Reader) Reset(b []byte) { r.ResetRaw(Raw{Bytes: b}) }

// Raw is the bytes of one value, in place.
type Raw struct {
	Bytes  []byte // none = absent or nil
	Offset int    // of the value in the data that it is part of
}

// ResetRaw moves the cursor to the start of a value. Errors count their offset
// from the start of the data that the value is part of.
func (r *Reader) ResetRaw(v Raw) {
	r.data, r.base = v.Bytes, v.Offset
	r.in.Reset(v.Bytes)
}

// Offset returns the number of bytes read so far.
func (r *Reader) Offset() int { return len(r.data) - r.in.Len() }

// Left returns the number of bytes not yet read.
func (r *Reader) Left() int { return r.in.Len() }

// move sets the offset, which is within the data.
func (r *Reader) move(offset int) {
	// Seek fails for negative offsets only.
	_, _ = r.in.Seek(int64(offset), io.SeekStart)
}

// next returns the kind of the next value and its first byte.
func (r *Reader) next(want string) (kind, byte, error) {
	if r.Left() == 0 {
		return 0, 0, r.short(want)
	}
	code := r.data[r.Offset()]
	return kinds[code], code, nil
}

// expect returns an error unless the next value is of a kind.
func (r *Reader) expect(want kind) error {
	got, _, err := r.next(want.String())
	if err == nil && got != want {
		err = r.mismatch(want.String())
	}
	return err
}

// Map reads the header of a map and returns its number n of pairs, 0 ≤ n ≤ max.
// 2n values follow.
func (r *Reader) Map(max int) (n int, err error) { return r.container(mapping, max) }

// Array reads the header of an array and returns its number n of elements,
// 0 ≤ n ≤ max. n values follow.
func (r *Reader) Array(max int) (n int, err error) { return r.container(array, max) }

func (r *Reader) container(k kind, max int) (n int, err error) {
	if err := r.expect(k); err != nil {
		return 0, err
	}
	at, values := r.Offset(), 1 // values of an entry, each of one byte or more
	if k == mapping {
		values = 2
		n, err = r.dec.DecodeMapLen()
	} else {
		n, err = r.dec.DecodeArrayLen()
	}
	left := r.Left()
	switch {
	case err != nil:
		return 0, r.truncated(at, k.String())
	case n < 0 || n > max: // negative: more than an int of 32 bits holds
		r.move(at)
		return 0, r.fail(fmt.Sprintf("%v of %d entries, more than the limit of %d", k, uint32(n), max))
	case n > left/values:
		r.move(at)
		return 0, r.failShort(fmt.Sprintf("%v of %d entries, but only %d bytes are left", k, n, left))
	}
	return n, nil
}

// String reads a string of up to max bytes into new memory.
func (r *Reader) String(max int) (string, error) {
	b, err := r.StringBytes(max)
	return string(b), err
}

// StringBytes reads a string of up to max bytes and returns it in place: the
// result is part of the slice being read. `switch string(b)` does not allocate.
func (r *Reader) StringBytes(max int) ([]byte, error) { return r.bytes(text, max) }

// Bin reads binary data of up to max bytes and returns it in place.
func (r *Reader) Bin(max int) ([]byte, error) { return r.bytes(bin, max) }

func (r *Reader) bytes(k kind, max int) ([]byte, error) {
	if err := r.expect(k); err != nil {
		return nil, err
	}
	at := r.Offset()
	n, err := r.dec.DecodeBytesLen()
	if err != nil {
		return nil, r.truncated(at, k.String())
	}
	return r.content(at, n, k, max)
}

// content reads n bytes, the content of the value of kind k at offset at.
func (r *Reader) content(at, n int, k kind, max int) ([]byte, error) {
	left := r.Left()
	switch {
	case n < 0 || n > max: // negative: more than an int of 32 bits holds
		r.move(at)
		return nil, r.fail(fmt.Sprintf("%v of %d bytes, more than the limit of %d", k, uint32(n), max))
	case n > left:
		r.move(at)
		return nil, r.failShort(fmt.Sprintf("%v of %d bytes, but only %d are left", k, n, left))
	}
	from := r.Offset()
	r.move(from + n)
	return r.data[from : from+n : from+n], nil
}

// Bool reads a bool.
func (r *Reader) Bool() (bool, error) {
	if err := r.expect(boolean); err != nil {
		return false, err
	}
	return r.dec.DecodeBool()
}

// Nil reads a nil if one is next, and reports whether it did.
func (r *Reader) Nil() bool {
	k, _, err := r.next("")
	return err == nil && k == null && r.dec.DecodeNil() == nil
}

// Int64 reads an integer of any width, or a float that is whole.
func (r *Reader) Int64() (v int64, err error) {
	k, code, err := r.next("an integer")
	if err != nil {
		return 0, err
	}
	at, fits := r.Offset(), true
	switch {
	case k == float:
		var f float64
		f, err = r.dec.DecodeFloat64()
		// Both bounds are exact in float64; NaN fails the first comparison.
		if fits = f >= math.MinInt64 && f < -math.MinInt64 && f == math.Trunc(f); fits {
			v = int64(f)
		}
	case code == msgpcode.Uint64:
		var u uint64
		u, err = r.dec.DecodeUint64()
		v, fits = int64(u), u <= math.MaxInt64
	case k == integer:
		v, err = r.dec.DecodeInt64()
	default:
		return 0, r.mismatch("an integer")
	}
	if err != nil {
		return 0, r.truncated(at, "an integer")
	}
	if !fits {
		r.move(at)
		return 0, r.fail("a number that is not whole or does not fit 64 bits with sign, where an integer is expected")
	}
	return v, nil
}

// Uint64 reads an integer ≥ 0 of any width, or a float that is whole.
func (r *Reader) Uint64() (uint64, error) {
	if _, code, err := r.next("an integer"); err == nil && code == msgpcode.Uint64 {
		return r.uint64()
	}
	at := r.Offset()
	v, err := r.Int64()
	if err == nil && v < 0 {
		r.move(at)
		err = r.fail("a number that is negative, where an integer of 0 or more is expected")
	}
	return uint64(max(v, 0)), err
}

// uint64 reads an integer whose code is Uint64.
func (r *Reader) uint64() (uint64, error) {
	at := r.Offset()
	v, err := r.dec.DecodeUint64()
	if err != nil {
		return 0, r.truncated(at, "an integer")
	}
	return v, nil
}

// Float64 reads a float of either width or an integer.
func (r *Reader) Float64() (float64, error) {
	k, code, err := r.next("a number")
	switch {
	case err != nil:
		return 0, err
	case code == msgpcode.Uint64: // the library reads it as an int64
		u, err := r.uint64()
		return float64(u), err
	case k != float && k != integer:
		return 0, r.mismatch("a number")
	}
	at := r.Offset()
	v, err := r.dec.DecodeFloat64()
	if err != nil {
		return 0, r.truncated(at, "a number")
	}
	return v, nil
}

// Raw reads past one value of any type and returns its bytes, none for nil.
func (r *Reader) Raw() (Raw, error) {
	if r.Nil() {
		return Raw{}, nil
	}
	at := r.Offset()
	err := r.Skip()
	return Raw{Bytes: r.data[at:r.Offset()], Offset: r.base + at}, err
}

// Skip reads past one value of any type, containers and extensions with all they
// hold.
//
// It counts the values still to be read instead of recursing, so nesting of any
// depth costs no stack, and its work is bounded by the bytes that are left.
func (r *Reader) Skip() error {
	for pending := 1; pending > 0; pending-- {
		// Every value takes a byte, so there cannot be more values than bytes.
		if pending > r.Left() {
			return r.short("a value")
		}
		k, _, err := r.next("a value")
		n, at := 0, r.Offset()
		switch {
		case err != nil:
		case k == mapping:
			n, err = r.Map(math.MaxInt)
			n *= 2
		case k == array:
			n, err = r.Array(math.MaxInt)
		case k == text || k == bin:
			_, err = r.bytes(k, math.MaxInt)
		case k == extension:
			var size int
			if _, size, err = r.dec.DecodeExtHeader(); err != nil {
				err = r.truncated(at, k.String())
			} else {
				_, err = r.content(at, size, k, math.MaxInt)
			}
		case k == invalid:
			err = r.mismatch("a value")
		default: // of 9 bytes or less
			if r.dec.Skip() != nil {
				err = r.truncated(at, k.String())
			}
		}
		if err != nil {
			return err
		}
		pending += n
	}
	return nil
}

// truncated moves back to the value at an offset, which the library could not read to
// its end.
func (r *Reader) truncated(at int, want string) error {
	r.move(at)
	return r.short(want)
}

func (r *Reader) short(want string) error {
	return r.failShort("the data ends where " + want + " is expected")
}

func (r *Reader) failShort(reason string) error {
	return &Error{Offset: r.base + r.Offset(), Reason: reason, Short: true}
}

func (r *Reader) mismatch(want string) error {
	return r.fail("expected " + want + ", found " + kinds[r.data[r.Offset()]].String())
}

func (r *Reader) fail(reason string) error {
	return &Error{Offset: r.base + r.Offset(), Reason: reason}
}

// Resize returns s with n elements, in its own memory where that suffices. The
// elements keep what they held.
func Resize[E any](s []E, n int) []E {
	if n <= cap(s) {
		return s[:n]
	}
	return append(s[:cap(s)], make([]E, n-cap(s))...)
}
