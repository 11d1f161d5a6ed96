package feature

import "math"

// Phi is the memory for the features of one channel.
type Phi struct {
	Phi, DPhi []float64 // N×Features, gated and scaled by their amplitudes; of blocks see Rows
	first     int       // row that they begin with
	block     bool      // they hold the rows of the last RandomFeatureRows only
	trig      []float64 // N×F, √(2/F)[cos Ωz; sin Ωz], before gate and amplitude
	rate      []float64 // N×F/2, Ω dz
	z, dz     []float64 // rows×D, of the last RandomFeatureRows

	// Of the last RandomFeatureRows too:
	omega  []float64 // D×stride, Ωᵀ
	stride int       // F/2 and zeros up to a multiple of four
	amp    [2]float64

	bar, dbar []float64 // F, of the angles and of their rates
}

// NewPhi takes the memory for rows rows.
func NewPhi(m *Map, rows int) *Phi { return newPhi(m, rows, rows) }

// NewBlocks takes the memory for rows rows, of which Rows returns those of the last
// RandomFeatureRows only, at most most. Sum and Adjoint read all of them.
func NewBlocks(m *Map, rows, most int) *Phi {
	p := newPhi(m, rows, min(rows, most))
	p.block = true
	return p
}

func newPhi(m *Map, rows, most int) *Phi {
	T, stride := m.Features(), (m.F/2+3)/4*4
	return &Phi{
		Phi: make([]float64, most*T), DPhi: make([]float64, most*T),
		trig: make([]float64, rows*m.F), rate: make([]float64, rows*m.F/2),
		z: make([]float64, most*m.D), dz: make([]float64, most*m.D),
		omega: make([]float64, m.D*stride), stride: stride,
		bar: make([]float64, m.F), dbar: make([]float64, m.F),
	}
}

// Rows returns the features of the rows from … to and their derivative ((to−from)×Features,
// views).
func (p *Phi) Rows(m *Map, from, to int) (phi, dphi []float64) {
	T := m.Features()
	from, to = (from-p.first)*T, (to-p.first)*T
	return p.Phi[from:to:to], p.DPhi[from:to:to]
}

// RandomFeatures evaluates the features of channel k at the rows of the last Forward;
// the derivative if the tangent was evaluated.
func (m *Map) RandomFeatures(dst *Phi, e *Eval, k int) { m.RandomFeatureRows(dst, e, k, 0, e.Rows.N) }

// RandomFeatureRows is RandomFeatures for the rows from … to.
func (m *Map) RandomFeatureRows(dst *Phi, e *Eval, k, from, to int) {
	Q := m.Basis.Dim(m.Inputs())
	unit := math.Sqrt(2 / float64(max(m.F, 1)))
	dst.amp = [2]float64{math.Exp(m.LogAmp[2*k]), math.Exp(m.LogAmp[2*k+1])}
	if dst.block {
		dst.first = from
	}
	rows := e.Rows
	dst.transpose(m)
	D, tangent := m.D, e.Core.DX != nil
	// The rows of the net's output are far apart in memory: all are read before the first is used.
	for i := from; i < to; i++ {
		z, dz := m.Z(e, i, k)
		at := (i - from) * D
		for d, v := range z {
			dst.z[at+d] = v
		}
		for d, v := range dz {
			dst.dz[at+d] = v
		}
	}
	for i := from; i < to; i++ {
		at := (i - from) * D
		z, dz := dst.z[at:at+D], []float64(nil)
		if tangent {
			dz = dst.dz[at : at+D]
		}
		g, dg := rows.Gate[i], rows.DGate[i]
		dst.rff(m, i, z, dz, unit, g*dst.amp[0], dg*dst.amp[0])
		if Q == 0 {
			continue
		}
		phi, dphi := dst.Rows(m, i, i+1)
		phi, dphi = phi[m.F:], dphi[m.F:]
		gb, dgb := g*dst.amp[1], dg*dst.amp[1]
		b, db := rows.basis(i, Q)
		for q := range Q {
			phi[q] = gb * b[q]
			if tangent {
				dphi[q] = dgb*b[q] + gb*db[q]
			}
		}
	}
}

// Sum adds Σ aᵢ φᵢ + bᵢ φ̇ᵢ to dst (Features), where i are the rows from … to, evaluated with
// the tangent, and a and b have a number for each of these.
func (p *Phi) Sum(m *Map, e *Eval, dst, a, b []float64, from, to int) {
	half, Q := m.F/2, m.Basis.Dim(m.Inputs())
	for i := from; i < to; i++ {
		g, dg := e.Rows.Gate[i], e.Rows.DGate[i]
		// a φ + b φ̇ = (a g + b ġ)·trig + b g·its derivative
		x, y := a[i-from]*g+b[i-from]*dg, b[i-from]*g
		p.rffSum(dst[:m.F], p.trig[i*m.F:(i+1)*m.F], p.rate[i*half:(i+1)*half], x*p.amp[0], y*p.amp[0])
		if Q == 0 {
			continue
		}
		basis, dbasis := e.Rows.basis(i, Q)
		for q, v := range basis {
			dst[m.F+q] += p.amp[1] * (x*v + y*dbasis[q])
		}
	}
}

// Adjoint carries the adjoints of the features of row i, bar (Features), and of their
// derivative, dbar (Features; nil: none), back to z and ż: it adds to zbar and dzbar (D). It
// returns the adjoints of the amplitudes' logarithms, and overwrites bar and dbar.
// Frequencies and amplitudes are those of the last RandomFeatureRows, not the map's
// present ones.
func (p *Phi) Adjoint(m *Map, e *Eval, i int, bar, dbar, zbar, dzbar []float64) (amp [2]float64) {
	g, dg := e.Rows.Gate[i], e.Rows.DGate[i]
	amp[0] = p.rffAdjoint(m, i, g*p.amp[0], dg*p.amp[0], bar, dbar, zbar, dzbar)
	if Q := m.Basis.Dim(m.Inputs()); Q > 0 {
		b, db := e.Rows.basis(i, Q)
		for q, v := range bar[m.F : m.F+Q] {
			amp[1] += g * b[q] * v
		}
		if dbar != nil {
			for q, v := range dbar[m.F : m.F+Q] {
				amp[1] += (dg*b[q] + g*db[q]) * v
			}
		}
		amp[1] *= p.amp[1]
	}
	return amp
}

// AdjointCombined is Adjoint where the adjoints are a·w, and of the derivative b·w + c·row,
// with w and row of length Features.
func (p *Phi) AdjointCombined(m *Map, e *Eval, i int, w, row []float64, a, b, c float64, zbar, dzbar []float64) (amp [2]float64) {
	g, dg := e.Rows.Gate[i], e.Rows.DGate[i]
	amp[0] = p.rffAdjointCombined(m, i, g*p.amp[0], dg*p.amp[0], w, row, a, b, c, p.bar, p.dbar, zbar, dzbar)
	if Q := m.Basis.Dim(m.Inputs()); Q > 0 {
		basis, dbasis := e.Rows.basis(i, Q)
		for q, v := range basis {
			x := w[m.F+q]
			amp[1] += p.amp[1] * (g*v*a*x + (dg*v+g*dbasis[q])*(b*x+c*row[m.F+q]))
		}
	}
	return amp
}
