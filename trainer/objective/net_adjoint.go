package objective

import (
	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

// NetAdjoint is the memory for carrying adjoints back through one net.
type NetAdjoint struct {
	X, DX []float64   // rows×In, adjoint of the input; nil if not asked for
	a, da [][]float64 // per layer: rows×Out, adjoint before the activation
	mul   matmul.Work
}

// NewNetAdjoint takes the memory for rows rows: with adjoints of a tangent, of the
// input, where asked for.
func NewNetAdjoint(n *mlp.Net, rows int, tangent, input bool) *NetAdjoint {
	w := &NetAdjoint{}
	for i := range n.Layers {
		w.a = append(w.a, make([]float64, rows*n.Layers[i].Out))
		if tangent {
			w.da = append(w.da, make([]float64, rows*n.Layers[i].Out))
		}
	}
	if input {
		w.X = make([]float64, rows*n.In())
		if tangent {
			w.DX = make([]float64, rows*n.In())
		}
	}
	return w
}

// Run carries the adjoints of the net's output, ybar, and of its tangent, dybar
// (nil: none), back to the parameters, added to grad, and to the input. With
// y = act(a), ẏ = act'(a) ȧ:
//
//	ǡ = act' ẏ̄      ā = act' ȳ + act'' ȧ ẏ̄      W̄ = xᵀā + ẋᵀǡ      x̄ = āWᵀ
func (w *NetAdjoint) Run(n, grad *mlp.Net, t *mlp.Tape, ybar, dybar []float64) {
	rows := t.Rows
	for i := len(n.Layers) - 1; i >= 0; i-- {
		l, g := &n.Layers[i], &grad.Layers[i]
		size := rows * l.Out
		abar := w.a[i][:size]
		var dabar, dy, da []float64
		if dybar != nil {
			dabar, dy, da = w.da[i][:size], dybar[:size], t.DA[i][:size]
		}
		if l.Act == mlp.Linear {
			abar, dabar = ybar[:size], dy
		} else {
			unactivate(l.Act, abar, dabar, t.Y[i][:size], da, ybar[:size], dy)
		}
		x, dx := t.X, t.DX
		if i > 0 {
			x = t.Y[i-1]
			if dybar != nil {
				dx = t.DY[i-1]
			}
		}
		w.addOuter(rows, l, g, x, abar)
		matmul.AddRows(g.B, matmul.Matrix(rows, l.Out, abar))
		if dybar != nil {
			w.addOuter(rows, l, g, dx, dabar)
		}
		if i == 0 {
			if w.X != nil {
				w.back(rows, l, abar, w.X)
				if dybar != nil && w.DX != nil {
					w.back(rows, l, dabar, w.DX)
				}
			}
			return
		}
		// The adjoint of the layer below is stored where its own ā will be written:
		// unactivate reads an element before it writes it.
		w.back(rows, l, abar, w.a[i-1])
		ybar = w.a[i-1]
		if dybar != nil {
			w.back(rows, l, dabar, w.da[i-1])
			dybar = w.da[i-1]
		}
	}
}

// addOuter adds xᵀ·abar to the gradient of W.
func (w *NetAdjoint) addOuter(rows int, l, g *mlp.Layer, x, abar []float64) {
	w.mul.Mul(matmul.Matrix(l.In, l.Out, g.W), 1, true, matmul.Matrix(rows, l.In, x), false, matmul.Matrix(rows, l.Out, abar), 1)
}

// back sets x = abar·Wᵀ.
func (w *NetAdjoint) back(rows int, l *mlp.Layer, abar, x []float64) {
	w.mul.Mul(matmul.Matrix(rows, l.In, x), 1, false, matmul.Matrix(rows, l.Out, abar), true, matmul.Matrix(l.In, l.Out, l.W), 0)
}

// unactivate writes ā and ǡ from ȳ and ẏ̄ (nil: none) of an activation that is not linear;
// it may work in place.
func unactivate(act mlp.Activation, abar, dabar, y, da, ybar, dybar []float64) {
	if dybar == nil {
		act.Derivative(abar, y, ybar)
		return
	}
	n := len(y)
	abar, dabar, da, ybar, dybar = abar[:n], dabar[:n], da[:n], ybar[:n], dybar[:n]
	switch act {
	case mlp.Sigmoid:
		for i, v := range y {
			d1 := v * (1 - v)
			w := d1 * dybar[i]
			abar[i] = d1*ybar[i] + (1-2*v)*da[i]*w
			dabar[i] = w
		}
	case mlp.Tanh:
		for i, v := range y {
			d1 := 1 - v*v
			w := d1 * dybar[i]
			abar[i] = d1*ybar[i] - 2*v*da[i]*w
			dabar[i] = w
		}
	}
}
