package estimator

import (
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// start prepares what all members share: start state, knots and base.
func (f *Fast) start(q *Query) {
	p, w, m := f.plain, &f.w, f.plain.m
	in := &m.Inputs
	in.Lift.Apply(p.x0, q.X0)
	w.fixed[0] = 1
	copy(w.fixed[1:], p.x0)
	w.square = 0
	for _, v := range w.fixed {
		w.square += v * v
	}
	if f.c.knots > 0 {
		f.startKnots()
	}
	p.start.Start(q.X0, &p.plan)
	w.base.all()
	clear(w.v)
}

// startKnots fills knots and varying.
func (f *Fast) startKnots() {
	p, w, g, in := f.plain, &f.w, f.g, &f.plain.m.Inputs
	P, length := len(in.InputMean), in.Horizon/float64(in.Knots)
	for j := range in.Knots {
		q := w.knots[j*P : (j+1)*P]
		p.plan.Mean(q, float64(j)*length, float64(j+1)*length)
		standardise(q, in, 1)
	}
	for i := range g.blocks {
		b := &g.blocks[i]
		for lane, t := range g.times[i*simd.Width : (i+1)*simd.Width] {
			for j := b.from; j < b.to; j++ {
				value, at := w.knots[j*P:(j+1)*P], (b.row+(j-b.from)*P)*simd.Width+lane
				switch from := float64(j) * length; {
				case t <= from:
					value = zeros(p.scratch)
				case t < from+length:
					value = p.scratch
					p.plan.Mean(value, from, t)
					standardise(value, in, (t-from)/length)
				}
				for c, v := range value {
					w.varying[0][at+c*simd.Width] = simd.Single(v)
				}
			}
		}
	}
	for power := 1; power < len(w.varying); power++ {
		for i := range g.blocks {
			b := &g.blocks[i]
			tau := g.powers[(i*f.c.powers+power)*simd.Width:][:simd.Width]
			for row := b.row; row < b.row+(b.to-b.from)*P; row++ {
				from, to := w.varying[0][row*simd.Width:][:simd.Width], w.varying[power][row*simd.Width:][:simd.Width]
				for lane, v := range from {
					to[lane] = tau[lane] * v
				}
			}
		}
	}
	b, lane := &g.blocks[g.last/simd.Width], g.last%simd.Width
	for _, v := range w.knots[:b.from*P] {
		w.square += v * v
	}
	for row := b.row; row < b.row+(b.to-b.from)*P; row++ {
		v := float64(w.varying[0][row*simd.Width+lane])
		w.square += v * v
	}
}

func zeros(s []float64) []float64 {
	clear(s)
	return s
}

// standardise sets q = weight·(q − mean)/std.
func standardise(q []float64, in *feature.Inputs, weight float64) {
	for c := range q {
		q[c] = weight * (q[c] - in.InputMean[c]) / in.InputStd[c]
	}
}
