package feature

import "math"

// ExactPoint is one argument of the exact kernel: a row and the outputs of a channel's
// head.
type ExactPoint struct {
	Z, DZ       []float64 // D
	Gate, DGate float64
	B, DB       []float64 // Q
}

// Exact returns point i of channel k as an argument of the exact kernel, made of
// views.
func (m *Map) Exact(e *Eval, i, k int) ExactPoint {
	z, dz := m.Z(e, i, k)
	b, db := e.Rows.basis(i, m.Basis.Dim(m.Inputs()))
	return ExactPoint{Z: z, DZ: dz, Gate: e.Rows.Gate[i], DGate: e.Rows.DGate[i], B: b, DB: db}
}

// Covariance returns the kernel that the random features approximate, between p
// and o, and its derivative along p's tangent:
//
//	k = γγ' [ e^2a1 exp(−½‖z − z'‖²) + e^2a2 b·b' ]
func (m *Map) Covariance(k int, p, o *ExactPoint) (cov, dcov float64) {
	a1, a2 := math.Exp(2*m.LogAmp[2*k]), math.Exp(2*m.LogAmp[2*k+1])
	var sq, radial, lin, dlin float64
	for d, v := range p.Z {
		delta := v - o.Z[d]
		sq += delta * delta
		if p.DZ != nil {
			radial += delta * p.DZ[d]
		}
	}
	for q, v := range p.B {
		lin += v * o.B[q]
		dlin += p.DB[q] * o.B[q]
	}
	rbf := a1 * math.Exp(-0.5*sq)
	lin *= a2
	cov = p.Gate * o.Gate * (rbf + lin)
	dcov = o.Gate * (p.DGate*(rbf+lin) + p.Gate*(a2*dlin-rbf*radial))
	return cov, dcov
}

// PriorVariance returns the variance of the prior at p and that of its
// derivative along p's tangent.
func (m *Map) PriorVariance(k int, p *ExactPoint) (v, dv float64) {
	a1, a2 := math.Exp(2*m.LogAmp[2*k]), math.Exp(2*m.LogAmp[2*k+1])
	g, dg := p.Gate, p.DGate
	var speed, bb, db float64
	for _, d := range p.DZ {
		speed += d * d
	}
	for q, b := range p.B {
		bb += b * b
		s := dg*b + g*p.DB[q]
		db += s * s
	}
	return g * g * (a1 + a2*bb), a1*(dg*dg+g*g*speed) + a2*db
}
