package program

import (
	"fmt"
	"math"

	"github.com/tphakala/simd/f32"
	"github.com/tphakala/simd/f64"
)

// Func is an elementary function of one number.
type Func uint8

// The functions. Their numbers are in documents and never change.
const (
	Tanh       Func = 0
	Sigmoid    Func = 1 // 1/(1 + e^−x)
	Exp        Func = 2
	Log        Func = 3
	Sqrt       Func = 4 // derivative 0 at 0
	Square     Func = 5
	Reciprocal Func = 6
	Abs        Func = 7
	Floor      Func = 8 // derivative 0
	Functions       = 9
)

func (f Func) String() string {
	return [...]string{"tanh", "sigmoid", "exp", "log", "sqrt", "square", "reciprocal", "abs", "floor"}[f]
}

// Function is y = f(x), number by number. With s = f'(x), of x or y, its tangent is s ẋ, its adjoint x̄ += s ȳ.
type Function struct {
	Out, X Reg
	F      Func
}

// Function appends the operation.
func (p *Program) Function(f Func, x Reg) Reg {
	s := p.Shape(x)
	o := &Function{p.register(s.Rows, s.Cols), x, f}
	p.append(o)
	return o.Out
}

func (o *Function) results() []Reg  { return []Reg{o.Out} }
func (o *Function) operands() []Reg { return []Reg{o.X} }

func (o *Function) check(p *Program) error {
	if o.F >= Functions || p.Shape(o.X) != p.Shape(o.Out) {
		return fmt.Errorf("function %d, or shapes that differ", o.F)
	}
	return nil
}

type function[T Float] struct {
	out, x operand
	f      Func
	rows   int
	unread bool // the values: a kernel sums them
}

func newFunction[T Float](m *Machine[T], o *Function) instruction[T] {
	l := &m.layouts[o.Out]
	if n := l.rows * width; len(m.rows) < n {
		m.rows = make([]T, n)
	}
	return &function[T]{m.asIs(o.Out), m.asIs(o.X), o.F, l.rows, m.single && l.n > 1 && m.fusions.unread[o.Out]}
}

func (o *function[T]) value(m *Machine[T]) {
	if o.unread {
		return
	}
	for b := range o.out.blocks {
		n := o.rows * o.out.width
		apply(m, o.f, m.v[o.out.r][b*o.out.stride:][:n], m.v[o.x.r][b*o.x.stride:][:n])
	}
}

// apply writes f(x) to y: by vectors where there are enough.
func apply[T Float](m *Machine[T], f Func, y, x []T) {
	if len(x) >= width {
		switch x := any(x).(type) {
		case []float32:
			if applySingle(m, f, any(y).([]float32), x) {
				return
			}
		case []float64:
			if applyDouble(f, any(y).([]float64), x) {
				return
			}
		}
	}
	for i, v := range x {
		y[i] = T(f.of(float64(v)))
	}
}

func applySingle[T Float](m *Machine[T], f Func, y, x []float32) bool {
	switch f {
	case Tanh:
		copy(y, x)
		m.unit.Logistic(y, 2, 2, -1)
	case Sigmoid:
		copy(y, x)
		m.unit.Logistic(y, 1, 1, 0)
	case Sqrt:
		f32.Sqrt(y, x)
	case Square:
		f32.Mul(y, x, x)
	case Abs:
		f32.Abs(y, x)
	case Exp:
		f32.Exp(y, x)
	case Log:
		f32.Log(y, x)
	default:
		return false
	}
	return true
}

func applyDouble(f Func, y, x []float64) bool {
	switch f {
	case Sqrt:
		f64.Sqrt(y, x)
	case Square:
		f64.Mul(y, x, x)
	default:
		return false
	}
	return true
}

// of returns f(x).
func (f Func) of(x float64) float64 {
	switch f {
	case Tanh:
		return math.Tanh(x)
	case Sigmoid:
		return 1 / (1 + math.Exp(-x))
	case Exp:
		return math.Exp(x)
	case Log:
		return math.Log(x)
	case Sqrt:
		return math.Sqrt(x)
	case Square:
		return x * x
	case Reciprocal:
		return 1 / x
	case Abs:
		return math.Abs(x)
	default:
		return math.Floor(x)
	}
}

// derivative returns f'(x) by x and y = f(x).
func derivative[T Float](f Func, x, y T) T {
	switch f {
	case Tanh:
		return 1 - y*y
	case Sigmoid:
		return y * (1 - y)
	case Exp:
		return y
	case Log:
		return 1 / x
	case Sqrt:
		if y > 0 {
			return 0.5 / y
		}
		return 0
	case Square:
		return 2 * x
	case Reciprocal:
		return -y * y
	case Abs:
		if x < 0 {
			return -1
		}
		return 1
	default:
		return 0
	}
}

// derivatives writes f'(x) of block b to the machine's rows.
func (o *function[T]) derivatives(m *Machine[T], b int) []T {
	n := o.rows * o.out.width
	s, x, y := m.rows[:n], m.v[o.x.r][b%o.x.blocks*o.x.stride:][:n], m.v[o.out.r][b%o.out.blocks*o.out.stride:][:n]
	for i := range s {
		s[i] = derivative(o.f, x[i], y[i])
	}
	return s
}

func (o *function[T]) tangent(m *Machine[T]) {
	if !o.out.active {
		return
	}
	t := &o.out.t
	w := o.out.width
	for b := range t.blocks {
		s := o.derivatives(m, b)
		for c := range t.copies {
			for r := range o.rows {
				y := tangentRow(m.d[o.out.r], t, r, b, c)
				clear(y)
				addProduct(y, 1, s[r*w:(r+1)*w], tangentRow(m.d[o.x.r], &o.x.t, r, b, c))
			}
		}
	}
}

func (o *function[T]) adjoint(m *Machine[T]) {
	for b := range o.out.blocks {
		s := o.derivatives(m, b)
		bar := m.a[o.out.r][b*o.out.stride:][:len(s)]
		x := m.a[o.x.r][b*o.x.stride:][:len(s)]
		for i, v := range s {
			x[i] += v * bar[i]
		}
	}
}
