package program

import (
	"fmt"

	"github.com/tphakala/simd/f32"

	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

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
	runs      []productRun // the same terms, where a kernel multiplies rows that follow one another; none elsewhere
	double    *doubleTerms // the same in double precision; nil in single
}

// doubleTerms are those that a kernel adds to the result: rows of a times rows of b, and of b times a; and those that it adds to the
// adjoint of a and to that of b: rows of the result's adjoint times rows of the other one.
type doubleTerms struct{ ab, ba, toA, toB simd.Terms }

func newDoubleTerms(terms []Term) *doubleTerms {
	list := func(of func(t *Term) (row, a, b int)) simd.Terms {
		out := make([]simd.Term, len(terms))
		for i := range terms {
			row, a, b := of(&terms[i])
			out[i] = simd.Term{Row: row, A: a, B: b, S: terms[i].S}
		}
		return simd.NewTerms(out)
	}
	return &doubleTerms{
		ab:  list(func(t *Term) (row, a, b int) { return t.Row, t.A, t.B }),
		ba:  list(func(t *Term) (row, a, b int) { return t.Row, t.B, t.A }),
		toA: list(func(t *Term) (row, a, b int) { return t.A, t.Row, t.B }),
		toB: list(func(t *Term) (row, a, b int) { return t.B, t.Row, t.A }),
	}
}

// productRun is n terms of rows that follow one another, each the only one of its row: row a times as many rows of b.
type productRun struct{ row, a, b, n int }

// runsOf returns all terms as runs; nil where there are no longer ones.
func runsOf(terms []Term) (runs []productRun) {
	for i, t := range terms {
		if t.S != 1 || i > 0 && terms[i-1].Row == t.Row {
			return nil
		}
		if n := len(runs) - 1; i > 0 && terms[i-1].A == t.A && terms[i-1].B+1 == t.B && terms[i-1].Row+1 == t.Row {
			runs[n].n++
		} else {
			runs = append(runs, productRun{t.Row, t.A, t.B, 1})
		}
	}
	if 2*len(runs) > len(terms) {
		return nil
	}
	return runs
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
	if m.single {
		i.runs = runsOf(o.Terms)
	} else {
		i.double = newDoubleTerms(o.Terms)
	}
	return i
}

// addRuns adds the products of factors, one row of a and rows of b each, to the rows of dst: blocks of single precision.
func (o *products[T]) addRuns(m *Machine[T], dst, a, b []T) {
	to, scale, x := any(dst).([]float32), any(a).([]float32), any(b).([]float32)
	for i := range o.runs {
		r := &o.runs[i]
		m.unit.AddScaled(to[r.row*width:(r.row+r.n)*width], scale[r.a*width:], x[r.b*width:(r.b+r.n)*width])
	}
}

func (o *products[T]) value(m *Machine[T]) {
	v, a, b := m.v[o.out.r], m.v[o.a.r], m.v[o.b.r]
	for block := range o.out.blocks {
		out := v[block*o.out.stride:][:o.rows*o.out.width]
		a, b := a[block%o.a.blocks*o.a.stride:], b[block%o.b.blocks*o.b.stride:]
		clear(out)
		switch {
		case o.out.width == 1:
			for i := range o.terms {
				t := &o.terms[i]
				out[t.row] += t.s * a[t.a] * b[t.b]
			}
			continue
		case o.runs != nil:
			o.addRuns(m, out, a, b)
			continue
		case o.double != nil:
			m.addTerms(out, a, b, &o.double.ab, false)
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
			switch {
			case o.runs != nil && t.width > 1:
				o.tangentRuns(m, out, b, c)
			case o.double != nil && o.out.width > 1:
				o.tangentTerms(m, out, b, c)
			default:
				o.tangentRows(m, out, b, c)
			}
		}
	}
}

// tangentRows adds the tangents of a block to dst, term by term.
func (o *products[T]) tangentRows(m *Machine[T], dst []T, b, c int) {
	w := o.out.t.width
	for i := range o.terms {
		term := &o.terms[i]
		row := dst[term.row*w : (term.row+1)*w]
		if o.a.active {
			addProduct(row, term.s, rowOf(m.v[o.b.r], &o.b, term.b, b), tangentRow(m.d[o.a.r], &o.a.t, term.a, b, c))
		}
		if o.b.active {
			addProduct(row, term.s, rowOf(m.v[o.a.r], &o.a, term.a, b), tangentRow(m.d[o.b.r], &o.b.t, term.b, b, c))
		}
	}
}

// tangentTerms is tangentRows of columns or lanes in double precision.
func (o *products[T]) tangentTerms(m *Machine[T], dst []T, b, c int) {
	if o.a.active {
		m.addTerms(dst, blockOf(m.d[o.a.r], &o.a, b, c, true), blockOf(m.v[o.b.r], &o.b, b, c, false), &o.double.ab, true)
	}
	if o.b.active {
		m.addTerms(dst, blockOf(m.d[o.b.r], &o.b, b, c, true), blockOf(m.v[o.a.r], &o.a, b, c, false), &o.double.ba, true)
	}
}

// tangentRuns adds the tangents of a block to dst.
func (o *products[T]) tangentRuns(m *Machine[T], dst []T, b, c int) {
	va, vb := blockOf(m.v[o.a.r], &o.a, b, c, false), blockOf(m.v[o.b.r], &o.b, b, c, false)
	if o.out.width > 1 {
		if o.a.active {
			o.addRuns(m, dst, blockOf(m.d[o.a.r], &o.a, b, c, true), vb)
		}
		if o.b.active {
			o.addRuns(m, dst, va, blockOf(m.d[o.b.r], &o.b, b, c, true))
		}
		return
	}
	to := any(dst).([]float32)
	for i := range o.runs { // directions stand side by side, of one number each
		r := &o.runs[i]
		if o.b.active {
			x := any(blockOf(m.d[o.b.r], &o.b, b, c, true)).([]float32)
			f32.AddScaled(to[r.row*width:(r.row+r.n)*width], float32(va[r.a]), x[r.b*width:(r.b+r.n)*width])
		}
		if o.a.active {
			x := any(blockOf(m.d[o.a.r], &o.a, b, c, true)).([]float32)[r.a*width : (r.a+1)*width]
			for j := range r.n {
				f32.AddScaled(to[(r.row+j)*width:(r.row+j+1)*width], float32(vb[r.b+j]), x)
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
		if o.double != nil {
			bar := blockOf(m.a[o.out.r], &o.out, b, 0, false)
			m.addTerms(blockOf(m.a[o.a.r], &o.a, b, 0, false), bar, blockOf(m.v[o.b.r], &o.b, b, 0, false), &o.double.toA, false)
			m.addTerms(blockOf(m.a[o.b.r], &o.b, b, 0, false), bar, blockOf(m.v[o.a.r], &o.a, b, 0, false), &o.double.toB, false)
			continue
		}
		for i := range o.terms {
			t := &o.terms[i]
			bar := rowOf(m.a[o.out.r], &o.out, t.row, b)
			addProduct(rowOf(m.a[o.a.r], &o.a, t.a, b), t.s, rowOf(m.v[o.b.r], &o.b, t.b, b), bar)
			addProduct(rowOf(m.a[o.b.r], &o.b, t.b, b), t.s, rowOf(m.v[o.a.r], &o.a, t.a, b), bar)
		}
	}
}
