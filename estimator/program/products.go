package program

import "fmt"

// Products is y_r = Σ s a_i b_j over the terms of row r. Its tangent is Σ s (ȧ_i b_j + a_i ḃ_j), its
// adjoint ā_i += s b_j ȳ_r, b̄_j += s a_i ȳ_r. It costs two multiplications for every term.
type Products struct {
	Out, A, B Reg
	Terms     []Term // in the order of their rows; a row without any is 0
}

// Term is s·a·b.
type Term struct {
	Row, A, B int
	S         float64
}

// Products appends the operation, of so many rows.
func (p *Program) Products(rows int, a, b Reg, terms []Term) Reg {
	o := &Products{p.register(rows, p.columns(a, b)), a, b, terms}
	p.append(o)
	return o.Out
}

// Times appends the products of two registers row by row.
func (p *Program) Times(a, b Reg) Reg {
	terms := make([]Term, p.Rows(a))
	for i := range terms {
		terms[i] = Term{i, i, i, 1}
	}
	return p.Products(len(terms), a, b, terms)
}

func (o *Products) results() []Reg  { return []Reg{o.Out} }
func (o *Products) operands() []Reg { return []Reg{o.A, o.B} }

func (o *Products) check(p *Program) error {
	if n := p.columns(o.A, o.B); n == 0 || n != p.Shape(o.Out).Cols {
		return fmt.Errorf("columns do not agree")
	}
	last := 0
	for i, t := range o.Terms {
		if t.Row < last || t.Row >= p.Rows(o.Out) || t.A < 0 || t.A >= p.Rows(o.A) || t.B < 0 || t.B >= p.Rows(o.B) {
			return fmt.Errorf("term %d: row %d, factors %d and %d are out of range or order", i, t.Row, t.A, t.B)
		}
		if err := finite("scale", []float64{t.S}); err != nil {
			return err
		}
		last = t.Row
	}
	return nil
}

type products[T Float] struct {
	out, a, b operand
	rows      int
	terms     []term[T]
}

type term[T Float] struct {
	row, a, b int
	s         T
}

func newProducts[T Float](m *Machine[T], o *Products) instruction[T] {
	i := &products[T]{out: m.asIs(o.Out), a: m.operand(o.A, o.Out), b: m.operand(o.B, o.Out), rows: m.layouts[o.Out].rows}
	for _, t := range o.Terms {
		i.terms = append(i.terms, term[T]{t.Row, t.A, t.B, T(t.S)})
	}
	return i
}

func (o *products[T]) value(m *Machine[T]) {
	v, a, b := m.v[o.out.r], m.v[o.a.r], m.v[o.b.r]
	for block := range o.out.blocks {
		out := v[block*o.out.stride:][:o.rows*o.out.width]
		a, b := a[block%o.a.blocks*o.a.stride:], b[block%o.b.blocks*o.b.stride:]
		clear(out)
		if o.out.width == 1 {
			for i := range o.terms {
				t := &o.terms[i]
				out[t.row] += t.s * a[t.a] * b[t.b]
			}
			continue
		}
		for i := range o.terms {
			t := &o.terms[i]
			addBlock(out[t.row*width:], t.s, a[t.a*width:], b[t.b*width:])
		}
	}
}

// addBlock adds s·a·b of rows of width to dst.
func addBlock[T Float](dst []T, s T, a, b []T) {
	y, u, w := (*[width]T)(dst), (*[width]T)(a), (*[width]T)(b)
	for i := range y {
		y[i] += s * u[i] * w[i]
	}
}

func (o *products[T]) tangent(m *Machine[T]) {
	if !o.out.active {
		return
	}
	d, t := m.d[o.out.r], &o.out.t
	for c := range t.copies {
		for b := range t.blocks {
			out := d[c*t.size+b*t.stride:]
			clear(out[:o.rows*t.width])
			for i := range o.terms {
				term := &o.terms[i]
				row := out[term.row*t.width : (term.row+1)*t.width]
				if o.a.active {
					addProduct(row, term.s, rowOf(m.v[o.b.r], &o.b, term.b, b), tangentRow(m.d[o.a.r], &o.a.t, term.a, b, c))
				}
				if o.b.active {
					addProduct(row, term.s, rowOf(m.v[o.a.r], &o.a, term.a, b), tangentRow(m.d[o.b.r], &o.b.t, term.b, b, c))
				}
			}
		}
	}
}

func (o *products[T]) adjoint(m *Machine[T]) {
	if o.out.width == 1 {
		bar, a, b, abar, bbar := m.a[o.out.r], m.v[o.a.r], m.v[o.b.r], m.a[o.a.r], m.a[o.b.r]
		for i := range o.terms {
			t := &o.terms[i]
			s := t.s * bar[t.row]
			abar[t.a] += s * b[t.b]
			bbar[t.b] += s * a[t.a]
		}
		return
	}
	for b := range o.out.blocks {
		for i := range o.terms {
			t := &o.terms[i]
			bar := rowOf(m.a[o.out.r], &o.out, t.row, b)
			addProduct(rowOf(m.a[o.a.r], &o.a, t.a, b), t.s, rowOf(m.v[o.b.r], &o.b, t.b, b), bar)
			addProduct(rowOf(m.a[o.b.r], &o.b, t.b, b), t.s, rowOf(m.v[o.a.r], &o.a, t.a, b), bar)
		}
	}
}
