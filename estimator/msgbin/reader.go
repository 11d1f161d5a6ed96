package msgbin

import "fmt"

// Reader is a cursor over msgpack bytes. The zero value reads nothing; Reset
// gives it something to read. It never panics and, but for String and errors,
// never allocates.
type Reader struct {
	buf []byte
	off int
}

// NewReader returns a cursor at the start of b, which it reads in place.
func NewReader(b []byte) Reader { return Reader{buf: b} }

// Reset moves the cursor to the start of b.
func (r *Reader) Reset(b []byte) { r.buf, r.off = b, 0 }

// Offset returns the number of bytes read so far.
func (r *Reader) Offset() int { return r.off }

// Left returns the number of bytes not yet read.
func (r *Reader) Left() int { return len(r.buf) - r.off }

// Map reads the header of a map and returns its number n of pairs, 0 ≤ n ≤ max.
// 2n values follow.
func (r *Reader) Map(max int) (n int, err error) {
	return r.header(2, 0x80, 0xde, "a map", max)
}

// Array reads the header of an array and returns its number n of elements,
// 0 ≤ n ≤ max. n values follow.
func (r *Reader) Array(max int) (n int, err error) {
	return r.header(1, 0x90, 0xdc, "an array", max)
}

// header reads the header of a container: fix is its short form (size in the low
// four bits), wide the code of its 16-bit form, with the 32-bit form next to it;
// per is the number of values an entry takes, each one byte or more.
func (r *Reader) header(per int, fix, wide byte, want string, max int) (int, error) {
	if r.Left() == 0 {
		return 0, r.short(want)
	}
	var n uint64
	size := 1
	switch b := r.buf[r.off]; {
	case b&0xf0 == fix:
		n = uint64(b & 0x0f)
	case b == wide:
		size = 3
	case b == wide+1:
		size = 5
	default:
		return 0, r.other(want)
	}
	if r.Left() < size {
		return 0, r.short(want)
	}
	if size > 1 {
		n = bigEndian(r.buf[r.off+1 : r.off+size])
	}
	if n > uint64(max) {
		return 0, r.fail(fmt.Sprintf("%s of %d entries, more than the limit of %d", want, n, max))
	}
	if n*uint64(per) > uint64(r.Left()-size) {
		return 0, &Error{Offset: r.off, Short: true,
			Reason: fmt.Sprintf("%s of %d entries, but only %d bytes are left", want, n, r.Left()-size)}
	}
	r.off += size
	return int(n), nil
}

// String reads a string of up to max bytes into new memory.
func (r *Reader) String(max int) (string, error) {
	b, err := r.StringBytes(max)
	return string(b), err
}

// StringBytes reads a string of up to max bytes and returns it in place: the
// result is part of the slice being read. `switch string(b)` does not allocate.
func (r *Reader) StringBytes(max int) ([]byte, error) {
	if r.Left() == 0 {
		return nil, r.short("a string")
	}
	b := r.buf[r.off]
	switch {
	case b&0xe0 == 0xa0:
		return r.bytes(1, uint64(b&0x1f), "a string", max)
	case b >= 0xd9 && b <= 0xdb:
		return r.sized(1<<(b-0xd9), "a string", max)
	}
	return nil, r.other("a string")
}

// Bin reads binary data of up to max bytes and returns it in place.
func (r *Reader) Bin(max int) ([]byte, error) {
	if r.Left() == 0 {
		return nil, r.short("a bin")
	}
	if b := r.buf[r.off]; b >= 0xc4 && b <= 0xc6 {
		return r.sized(1<<(b-0xc4), "a bin", max)
	}
	return nil, r.other("a bin")
}

// sized reads bytes whose number stands in the width bytes after the code.
func (r *Reader) sized(width int, want string, max int) ([]byte, error) {
	if r.Left() < 1+width {
		return nil, r.short(want)
	}
	return r.bytes(1+width, bigEndian(r.buf[r.off+1:r.off+1+width]), want, max)
}

// bytes reads n bytes that follow a head.
func (r *Reader) bytes(head int, n uint64, want string, max int) ([]byte, error) {
	if n > uint64(max) {
		return nil, r.fail(fmt.Sprintf("%s of %d bytes, more than the limit of %d", want, n, max))
	}
	if int(n) > r.Left()-head {
		return nil, &Error{Offset: r.off, Short: true,
			Reason: fmt.Sprintf("%s of %d bytes, but only %d are left", want, n, r.Left())}
	}
	start := r.off + head
	r.off = start + int(n)
	return r.buf[start:r.off:r.off], nil
}

// Bool reads a bool.
func (r *Reader) Bool() (bool, error) {
	if r.Left() == 0 {
		return false, r.short("a bool")
	}
	b := r.buf[r.off]
	if b != 0xc2 && b != 0xc3 {
		return false, r.other("a bool")
	}
	r.off++
	return b == 0xc3, nil
}

// Nil reads a nil if one is next and says whether it did.
func (r *Reader) Nil() bool {
	if r.Left() > 0 && r.buf[r.off] == 0xc0 {
		r.off++
		return true
	}
	return false
}

func (r *Reader) short(want string) error {
	return &Error{Offset: r.off, Short: true, Reason: "the data ends where " + want + " is expected"}
}

func (r *Reader) other(want string) error {
	return r.fail("expected " + want + ", found " + typeName(r.buf[r.off]))
}

func (r *Reader) fail(reason string) error { return &Error{Offset: r.off, Reason: reason} }
