package estimator

import "github.com/dgm-robotics/dgm/estimator/numeric/simd"

// Work returns how many multiply-adds and how many sines with their cosines the
// vectors make for one prediction: what the formulas ask for, without the lanes
// that fill up a block and the zeros that fill up a triangle.
func (f *Fast) Work() (multiplyAdds, waves int) {
	if f.c == nil {
		return 0, 0
	}
	K := f.plain.m.K
	for _, set := range [][]fastMember{f.c.members, f.c.refits} {
		for i := range set {
			e := &set[i]
			p := &e.e.Map
			B := e.terms * (f.c.fixed + f.c.knots)
			waves += len(f.g.points) * K * p.F / 2
			for b := range f.g.blocks {
				points := min(simd.Width, len(f.g.points)-b*simd.Width)
				varying := (f.g.blocks[b].to - f.g.blocks[b].from) * f.plain.m.P
				n := e.first.layer.Out*(2+varying) + e.mu.in*K*(1+p.D) + K*e.terms*(1+varying) + K*(p.F/2*p.D+p.F)
				for l := range e.hidden {
					n += e.hidden[l].in * e.hidden[l].out
				}
				if e.variance {
					n += K * (p.F*(p.F+1)/2 + (p.F+B)*e.terms*(1+varying))
				}
				multiplyAdds += points * n
			}
		}
	}
	return multiplyAdds, waves
}
