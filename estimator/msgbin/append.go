package msgbin

import (
	"encoding/binary"
	"math"
)

// AppendMapHeader appends the header of a map of n pairs.
func AppendMapHeader(dst []byte, n int) []byte { return appendHeader(dst, n, 0x80, 0xde) }

// AppendArrayHeader appends the header of an array of n elements.
func AppendArrayHeader(dst []byte, n int) []byte { return appendHeader(dst, n, 0x90, 0xdc) }

func appendHeader(dst []byte, n int, fix, wide byte) []byte {
	switch {
	case n < 0 || uint64(n) > math.MaxUint32:
		panic("msgbin: size of a container out of range")
	case n < 16:
		return append(dst, fix|byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(dst, wide), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(dst, wide+1), uint32(n))
}

// AppendString appends a string.
func AppendString(dst []byte, s string) []byte {
	if len(s) < 32 {
		dst = append(dst, 0xa0|byte(len(s)))
	} else {
		dst = appendSize(dst, len(s), 0xd9)
	}
	return append(dst, s...)
}

// AppendBin appends binary data.
func AppendBin(dst, b []byte) []byte {
	return append(AppendBinHeader(dst, len(b)), b...)
}

// AppendBinHeader appends the header of a bin of n bytes, which the caller
// appends next.
func AppendBinHeader(dst []byte, n int) []byte { return appendSize(dst, n, 0xc4) }

// appendSize appends a code and a size in 1, 2 or 4 bytes; code belongs to the
// first, the others follow it.
func appendSize(dst []byte, n int, code byte) []byte {
	switch {
	case n < 0 || uint64(n) > math.MaxUint32:
		panic("msgbin: size of a string or bin out of range")
	case n <= math.MaxUint8:
		return append(dst, code, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(dst, code+1), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(dst, code+2), uint32(n))
}

// AppendInt appends an integer in its shortest form.
func AppendInt(dst []byte, v int64) []byte {
	switch {
	case v >= 0:
		return AppendUint(dst, uint64(v))
	case v >= -32:
		return append(dst, byte(v))
	case v >= math.MinInt8:
		return append(dst, 0xd0, byte(v))
	case v >= math.MinInt16:
		return binary.BigEndian.AppendUint16(append(dst, 0xd1), uint16(v))
	case v >= math.MinInt32:
		return binary.BigEndian.AppendUint32(append(dst, 0xd2), uint32(v))
	}
	return binary.BigEndian.AppendUint64(append(dst, 0xd3), uint64(v))
}

// AppendUint appends an integer in its shortest form.
func AppendUint(dst []byte, v uint64) []byte {
	switch {
	case v <= 0x7f:
		return append(dst, byte(v))
	case v <= math.MaxUint8:
		return append(dst, 0xcc, byte(v))
	case v <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(dst, 0xcd), uint16(v))
	case v <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(dst, 0xce), uint32(v))
	}
	return binary.BigEndian.AppendUint64(append(dst, 0xcf), v)
}

// AppendFloat64 appends a float64.
func AppendFloat64(dst []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, 0xcb), math.Float64bits(v))
}

// AppendBool appends a bool.
func AppendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 0xc3)
	}
	return append(dst, 0xc2)
}

// AppendNil appends nil.
func AppendNil(dst []byte) []byte { return append(dst, 0xc0) }

// AppendFloats appends a vector as a bin of float64.
func AppendFloats(dst []byte, v []float64) []byte {
	dst = AppendBinHeader(dst, 8*len(v))
	for _, x := range v {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
	}
	return dst
}

// AppendFloats32 appends a vector as a bin of float32.
func AppendFloats32(dst []byte, v []float32) []byte {
	dst = AppendBinHeader(dst, 4*len(v))
	for _, x := range v {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
	}
	return dst
}

// AppendRounded appends a vector as a bin of float32, each number rounded.
func AppendRounded(dst []byte, v []float64) []byte {
	dst = AppendBinHeader(dst, 4*len(v))
	for _, x := range v {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(x)))
	}
	return dst
}
