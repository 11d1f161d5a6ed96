package mlp

import "github.com/dgm-robotics/dgm/estimator/numeric/matmul"

// Tape is the memory of one evaluation: the inputs and outputs of every layer, and
// their tangents. All of it is taken by NewTape.
type Tape struct {
	Max  int         // rows that there is room for
	Rows int         // rows of the last evaluation
	Y    [][]float64 // per layer: Rows×Out, after the activation
	DY   [][]float64 // per layer: Rows×Out, tangent after the activation
	DA   [][]float64 // per layer: Rows×Out, tangent before the activation
	X    []float64   // Rows×In, the input of the last evaluation (the caller's)
	DX   []float64   // Rows×In, its tangent (the caller's), nil without
	mul  matmul.Work
}

// NewTape takes the memory for up to rows rows; the tangent's only if asked for.
func NewTape(n *Net, rows int, tangent bool) *Tape {
	t := &Tape{Max: rows}
	for i := range n.Layers {
		l := &n.Layers[i]
		t.mul.Reserve(l.In, l.Out)
		size := rows * l.Out
		t.Y = append(t.Y, make([]float64, size))
		if tangent {
			t.DY = append(t.DY, make([]float64, size))
			t.DA = append(t.DA, make([]float64, size))
		}
	}
	return t
}

// Out returns the output of the last evaluation, rows×Out.
func (t *Tape) Out() []float64 { return t.Y[len(t.Y)-1] }

// DOut returns the tangent of the output, rows×Out.
func (t *Tape) DOut() []float64 { return t.DY[len(t.DY)-1] }

// Forward evaluates the net on x (rows×In). With a tangent dx (rows×In) it also
// evaluates ∂net/∂x · dx; nil leaves that out. The results stay in the tape.
func (n *Net) Forward(t *Tape, rows int, x, dx []float64) {
	if rows > t.Max || len(x) < rows*n.In() || (dx != nil && (t.DY == nil || len(dx) < rows*n.In())) {
		panic(badShape)
	}
	t.Rows, t.X, t.DX = rows, x, dx
	for i := range n.Layers {
		l := &n.Layers[i]
		y := t.Y[i][:rows*l.Out]
		t.affine(rows, x, l, l.B, y)
		l.Act.Activate(y)
		x = y
		if dx == nil {
			continue
		}
		da, dy := t.DA[i][:rows*l.Out], t.DY[i][:rows*l.Out]
		t.affine(rows, dx, l, nil, da)
		l.Act.Derivative(dy, y, da)
		dx = dy
	}
}

// affine sets y (rows×Out) to x·W plus bias, unless nil, in every row. A row has the
// same bits alone and among others.
func (t *Tape) affine(rows int, x []float64, l *Layer, bias, y []float64) {
	t.mul.Affine(matmul.Matrix(rows, l.Out, y), matmul.Matrix(rows, l.In, x), matmul.Matrix(l.In, l.Out, l.W), bias)
}
