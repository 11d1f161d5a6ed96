// Package mlp holds small dense nets and evaluates them on many rows at once,
// together with the derivative along one direction of the input (forward mode).
//
// The smoother's core, its heads and the dynamics are nets of this package, in the
// trainer and in the onboard runtime. A Net holds parameters only; the memory of an
// evaluation is a Tape, which the trainer's adjoints read afterwards.
package mlp

import (
	"math"

	"github.com/tphakala/simd/f64"
)

// Activation is the function at the end of a layer.
type Activation uint8

// The activations. Their numbers are stored in model files and never change.
const (
	Linear  Activation = 0
	Sigmoid Activation = 1
	Tanh    Activation = 2
)

// String returns the lower-case name used in configuration files.
func (a Activation) String() string {
	switch a {
	case Linear:
		return "linear"
	case Sigmoid:
		return "sigmoid"
	case Tanh:
		return "tanh"
	}
	return "unknown"
}

// Layer computes act(x·W + B).
type Layer struct {
	In, Out int
	W       []float64 // In×Out, row-major
	B       []float64 // Out
	Act     Activation
}

// Net is a chain of layers.
type Net struct {
	Layers []Layer
}

// New returns a net with zero parameters and the given widths, widths[0] being
// the input's. It panics unless there is one activation for every layer.
func New(widths []int, acts []Activation) Net {
	if len(acts) != len(widths)-1 {
		panic(badShape)
	}
	n := Net{Layers: make([]Layer, len(acts))}
	for i := range n.Layers {
		in, out := widths[i], widths[i+1]
		n.Layers[i] = Layer{In: in, Out: out, W: make([]float64, in*out), B: make([]float64, out), Act: acts[i]}
	}
	return n
}

// In returns the width of the input.
func (n *Net) In() int { return n.Layers[0].In }

// Out returns the width of the output.
func (n *Net) Out() int { return n.Layers[len(n.Layers)-1].Out }

// Params returns the number of weights and biases.
func (n *Net) Params() int {
	s := 0
	for i := range n.Layers {
		s += len(n.Layers[i].W) + len(n.Layers[i].B)
	}
	return s
}

// Bind moves the parameters into flat, in the order W, B of each layer, and
// makes the layers views of it. It returns the rest of flat.
func (n *Net) Bind(flat []float64) []float64 {
	for i := range n.Layers {
		l := &n.Layers[i]
		copy(flat, l.W)
		l.W, flat = flat[:len(l.W):len(l.W)], flat[len(l.W):]
		copy(flat, l.B)
		l.B, flat = flat[:len(l.B):len(l.B)], flat[len(l.B):]
	}
	return flat
}

// Normal is a source of standard normal numbers.
type Normal interface{ NormFloat64() float64 }

// Glorot fills the weights with N(0, 2/(in+out)) and the biases with zero
// (Glorot & Bengio 2010).
func (n *Net) Glorot(src Normal) {
	for i := range n.Layers {
		l := &n.Layers[i]
		s := math.Sqrt(2 / float64(l.In+l.Out))
		for j := range l.W {
			l.W[j] = s * src.NormFloat64()
		}
		clear(l.B)
	}
}

const badShape = "mlp: shapes do not agree"

// Widest returns the largest width of the net's layers and its input.
func (n *Net) Widest() int {
	most := n.In()
	for i := range n.Layers {
		most = max(most, n.Layers[i].Out)
	}
	return most
}

// Adjoint returns the adjoint of row i of the input of t's last evaluation for that of its
// output, which is at the start of bar. It is in bar or in other, both of which have room for
// Widest numbers and are overwritten.
func (n *Net) Adjoint(t *Tape, i int, bar, other []float64) []float64 {
	for j := len(n.Layers) - 1; j >= 0; j-- {
		l := &n.Layers[j]
		out := bar[:l.Out]
		l.Act.Derivative(out, t.Y[j][i*l.Out:(i+1)*l.Out], out)
		for c := range l.In {
			other[c] = f64.DotProduct(l.W[c*l.Out:(c+1)*l.Out], out)
		}
		bar, other = other, bar
	}
	return bar[:n.In()]
}
