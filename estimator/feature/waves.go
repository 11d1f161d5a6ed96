package feature

import "math"

// farthest is the largest angle that the vector unit reduces. Larger ones are left to the
// library, whose reduction holds everywhere.
const farthest = 1e5

// transpose sets omega.
func (p *Phi) transpose(m *Map) {
	for j := range m.F / 2 {
		for d, o := range m.Omega[j*m.D : (j+1)*m.D] {
			p.omega[d*p.stride+j] = o
		}
	}
}

// wave evaluates the random features of row i at z (D), times g, and their derivative,
// if there is dz (D), with dg, the derivative of g:
//
//	θ = Ωz      Trig = unit·[cos θ; sin θ]      Phi = g Trig
//	Rate = Ωż      DPhi = dg Trig + g unit·[−sin θ; cos θ] Rate
//
// Sine and cosine are true to within 2⁻⁵².
func (p *Phi) wave(m *Map, i int, z, dz []float64, unit, g, dg float64) {
	half, T := m.F/2, m.Features()
	if half == 0 {
		return
	}
	trig, rate := p.Trig[i*m.F:(i+1)*m.F], p.Rate[i*half:(i+1)*half]
	phi, dphi := p.Phi[i*T:i*T+m.F], p.DPhi[i*T:i*T+m.F]
	if vector {
		slope, along := &dphi[0], z
		if dz == nil {
			slope = nil
		} else {
			along = dz
		}
		if wavesAVX2(&trig[0], &phi[0], slope, &rate[0], &p.omega[0], &z[0], &along[0], half, p.stride, m.D, unit, g, dg) {
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

// Back carries the adjoints of the random features of row i, bar (F), and of their
// derivative, dbar (F; nil: none), back to z and ż: it adds to zbar and dzbar (D). g and
// dg are what the features were evaluated with: gate and its derivative times the
// amplitude. Ω is that of the last RandomRows, whatever the map holds by now. It returns
// the adjoint of the amplitude's logarithm, and leaves in bar and dbar nothing of use.
//
//	φ = g u cos θ …  φ̇ = u (ġ cos θ − g θ̇ sin θ) …      θ = Ωz, θ̇ = Ωż, u = √(2/F)
func (p *Phi) Back(m *Map, i int, g, dg float64, bar, dbar, zbar, dzbar []float64) (amp float64) {
	half, T := m.F/2, m.Features()
	if half == 0 {
		return 0
	}
	trig, rate := p.Trig[i*m.F:(i+1)*m.F], p.Rate[i*half:(i+1)*half]
	phi, dphi := p.Phi[i*T:i*T+m.F], p.DPhi[i*T:i*T+m.F]
	bar = bar[:m.F]
	if vector {
		var slope *float64
		if dbar != nil {
			slope = &dbar[:m.F][0]
		}
		amp = wavesBackAVX2(&bar[0], slope, &trig[0], &phi[0], &dphi[0], &rate[0], half, g, dg)
	} else {
		amp = p.back(bar, dbar, trig, phi, dphi, rate, g, dg)
	}
	p.turnBack(zbar, bar[:half])
	if dbar != nil {
		p.turnBack(dzbar, dbar[:half])
	}
	return amp
}

// back replaces the first halves of bar and dbar by the adjoints of θ and θ̇.
func (p *Phi) back(bar, dbar, trig, phi, dphi, rate []float64, g, dg float64) (amp float64) {
	half := len(rate)
	for j, v := range bar {
		amp += phi[j] * v
	}
	for j, r := range rate {
		c, s, bc, bs := trig[j], trig[half+j], bar[j], bar[half+j]
		if dbar == nil {
			bar[j] = g * (c*bs - s*bc)
			continue
		}
		dc, ds := dbar[j], dbar[half+j]
		amp += dphi[j]*dc + dphi[half+j]*ds
		// the derivative's own slope of the gate acts like the value's gate
		bc, bs = g*bc+dg*dc, g*bs+dg*ds
		dc *= g
		ds *= g
		dbar[j] = c*ds - s*dc
		bar[j] = c*bs - s*bc - r*(c*dc+s*ds)
	}
	return amp
}

// turnBack adds Ωᵀ theta (F/2) to zbar (D): the adjoint of the angles Ωz.
func (p *Phi) turnBack(zbar, theta []float64) {
	if vector {
		turnBackAVX2(&zbar[0], &p.omega[0], &theta[0], len(theta), p.stride, len(zbar))
		return
	}
	for d := range zbar {
		for j, v := range theta {
			zbar[d] += p.omega[d*p.stride+j] * v
		}
	}
}
