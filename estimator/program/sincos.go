package program

import (
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// SinCos is the cosines of all rows of x, and below them the sines. Its tangent is −sin x ẋ and
// cos x ẋ, its adjoint x̄ += cos x s̄ − sin x c̄.
type SinCos struct{ Out, X Reg }

// SinCos appends the operation.
func (p *Program) SinCos(x Reg) Reg {
	s := p.Shape(x)
	o := &SinCos{p.register(2*s.Rows, s.Cols), x}
	p.append(o)
	return o.Out
}

func (o *SinCos) results() []Reg  { return []Reg{o.Out} }
func (o *SinCos) operands() []Reg { return []Reg{o.X} }

func (o *SinCos) check(p *Program) error {
	if s := p.Shape(o.X); p.Shape(o.Out) != (Shape{2 * s.Rows, s.Cols}) {
		return fmt.Errorf("shapes do not agree")
	}
	return nil
}

type sinCos[T Float] struct {
	out, x operand
	rows   int
	unit   []float32 // one over π, of one row
	none   [2]float32
	unread [width]float32
	pair   [2 * width]float32
}

func newSinCos[T Float](m *Machine[T], o *SinCos) instruction[T] {
	return &sinCos[T]{out: m.asIs(o.Out), x: m.asIs(o.X), rows: m.layouts[o.X].rows, unit: []float32{simd.Single(1 / math.Pi)}}
}

func (o *sinCos[T]) value(m *Machine[T]) {
	for b := range o.out.blocks {
		for r := range o.rows {
			cos, sin := rowOf(m.v[o.out.r], &o.out, r, b), rowOf(m.v[o.out.r], &o.out, o.rows+r, b)
			x := rowOf(m.v[o.x.r], &o.x, r, b)
			if z, single := any(x).([]float32); single && len(x) == width {
				m.unit.RandomFeatures(o.pair[:], o.unread[:], o.unit, o.none[:], z, 1)
				copy(any(cos).([]float32), o.pair[:width])
				copy(any(sin).([]float32), o.pair[width:])
				continue
			}
			for i, v := range x {
				s, c := math.Sincos(float64(v))
				cos[i], sin[i] = T(c), T(s)
			}
		}
	}
}

func (o *sinCos[T]) tangent(m *Machine[T]) {
	if !o.out.active {
		return
	}
	t := &o.out.t
	for c := range t.copies {
		for b := range t.blocks {
			for r := range o.rows {
				cos, sin := rowOf(m.v[o.out.r], &o.out, r, b), rowOf(m.v[o.out.r], &o.out, o.rows+r, b)
				dcos, dsin := tangentRow(m.d[o.out.r], t, r, b, c), tangentRow(m.d[o.out.r], t, o.rows+r, b, c)
				d := tangentRow(m.d[o.x.r], &o.x.t, r, b, c)
				clear(dcos)
				clear(dsin)
				addProduct(dcos, -1, sin, d)
				addProduct(dsin, 1, cos, d)
			}
		}
	}
}

func (o *sinCos[T]) adjoint(m *Machine[T]) {
	for b := range o.out.blocks {
		for r := range o.rows {
			cos, sin := rowOf(m.v[o.out.r], &o.out, r, b), rowOf(m.v[o.out.r], &o.out, o.rows+r, b)
			bcos, bsin := rowOf(m.a[o.out.r], &o.out, r, b), rowOf(m.a[o.out.r], &o.out, o.rows+r, b)
			x := rowOf(m.a[o.x.r], &o.x, r, b)
			addProduct(x, 1, cos, bsin)
			addProduct(x, -1, sin, bcos)
		}
	}
}
