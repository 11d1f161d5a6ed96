package estimator

import (
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// start prepares what all members share: start state, knots and prior dynamics.
func (f *Fast) start(dst *Prediction, q *Query) {
	p, w, m := f.plain, &f.w, f.plain.m
	m.Inputs.Lift.Apply(p.x0, q.X0)
	w.fixed[0] = 1
	copy(w.fixed[1:], p.x0)
	w.square = 0
	for _, v := range w.fixed {
		w.square += v * v
	}
	if f.c.knots > 0 {
		f.knotMeans()
		f.varyingKnots(&f.g.places)
		f.addKnotSquares()
	}
	p.begin(dst, q)
	w.prior.evaluate()
	clear(w.nodeV)
}

// knotMeans sets knots to their values at the ends of their blocks of time.
func (f *Fast) knotMeans() {
	in := &f.plain.m.Inputs
	P, length := len(in.InputMean), in.Horizon/float64(in.Knots)
	for j := range in.Knots {
		q := f.w.knots[j*P : (j+1)*P]
		f.plain.plan.Mean(q, float64(j)*length, float64(j+1)*length)
		in.Standardise(q, 1)
	}
}

// varyingKnots sets the knots that vary within a block.
func (f *Fast) varyingKnots(p *places) {
	P := f.plain.m.P
	for i := range p.blocks {
		b := &p.blocks[i]
		for lane, t := range p.times[i*simd.Width : (i+1)*simd.Width] {
			for j := b.from; j < b.to; j++ {
				at := (b.row+(j-b.from)*P)*simd.Width + lane
				for c, v := range f.knotAt(j, t) {
					p.varying[0][at+c*simd.Width] = simd.Single(v)
				}
			}
		}
	}
	f.varyingPowers(p)
}

// knotAt returns knot j (P) at time t: 0 before its block of time, its mean after it.
func (f *Fast) knotAt(j int, t float64) []float64 {
	p, in := f.plain, &f.plain.m.Inputs
	P, length := p.m.P, in.Horizon/float64(in.Knots)
	switch from := float64(j) * length; {
	case t <= from:
		clear(p.scratch)
		return p.scratch
	case t < from+length:
		p.plan.Mean(p.scratch, from, t)
		in.Standardise(p.scratch, (t-from)/length)
		return p.scratch
	}
	return f.w.knots[j*P : (j+1)*P]
}

// varyingPowers sets the further powers of varying: τ'ᵖ times the first.
func (f *Fast) varyingPowers(p *places) {
	for power := 1; power < len(p.varying); power++ {
		for i := range p.blocks {
			b := &p.blocks[i]
			tau := p.powers[(i*f.c.powers+power)*simd.Width:][:simd.Width]
			for row := b.row; row < b.row+(b.to-b.from)*f.plain.m.P; row++ {
				from, to := p.varying[0][row*simd.Width:][:simd.Width], p.varying[power][row*simd.Width:][:simd.Width]
				for lane, v := range from {
					to[lane] = tau[lane] * v
				}
			}
		}
	}
}

// addKnotSquares adds to square what the knots are at the last of the times.
func (f *Fast) addKnotSquares() {
	w, g, P := &f.w, f.g, f.plain.m.P
	b, lane := &g.blocks[g.last/simd.Width], g.last%simd.Width
	for _, v := range w.knots[:b.from*P] {
		w.square += v * v
	}
	for row := b.row; row < b.row+(b.to-b.from)*P; row++ {
		v := float64(g.varying[0][row*simd.Width+lane])
		w.square += v * v
	}
}
