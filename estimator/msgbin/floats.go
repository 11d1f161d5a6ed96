package msgbin

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Floats reads a vector of exactly len(dst) numbers into dst: a bin of float64,
// a bin of float32 or an array. Nil is accepted where len(dst) is 0. On an error
// dst holds anything.
func (r *Reader) Floats(dst []float64) error {
	if r.Left() == 0 {
		return r.short("a vector")
	}
	switch b := r.buf[r.off]; {
	case b >= 0xc4 && b <= 0xc6:
		raw, err := r.binOf(len(dst))
		if err != nil {
			return err
		}
		if len(raw) == 8*len(dst) {
			DecodeFloats(dst, raw)
			return nil
		}
		for i := range dst {
			dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
		}
		return nil
	case b&0xf0 == 0x90 || b == 0xdc || b == 0xdd:
		if err := r.arrayOf(len(dst)); err != nil {
			return err
		}
		for i := range dst {
			v, err := r.element()
			if err != nil {
				return err
			}
			dst[i] = v
		}
		return nil
	case b == 0xc0 && len(dst) == 0:
		r.off++
		return nil
	}
	return r.other("a vector (bin or array)")
}

// Floats32 is Floats into float32; what is wider is rounded.
func (r *Reader) Floats32(dst []float32) error {
	if r.Left() == 0 {
		return r.short("a vector")
	}
	switch b := r.buf[r.off]; {
	case b >= 0xc4 && b <= 0xc6:
		raw, err := r.binOf(len(dst))
		if err != nil {
			return err
		}
		if len(raw) == 4*len(dst) {
			for i := range dst {
				dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
			}
			return nil
		}
		for i := range dst {
			dst[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:])))
		}
		return nil
	case b&0xf0 == 0x90 || b == 0xdc || b == 0xdd:
		if err := r.arrayOf(len(dst)); err != nil {
			return err
		}
		for i := range dst {
			v, err := r.element()
			if err != nil {
				return err
			}
			dst[i] = float32(v)
		}
		return nil
	case b == 0xc0 && len(dst) == 0:
		r.off++
		return nil
	}
	return r.other("a vector (bin or array)")
}

// AppendFloats reads a vector whose length is not known before, of up to max
// numbers, and appends it to dst: a bin of float64 (never float32, which the
// length alone cannot tell apart), an array, or nil for none. It allocates only
// where the capacity of dst is too small, and then no more than the data holds.
func (r *Reader) AppendFloats(dst []float64, max int) ([]float64, error) {
	if r.Left() == 0 {
		return dst, r.short("a vector")
	}
	b := r.buf[r.off]
	switch {
	case b == 0xc0:
		r.off++
		return dst, nil
	case b >= 0xc4 && b <= 0xc6:
		at := r.off
		raw, err := r.Bin(math.MaxInt)
		if err != nil {
			return dst, err
		}
		if len(raw)%8 != 0 || len(raw)/8 > max {
			r.off = at
			return dst, r.fail(fmt.Sprintf("a vector of %d bytes, expected 8 bytes for each of up to %d numbers", len(raw), max))
		}
		for ; len(raw) > 0; raw = raw[8:] {
			dst = append(dst, math.Float64frombits(binary.LittleEndian.Uint64(raw)))
		}
		return dst, nil
	case b&0xf0 == 0x90 || b == 0xdc || b == 0xdd:
		n, err := r.Array(max)
		if err != nil {
			return dst, err
		}
		for range n {
			v, err := r.element()
			if err != nil {
				return dst, err
			}
			dst = append(dst, v)
		}
		return dst, nil
	}
	return dst, r.other("a vector (bin or array)")
}

// binOf reads a bin that holds n numbers of 8 or of 4 bytes.
func (r *Reader) binOf(n int) ([]byte, error) {
	at := r.off
	raw, err := r.Bin(math.MaxInt)
	if err != nil {
		return nil, err
	}
	if len(raw) != 8*n && len(raw) != 4*n {
		r.off = at
		return nil, r.fail(fmt.Sprintf("a vector of %d bytes, expected %d numbers (%d bytes as float64, %d as float32)", len(raw), n, 8*n, 4*n))
	}
	return raw, nil
}

// arrayOf reads the header of an array of n elements.
func (r *Reader) arrayOf(n int) error {
	at := r.off
	got, err := r.Array(math.MaxInt)
	if err != nil {
		return err
	}
	if got != n {
		r.off = at
		return r.fail(fmt.Sprintf("a vector of %d numbers, expected %d", got, n))
	}
	return nil
}

// element reads one number of an array; nil is NaN.
func (r *Reader) element() (float64, error) {
	if r.Nil() {
		return math.NaN(), nil
	}
	return r.Float64()
}

// DecodeFloats reads len(dst) little-endian float64 from raw, which holds
// exactly 8·len(dst) bytes.
func DecodeFloats(dst []float64, raw []byte) {
	if len(raw) != 8*len(dst) {
		panic("msgbin: raw must hold 8 bytes for each number")
	}
	for i := range dst {
		dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
	}
}
