package feature

import "math"

// maxAngle is the largest angle that the vector unit reduces. Larger ones are left to
// math.Sincos, whose reduction has no bound.
const maxAngle = 1e5

// transpose sets omega.
func (p *Phi) transpose(m *Map) {
	for j := range m.F / 2 {
		for d, o := range m.Omega[j*m.D : (j+1)*m.D] {
			p.omega[d*p.stride+j] = o
		}
	}
}

// rff evaluates the random features of row i at z (D), times g, and their derivative,
// if there is dz (D), with dg, the derivative of g:
//
//	θ = Ωz      trig = unit·[cos θ; sin θ]      Phi = g trig
//	rate = Ωż      DPhi = dg trig + g unit·[−sin θ; cos θ] rate
//
// The error of sine and cosine is at most 2⁻⁵².
func (p *Phi) rff(m *Map, i int, z, dz []float64, unit, g, dg float64) {
	half, T := m.F/2, m.Features()
	if half == 0 {
		return
	}
	trig, rate := p.trig[i*m.F:(i+1)*m.F], p.rate[i*half:(i+1)*half]
	at := (i - p.first) * T
	phi, dphi := p.Phi[at:at+m.F], p.DPhi[at:at+m.F]
	if vector {
		slope, tangent := &dphi[0], z
		if dz == nil {
			slope = nil
		} else {
			tangent = dz
		}
		if rffAVX2(&trig[0], &phi[0], slope, &rate[0], &p.omega[0], &z[0], &tangent[0], half, p.stride, m.D, unit, g, dg) {
			return
		}
	}
	cos, sin := trig[:half], trig[half:]
	for j := range cos {
		s, c := math.Sincos(p.angle(j, z))
		c *= unit
		s *= unit
		cos[j], sin[j] = c, s
		phi[j], phi[half+j] = g*c, g*s
		if dz != nil {
			r := p.angle(j, dz)
			rate[j] = r
			dphi[j], dphi[half+j] = dg*c-g*s*r, dg*s+g*c*r
		}
	}
}

// angle returns number j of Ωz.
func (p *Phi) angle(j int, z []float64) (a float64) {
	for d, v := range z {
		a += p.omega[d*p.stride+j] * v
	}
	return a
}

// rffSum adds x trig + y·[−sin θ; cos θ] rate of one row to dst (F): the cosines and sines of
// trig, with their factor.
func (p *Phi) rffSum(dst, trig, rate []float64, x, y float64) {
	half := len(rate)
	if half == 0 {
		return
	}
	if vector {
		rffSumAVX2(&dst[0], &trig[0], &rate[0], half, x, y)
		return
	}
	for j, r := range rate {
		c, s := trig[j], trig[half+j]
		dst[j] += x*c - y*s*r
		dst[half+j] += x*s + y*c*r
	}
}

// rffAdjoint carries the adjoints of the random features of row i, bar (F), and of their
// derivative, dbar (F; nil: none), back to z and ż: it adds to zbar and dzbar (D). g and
// dg are what the features were evaluated with: gate and its derivative times the
// amplitude. It returns the adjoint of the amplitude's logarithm, and overwrites bar and
// dbar.
//
//	φ = g u cos θ …  φ̇ = u (ġ cos θ − g θ̇ sin θ) …      θ = Ωz, θ̇ = Ωż, u = √(2/F)
func (p *Phi) rffAdjoint(m *Map, i int, g, dg float64, bar, dbar, zbar, dzbar []float64) (amp float64) {
	half := m.F / 2
	if half == 0 {
		return 0
	}
	trig, rate := p.trig[i*m.F:(i+1)*m.F], p.rate[i*half:(i+1)*half]
	bar = bar[:m.F]
	if vector {
		var slope *float64
		if dbar != nil {
			slope = &dbar[:m.F][0]
		}
		amp = rffAdjointAVX2(&bar[0], slope, &trig[0], &rate[0], half, g, dg)
	} else {
		amp = p.angleAdjoint(bar, dbar, trig, rate, g, dg)
	}
	p.omegaTranspose(zbar, bar[:half])
	if dbar != nil {
		p.omegaTranspose(dzbar, dbar[:half])
	}
	return amp
}

// rffAdjointCombined is rffAdjoint where the adjoints are a·w, and of the derivative
// b·w + c·row, which are not stored. It overwrites bar and dbar (F).
func (p *Phi) rffAdjointCombined(m *Map, i int, g, dg float64, w, row []float64, a, b, c float64, bar, dbar, zbar, dzbar []float64) (amp float64) {
	half := m.F / 2
	if half == 0 {
		return 0
	}
	if !vector {
		for j, v := range w[:m.F] {
			bar[j], dbar[j] = a*v, b*v+c*row[j]
		}
		return p.rffAdjoint(m, i, g, dg, bar, dbar, zbar, dzbar)
	}
	w, row, bar, dbar = w[:m.F], row[:m.F], bar[:half], dbar[:half]
	amp = rffCombinedAVX2(&bar[0], &dbar[0], &p.trig[i*m.F : (i+1)*m.F][0], &p.rate[i*half : (i+1)*half][0], &w[0], &row[0], half, g, dg, a, b, c)
	p.omegaTranspose(zbar, bar)
	p.omegaTranspose(dzbar, dbar)
	return amp
}

// angleAdjoint replaces the first halves of bar and dbar by the adjoints of θ and θ̇.
func (p *Phi) angleAdjoint(bar, dbar, trig, rate []float64, g, dg float64) (amp float64) {
	half := len(rate)
	for j, r := range rate {
		c, s, bc, bs := trig[j], trig[half+j], g*bar[j], g*bar[half+j]
		if dbar == nil {
			amp += c*bc + s*bs
			bar[j] = c*bs - s*bc
			continue
		}
		// the derivative's term with the gate's slope has the form of the value
		dc, ds := dbar[j], dbar[half+j]
		bc, bs = bc+dg*dc, bs+dg*ds
		dc *= g
		ds *= g
		rateBar := c*ds - s*dc
		amp += c*bc + s*bs + r*rateBar
		dbar[j] = rateBar
		bar[j] = c*bs - s*bc - r*(c*dc+s*ds)
	}
	return amp
}

// omegaTranspose adds Ωᵀ theta (F/2) to zbar (D): the adjoint of the angles Ωz.
func (p *Phi) omegaTranspose(zbar, theta []float64) {
	if vector {
		omegaTransposeAVX2(&zbar[0], &p.omega[0], &theta[0], len(theta), p.stride, len(zbar))
		return
	}
	for d := range zbar {
		for j, v := range theta {
			zbar[d] += p.omega[d*p.stride+j] * v
		}
	}
}
