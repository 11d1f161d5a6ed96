// Package panelnet evaluates dense layers at sixteen points at once, in single precision:
// the layers of package mlp, laid out for the kernels of package simd.
package panelnet

import (
	"github.com/tphakala/simd/f32"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// Layer is a dense layer, or a part of one.
type Layer struct {
	In, Out int
	Act     mlp.Activation
	W       []float32 // panels, Out×In
	B       []float32 // Out, filled up to whole panels
}

// New returns the outputs from … to of a layer.
func New(l *mlp.Layer, from, to int) Layer {
	n := to - from
	return Layer{
		In: l.In, Out: n, Act: l.Act,
		W: simd.Packed(n, l.In, func(r, k int) float64 { return l.W[k*l.Out+from+r] }),
		B: simd.Packed(n, 1, func(r, _ int) float64 { return l.B[from+r] }),
	}
}

// Transposed returns the transpose of the weights of a layer's inputs from … to, with the
// layer's activation and no bias.
func Transposed(l *mlp.Layer, from, to int) Layer {
	n := to - from
	return Layer{In: l.Out, Out: n, Act: l.Act, W: simd.Packed(n, l.Out, func(r, k int) float64 { return l.W[(from+r)*l.Out+k] })}
}

// Forward evaluates the layer at one block: x (In rows) to y (Out rows, filled up to whole
// panels). ones is a row of ones; parts has room for two.
func (l *Layer) Forward(u simd.Unit, parts []simd.Part, ones, x, y []float32) {
	u.Product(y, simd.Panels(l.Out), append(parts[:0], simd.Part{L: l.B, X: ones, K: 1}, simd.Part{L: l.W, X: x, K: l.In}))
	Activate(u, l.Act, y[:simd.Padded(l.Out)*simd.Width])
}

// Multiply sets y (Out rows, filled up to whole panels) to the weights times x (In rows).
// parts has room for one.
func (l *Layer) Multiply(u simd.Unit, parts []simd.Part, x, y []float32) {
	u.Product(y, simd.Panels(l.Out), append(parts[:0], simd.Part{L: l.W, X: x, K: l.In}))
}

// Activate replaces y by the activation of y.
func Activate(u simd.Unit, a mlp.Activation, y []float32) {
	switch a {
	case mlp.Sigmoid:
		u.Logistic(y, 1, 1, 0)
	case mlp.Tanh:
		u.Logistic(y, 2, 2, -1)
	}
}

// Derivatives replaces y, outputs of an activation, by its derivatives there. scratch has the
// length of y.
func Derivatives(a mlp.Activation, y, scratch []float32) {
	switch a {
	case mlp.Sigmoid: // y(1 − y)
		scratch = scratch[:len(y)]
		f32.SubFromScalar(scratch, y, 1)
		f32.Mul(y, y, scratch)
	case mlp.Tanh: // 1 − y²
		f32.Mul(y, y, y)
		f32.SubFromScalar(y, y, 1)
	default:
		for i := range y {
			y[i] = 1
		}
	}
}
