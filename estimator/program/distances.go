package program

import "fmt"

// Distances is y_j = ‖x − p_j‖². Its tangent is 2 (x − p_j)ᵀ ẋ, its adjoint x̄ += 2 Σ_j (x − p_j) ȳ_j.
type Distances struct {
	Out, X Reg
	Points []float64 // rows of Out × rows of X, row-major
}

// Distances appends the operation.
func (p *Program) Distances(x Reg, points []float64) Reg {
	s := p.Shape(x)
	o := &Distances{p.register(len(points)/max(s.Rows, 1), s.Cols), x, points}
	p.append(o)
	return o.Out
}

func (o *Distances) results() []Reg  { return []Reg{o.Out} }
func (o *Distances) operands() []Reg { return []Reg{o.X} }

func (o *Distances) check(p *Program) error {
	if y, x := p.Shape(o.Out), p.Shape(o.X); y.Cols != x.Cols || len(o.Points) != y.Rows*x.Rows {
		return fmt.Errorf("points of %d numbers, expected %d×%d", len(o.Points), y.Rows, x.Rows)
	}
	return finite("points", o.Points)
}

type distances[T Float] struct {
	out, x        operand
	points        []T
	count, coords int
}

func newDistances[T Float](m *Machine[T], o *Distances) instruction[T] {
	i := &distances[T]{out: m.asIs(o.Out), x: m.asIs(o.X), points: make([]T, len(o.Points)), count: m.layouts[o.Out].rows, coords: m.layouts[o.X].rows}
	for j, v := range o.Points {
		i.points[j] = T(v)
	}
	return i
}

func (o *distances[T]) value(m *Machine[T]) {
	for b := range o.out.blocks {
		for j := range o.count {
			y := rowOf(m.v[o.out.r], &o.out, j, b)
			clear(y)
			for c, p := range o.points[j*o.coords : (j+1)*o.coords] {
				for i, v := range rowOf(m.v[o.x.r], &o.x, c, b) {
					y[i] += (v - p) * (v - p)
				}
			}
		}
	}
}

// offset writes x − p of coordinate c of point j in block b to the machine's mask.
func (o *distances[T]) offset(m *Machine[T], j, c, b int) []T {
	x := rowOf(m.v[o.x.r], &o.x, c, b)
	d := m.mask[:len(x)]
	for i, v := range x {
		d[i] = v - o.points[j*o.coords+c]
	}
	return d
}

func (o *distances[T]) tangent(m *Machine[T]) {
	if !o.out.active {
		return
	}
	t := &o.out.t
	for b := range t.blocks {
		for j := range o.count {
			for c := range t.copies {
				clear(tangentRow(m.d[o.out.r], t, j, b, c))
			}
			for k := range o.coords {
				d := o.offset(m, j, k, b)
				for c := range t.copies {
					addProduct(tangentRow(m.d[o.out.r], t, j, b, c), 2, d, tangentRow(m.d[o.x.r], &o.x.t, k, b, c))
				}
			}
		}
	}
}

func (o *distances[T]) adjoint(m *Machine[T]) {
	for b := range o.out.blocks {
		for j := range o.count {
			bar := rowOf(m.a[o.out.r], &o.out, j, b)
			for k := range o.coords {
				addProduct(rowOf(m.a[o.x.r], &o.x, k, b), 2, o.offset(m, j, k, b), bar)
			}
		}
	}
}
