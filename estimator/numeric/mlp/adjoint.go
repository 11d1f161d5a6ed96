package mlp

import "github.com/tphakala/simd/f64"

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
