package program

import "github.com/dgm-robotics/dgm/estimator/numeric/simd"

// Parameters are the matrices and the constant of an Affine that is trained. The caller sets them before Value;
// Machine.Adjoint adds to their adjoints
//
//	M̄_i += Σ ȳ x_iᵀ      c̄ += Σ ȳ
//
// over columns, lanes and steps.
type Parameters struct {
	M, BarM [][]float64 // of each part: rows × rows of x, row-major
	C, BarC []float64   // rows
}

// Parameters returns those of an operation of Options.Trained, of the program or of one that it repeats.
func (m *Machine[T]) Parameters(a *Affine) *Parameters { return m.trained[a] }

// ClearParameters sets the adjoints of all parameters to zero.
func (m *Machine[T]) ClearParameters() {
	for _, p := range m.trained {
		clear(p.BarC)
		for _, b := range p.BarM {
			clear(b)
		}
	}
}

// train makes the matrices of an affine parameters, whose parts must have as many columns and lanes as the result.
func (a *affine[T]) train(m *Machine[T], o *Affine) {
	c, double := any(a.c).([]float64)
	if !double || len(a.single) > 0 || !m.o.Adjoint {
		panic("program: parameters are trained in double precision, with adjoints, and by operands of all lanes")
	}
	p := &Parameters{C: c[:a.rows], BarC: make([]float64, simd.Padded(a.rows))[:a.rows]}
	for i := range a.blocks {
		dense := any(a.blocks[i].m.dense).([]float64)
		a.blocks[i].m.picks, a.blocks[i].m.terms = nil, simd.Terms{} // they change
		p.M, p.BarM = append(p.M, dense), append(p.BarM, make([]float64, len(dense)))
	}
	a.parameters, m.trained[o] = p, p
}

// addParameters adds what block b contributes to the adjoints of the parameters, whose results' adjoints are bar.
func (a *affine[T]) addParameters(m *Machine[T], bar []T, b int) {
	p := a.parameters
	if p == nil {
		return
	}
	y, w := any(bar).([]float64), a.out.width
	for r := range a.rows {
		p.BarC[r] += sum(y[r*w : (r+1)*w])
	}
	for i := range a.blocks {
		x, cols := &a.blocks[i].x, a.blocks[i].m.cols
		block := any(blockOf(m.v[x.r], x, b, 0, false)).([]float64)
		m.work.Mul(general(a.rows, cols, p.BarM[i]), 1, false, general(a.rows, w, y), true, general(cols, w, block), 1)
	}
}
