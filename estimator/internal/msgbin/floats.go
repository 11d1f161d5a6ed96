package msgbin

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Floats reads a vector of exactly len(dst) numbers into dst: a bin of float64,
// a bin of float32 or an array. Nil is accepted where len(dst) is 0. After an
// error the content of dst is undefined.
func (r *Reader) Floats(dst []float64) error {
	at := r.Offset()
	if k, _, err := r.next("a vector"); err != nil || k != bin {
		got, err := r.AppendFloats(dst[:0], len(dst))
		if err == nil && len(got) != len(dst) {
			r.move(at)
			err = r.fail(fmt.Sprintf("a vector of %d numbers, expected %d", len(got), len(dst)))
		}
		return err
	}
	raw, err := r.Bin(math.MaxInt)
	switch {
	case err != nil:
		return err
	case len(raw) == 8*len(dst):
		decode64(dst, raw)
	case len(raw) == 4*len(dst):
		decode32(dst, raw)
	default:
		r.move(at)
		return r.fail(fmt.Sprintf("a vector of %d bytes, expected %d numbers (%d bytes as float64, %d as float32)", len(raw), len(dst), 8*len(dst), 4*len(dst)))
	}
	return nil
}

// AppendFloats reads a vector of an unknown length, of up to max numbers, and
// appends it to dst: a bin of float64 (never float32, which the length alone
// does not distinguish), an array, or nil for none. It allocates only where the
// capacity of dst is too small, and then no more than the data holds.
func (r *Reader) AppendFloats(dst []float64, max int) ([]float64, error) {
	return r.appendFloats(dst, max, 8, decode64)
}

// AppendFloats32 is AppendFloats for bins of float32.
func (r *Reader) AppendFloats32(dst []float64, max int) ([]float64, error) {
	return r.appendFloats(dst, max, 4, decode32)
}

// AppendFloats24 is AppendFloats for bins of the upper three bytes of float32.
func (r *Reader) AppendFloats24(dst []float64, max int) ([]float64, error) {
	return r.appendFloats(dst, max, 3, decode24)
}

func (r *Reader) appendFloats(dst []float64, max, size int, decode func(dst []float64, raw []byte)) ([]float64, error) {
	k, _, err := r.next("a vector")
	at, from := r.Offset(), len(dst)
	switch {
	case err != nil:
		return dst, err
	case k == bin:
		raw, err := r.Bin(math.MaxInt)
		if err != nil {
			return dst, err
		}
		n := len(raw) / size
		if len(raw) != n*size || n > max {
			r.move(at)
			return dst, r.fail(fmt.Sprintf("a vector of %d bytes, expected %d bytes for each of up to %d numbers", len(raw), size, max))
		}
		dst = slices.Grow(dst, n)[:from+n]
		decode(dst[from:], raw)
		return dst, nil
	case k == array:
		n, err := r.Array(max)
		if err != nil {
			return dst, err
		}
		dst = slices.Grow(dst, n)[:from+n] // n is at most the bytes that are left
		return dst, r.elements(dst[from:])
	case r.Nil():
		return dst, nil
	}
	return dst, r.mismatch("a vector (bin or array)")
}

// elements reads the numbers of an array; nil is NaN.
func (r *Reader) elements(dst []float64) (err error) {
	for i := range dst {
		if r.Nil() {
			dst[i] = math.NaN()
		} else if dst[i], err = r.Float64(); err != nil {
			return err
		}
	}
	return nil
}

// decode64 reads len(dst) little-endian float64 from raw.
func decode64(dst []float64, raw []byte) {
	for i := range dst {
		dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
	}
}

// decode24 reads len(dst) times the upper three bytes of a float32 from raw.
func decode24(dst []float64, raw []byte) {
	for i := range dst {
		dst[i] = float64(math.Float32frombits(uint32(raw[3*i])<<8 | uint32(raw[3*i+1])<<16 | uint32(raw[3*i+2])<<24))
	}
}

// decode32 reads len(dst) little-endian float32 from raw.
func decode32(dst []float64, raw []byte) {
	for i := range dst {
		dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
	}
}
