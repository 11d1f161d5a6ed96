package msgbin

import "math"

// Skip reads past one value of any type, containers and extensions with all
// they hold.
//
// It counts the values still to be read instead of recursing, so nesting of any
// depth costs no stack, and its work is bounded by the bytes that are left.
func (r *Reader) Skip() error {
	for pending := 1; pending > 0; pending-- {
		// Every value takes a byte, so more values than bytes is a lie.
		if pending > r.Left() {
			return r.short("a value")
		}
		b := r.buf[r.off]
		var err error
		n := 0
		switch {
		case b <= 0x7f || b >= 0xe0 || b == 0xc0 || b == 0xc2 || b == 0xc3:
			r.off++
		case b <= 0x8f || b == 0xde || b == 0xdf:
			n, err = r.Map(math.MaxInt)
			n *= 2
		case b <= 0x9f || b == 0xdc || b == 0xdd:
			n, err = r.Array(math.MaxInt)
		case b <= 0xbf || (b >= 0xd9 && b <= 0xdb):
			_, err = r.StringBytes(math.MaxInt)
		case b >= 0xc4 && b <= 0xc6:
			_, err = r.Bin(math.MaxInt)
		case b >= 0xc7 && b <= 0xc9:
			err = r.skipExtension(1 << (b - 0xc7))
		case b >= 0xd4 && b <= 0xd8:
			_, err = r.bytes(2, 1<<(b-0xd4), "an extension", math.MaxInt)
		case b == 0xc1:
			err = r.other("a value")
		default:
			var v number
			v, err = r.number("a number")
			r.off += v.size
		}
		if err != nil {
			return err
		}
		pending += n
	}
	return nil
}

// skipExtension reads past an extension whose length stands in width bytes; one
// byte with its type comes before the data.
func (r *Reader) skipExtension(width int) error {
	if r.Left() < 2+width {
		return r.short("an extension")
	}
	n := bigEndian(r.buf[r.off+1 : r.off+1+width])
	_, err := r.bytes(2+width, n, "an extension", math.MaxInt)
	return err
}
