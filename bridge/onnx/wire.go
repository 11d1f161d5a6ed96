package onnx

import "encoding/binary"

// message is a protobuf message under construction: fields are appended in the wire format
// (protobuf.dev/programming-guides/encoding). Zero values are not written.
type message []byte

// number appends an integer, wire type 0.
func (m *message) number(field int, v int64) {
	if v != 0 {
		*m = binary.AppendUvarint(binary.AppendUvarint(*m, uint64(field)<<3), uint64(v))
	}
}

// numbers appends each of several integers.
func (m *message) numbers(field int, all []int64) {
	for _, v := range all {
		*m = binary.AppendUvarint(binary.AppendUvarint(*m, uint64(field)<<3), uint64(v))
	}
}

// bytes appends a message or bytes, wire type 2.
func (m *message) bytes(field int, v []byte) {
	*m = append(binary.AppendUvarint(binary.AppendUvarint(*m, uint64(field)<<3|2), uint64(len(v))), v...)
}

// text appends a string.
func (m *message) text(field int, v string) { m.bytes(field, []byte(v)) }
