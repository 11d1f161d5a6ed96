package mlp

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Tape is the memory of one evaluation: what every layer received and gave, and
// the same for the tangent. All of it is taken by NewTape.
type Tape struct {
	Max  int         // rows that there is room for
	Rows int         // rows of the last evaluation
	Y    [][]float64 // per layer: Rows×Out, after the activation
	DY   [][]float64 // per layer: Rows×Out, tangent after the activation
	DA   [][]float64 // per layer: Rows×Out, tangent before the activation
	X    []float64   // Rows×In, the input of the last evaluation (the caller's)
	DX   []float64   // Rows×In, its tangent (the caller's), nil without
}

// NewTape takes the memory for up to rows rows; the tangent's only if asked for.
func NewTape(n *Net, rows int, tangent bool) *Tape {
	t := &Tape{Max: rows}
	for i := range n.Layers {
		size := rows * n.Layers[i].Out
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
		for r := range rows {
			copy(y[r*l.Out:(r+1)*l.Out], l.B)
		}
		product(rows, x, l, 1, y)
		activate(l.Act, y)
		x = y
		if dx == nil {
			continue
		}
		da, dy := t.DA[i][:rows*l.Out], t.DY[i][:rows*l.Out]
		product(rows, dx, l, 0, da)
		slope(l.Act, dy, y, da)
		dx = dy
	}
}

// tileRows × tileCols is the largest result that Dgemm computes in one goroutine
// without taking memory; it splits what has four blocks of 64×64 or more. In
// flight there is one goroutine, and rows are independent, so tiles change no bit.
const (
	tileRows = 64
	tileCols = 3 * 64
)

// product sets c = x·W + beta c, tile by tile.
func product(rows int, x []float64, l *Layer, beta float64, c []float64) {
	for r := 0; r < rows; r += tileRows {
		n := min(tileRows, rows-r)
		for j := 0; j < l.Out; j += tileCols {
			w := min(tileCols, l.Out-j)
			blas64.Gemm(blas.NoTrans, blas.NoTrans, 1,
				blas64.General{Rows: n, Cols: l.In, Stride: l.In, Data: x[r*l.In:]},
				blas64.General{Rows: l.In, Cols: w, Stride: l.Out, Data: l.W[j:]},
				beta, blas64.General{Rows: n, Cols: w, Stride: l.Out, Data: c[r*l.Out+j:]})
		}
	}
}

func activate(a Activation, y []float64) {
	switch a {
	case Linear:
	case Sigmoid:
		for i, v := range y {
			y[i] = sigmoid(v)
		}
	case Tanh:
		for i, v := range y {
			y[i] = math.Tanh(v)
		}
	default:
		panic(badActivation)
	}
}

// slope sets dy = act'(a)·da, act' being written in terms of y = act(a).
func slope(a Activation, dy, y, da []float64) {
	switch a {
	case Linear:
		copy(dy, da)
	case Sigmoid:
		for i, v := range y {
			dy[i] = v * (1 - v) * da[i]
		}
	case Tanh:
		for i, v := range y {
			dy[i] = (1 - v*v) * da[i]
		}
	}
}

func sigmoid(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + math.Exp(-x))
	}
	e := math.Exp(x)
	return e / (1 + e)
}

const badActivation = "mlp: unknown activation"
