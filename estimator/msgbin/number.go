package msgbin

import (
	"encoding/binary"
	"math"
)

// Int64 reads an integer of any width, or a float that is whole.
func (r *Reader) Int64() (int64, error) {
	n, err := r.number("an integer")
	if err != nil {
		return 0, err
	}
	v, ok := n.int64()
	if !ok {
		return 0, r.fail("a number that is not whole or does not fit 64 bits with sign, where an integer is expected")
	}
	r.off += n.size
	return v, nil
}

// Uint64 reads an integer ≥ 0 of any width, or a float that is whole.
func (r *Reader) Uint64() (uint64, error) {
	n, err := r.number("an integer")
	if err != nil {
		return 0, err
	}
	v := n.u
	if n.kind != unsigned {
		i, ok := n.int64()
		if !ok || i < 0 {
			return 0, r.fail("a number that is negative, not whole or too large, where an integer of 0 or more is expected")
		}
		v = uint64(i)
	}
	r.off += n.size
	return v, nil
}

// Float64 reads a float of either width or an integer.
func (r *Reader) Float64() (float64, error) {
	n, err := r.number("a number")
	if err != nil {
		return 0, err
	}
	r.off += n.size
	return n.float64(), nil
}

// The three families of numbers.
const (
	unsigned = iota
	signed
	float
)

// number is a number as it stands in the data, size bytes long.
type number struct {
	kind int
	size int
	u    uint64  // unsigned
	i    int64   // signed
	f    float64 // float
}

func (n number) float64() float64 {
	switch n.kind {
	case unsigned:
		return float64(n.u)
	case signed:
		return float64(n.i)
	}
	return n.f
}

func (n number) int64() (int64, bool) {
	switch n.kind {
	case unsigned:
		return int64(n.u), n.u <= math.MaxInt64
	case signed:
		return n.i, true
	}
	// Both bounds are exact in float64; NaN fails the first comparison.
	ok := n.f >= math.MinInt64 && n.f < -math.MinInt64 && n.f == math.Trunc(n.f)
	if !ok {
		return 0, false
	}
	return int64(n.f), true
}

// number looks at the number that is next and leaves the cursor before it.
func (r *Reader) number(want string) (number, error) {
	if r.Left() == 0 {
		return number{}, r.short(want)
	}
	b := r.buf[r.off]
	var n number
	switch {
	case b <= 0x7f:
		return number{kind: unsigned, size: 1, u: uint64(b)}, nil
	case b >= 0xe0:
		return number{kind: signed, size: 1, i: int64(int8(b))}, nil
	case b == 0xca:
		n = number{kind: float, size: 5}
	case b == 0xcb:
		n = number{kind: float, size: 9}
	case b >= 0xcc && b <= 0xcf:
		n = number{kind: unsigned, size: 1 + 1<<(b-0xcc)}
	case b >= 0xd0 && b <= 0xd3:
		n = number{kind: signed, size: 1 + 1<<(b-0xd0)}
	default:
		return number{}, r.other(want)
	}
	if r.Left() < n.size {
		return number{}, r.short(want)
	}
	v := bigEndian(r.buf[r.off+1 : r.off+n.size])
	switch {
	case n.kind == unsigned:
		n.u = v
	case n.kind == signed:
		shift := 64 - 8*(n.size-1)
		n.i = int64(v<<shift) >> shift
	case n.size == 5:
		n.f = float64(math.Float32frombits(uint32(v)))
	default:
		n.f = math.Float64frombits(v)
	}
	return n, nil
}

// bigEndian reads an unsigned integer of 1, 2, 4 or 8 bytes.
func bigEndian(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.BigEndian.Uint16(b))
	case 4:
		return uint64(binary.BigEndian.Uint32(b))
	}
	return binary.BigEndian.Uint64(b)
}
