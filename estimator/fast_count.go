package estimator

import "github.com/dgm-robotics/dgm/estimator/numeric/simd"

// Work returns the numbers of multiply-adds and of sine-cosine pairs of one prediction:
// those of the formulas, without the points that fill up a block and the zeros that
// fill up a triangle.
func (f *Fast) Work() (multiplyAdds, sincos int) {
	if f.c == nil {
		return 0, 0
	}
	K := f.plain.m.K
	for _, e := range f.c.all() {
		p := &e.e.Map
		B := e.terms * (f.c.fixed + f.c.knots)
		sincos += len(f.g.points) * K * p.F / 2
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
	return multiplyAdds, sincos
}
