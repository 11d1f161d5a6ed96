package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The versions of the format and of its operators.
const (
	irVersion = 8
	opset     = 18
)

// Types of numbers of onnx.proto3.
const (
	float  = 1
	int64s = 7
	truth  = 9
)

// A dim is one of a shape: a number, or a name where it is not known.
type dim struct {
	n    int
	name string
}

// graph is a GraphProto under construction: of a model, or the body of a loop in one.
type graph struct {
	nodes, inputs, outputs message
	constants              *constants // of the whole model
	names                  *int       // so many tensors have names
}

// constants are the initializers of a model, each once.
type constants struct {
	tensors message
	names   map[string]string // by shape and content
}

func newGraph() *graph {
	return &graph{constants: &constants{names: map[string]string{}}, names: new(int)}
}

// body returns a graph for the body of a loop, which reads what is outside it by name.
func (g *graph) body() *graph { return &graph{constants: g.constants, names: g.names} }

// attribute is an AttributeProto.
type attribute message

func named(name string, kind int64, set func(m *message)) attribute {
	var m message
	m.text(1, name)
	set(&m)
	m.number(20, kind)
	return attribute(m)
}

func integer(name string, v int64) attribute {
	return named(name, 2, func(m *message) { m.numbers(3, []int64{v}) })
}

func integers(name string, v ...int64) attribute {
	return named(name, 7, func(m *message) { m.numbers(8, v) })
}

func subgraph(name string, of *graph) attribute {
	return named(name, 5, func(m *message) { m.bytes(6, of.encode(name)) })
}

// fresh returns a name that no other tensor has.
func (g *graph) fresh() string {
	*g.names++
	return fmt.Sprintf("t%d", *g.names)
}

// node appends an operator with one result, whose name it returns.
func (g *graph) node(op string, inputs []string, attributes ...attribute) string {
	return g.nodeOf(op, 1, inputs, attributes...)[0]
}

// nodeOf is node with so many results.
func (g *graph) nodeOf(op string, results int, inputs []string, attributes ...attribute) []string {
	out := make([]string, results)
	for i := range out {
		out[i] = g.fresh()
	}
	g.nodeTo(op, out, inputs, attributes...)
	return out
}

// nodeTo is node with results of given names.
func (g *graph) nodeTo(op string, results, inputs []string, attributes ...attribute) {
	var m message
	for _, in := range inputs {
		m.text(1, in)
	}
	for _, out := range results {
		m.text(2, out)
	}
	m.text(4, op)
	for _, a := range attributes {
		m.bytes(5, a)
	}
	g.nodes.bytes(1, m)
}

// floats returns the name of constants in single precision, row-major.
func (g *graph) floats(v []float64, shape ...int) string {
	raw := make([]byte, 0, 4*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(x)))
	}
	return g.constant(float, raw, shape)
}

// ints returns the name of a constant vector.
func (g *graph) ints(v ...int) string {
	raw := make([]byte, 0, 8*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(x))
	}
	return g.constant(int64s, raw, []int{len(v)})
}

// yes returns the name of the constant true.
func (g *graph) yes() string { return g.constant(truth, []byte{1}, nil) }

// int returns the name of a constant number.
func (g *graph) int(v int) string {
	return g.constant(int64s, binary.LittleEndian.AppendUint64(nil, uint64(v)), nil)
}

func (g *graph) constant(kind int64, raw []byte, shape []int) string {
	key := fmt.Sprint(kind, shape, string(raw))
	name, ok := g.constants.names[key]
	if !ok {
		name = fmt.Sprintf("c%d", len(g.constants.names))
		g.constants.names[key] = name
		var m message
		for _, n := range shape {
			m.numbers(1, []int64{int64(n)})
		}
		m.number(2, kind)
		m.text(8, name)
		m.bytes(9, raw)
		g.constants.tensors.bytes(5, m)
	}
	return name
}

// scalar is the shape of one number.
var scalar = []dim{}

// input declares an input; without dims its shape is not said.
func (g *graph) input(name string, kind int64, dims ...dim) {
	g.inputs.bytes(11, value(name, kind, dims))
}

// output declares an output.
func (g *graph) output(name string, kind int64, dims ...dim) {
	g.outputs.bytes(12, value(name, kind, dims))
}

// value is a ValueInfoProto.
func value(name string, kind int64, dims []dim) message {
	var shape, tensor, of, m message
	for _, d := range dims {
		var one message
		if d.name != "" {
			one.text(2, d.name)
		} else {
			one.number(1, int64(d.n))
		}
		shape.bytes(1, one)
	}
	tensor.number(1, kind)
	if dims != nil {
		tensor.bytes(2, shape)
	}
	of.bytes(1, tensor)
	m.text(1, name)
	m.bytes(2, of)
	return m
}

// encode returns the GraphProto of a body, without the constants.
func (g *graph) encode(name string) message {
	m := append(message(nil), g.nodes...)
	m.text(2, name)
	return append(append(m, g.inputs...), g.outputs...)
}

// encodeModel returns the ModelProto, with metadata as pairs of key and text.
func (g *graph) encodeModel(name, about string, metadata [][2]string) []byte {
	var set, m message
	set.text(1, "")
	set.number(2, opset)
	m.number(1, irVersion)
	m.text(2, "dgm")
	m.text(6, about)
	m.bytes(7, append(g.encode(name), g.constants.tensors...))
	m.bytes(8, set)
	for _, pair := range metadata {
		var entry message
		entry.text(1, pair[0])
		entry.text(2, pair[1])
		m.bytes(14, entry)
	}
	return m
}

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
