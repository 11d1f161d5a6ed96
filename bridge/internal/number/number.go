// Package number reads the numbers of binary logs.
package number

import (
	"encoding/binary"
	"math"
)

// Kind is the type of one number.
type Kind uint8

// The kinds; None is no number.
const (
	None Kind = iota
	I8
	U8
	I16
	U16
	I32
	U32
	I64
	U64
	F16
	F32
	F64
)

// sizes by kind, bytes.
var sizes = [...]int{None: 0, I8: 1, U8: 1, I16: 2, U16: 2, I32: 4, U32: 4, I64: 8, U64: 8, F16: 2, F32: 4, F64: 8}

// Size returns the bytes of a number.
func (k Kind) Size() int { return sizes[k] }

// Little returns the number at the start of b (Size bytes or more), least significant
// byte first.
func (k Kind) Little(b []byte) float64 {
	switch k {
	case F32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case F64:
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	case F16:
		return half(binary.LittleEndian.Uint16(b))
	case U8:
		return float64(b[0])
	case I8:
		return float64(int8(b[0]))
	case U16:
		return float64(binary.LittleEndian.Uint16(b))
	case I16:
		return float64(int16(binary.LittleEndian.Uint16(b)))
	case U32:
		return float64(binary.LittleEndian.Uint32(b))
	case I32:
		return float64(int32(binary.LittleEndian.Uint32(b)))
	case U64:
		return float64(binary.LittleEndian.Uint64(b))
	case I64:
		return float64(int64(binary.LittleEndian.Uint64(b)))
	}
	panic("number: not the kind of a number")
}

// Big is Little with the most significant byte first.
func (k Kind) Big(b []byte) float64 {
	var turned [8]byte
	n := k.Size()
	for i := range n {
		turned[i] = b[n-1-i]
	}
	return k.Little(turned[:])
}

// half returns a number of 16 bits (IEEE 754 binary16).
func half(bits uint16) float64 {
	sign, exponent, fraction := 1.0, int(bits>>10&0x1F), float64(bits&0x3FF)
	if bits&0x8000 != 0 {
		sign = -1
	}
	switch exponent {
	case 0:
		return sign * fraction * 0x1p-24
	case 0x1F:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// Finite reports whether all values are neither NaN nor infinite.
func Finite(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
