package estimator

import (
	"github.com/tphakala/simd/f32"

	"github.com/dgm-robotics/dgm/estimator/numeric/panelnet"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// member writes the means of one member, output units without prior dynamics and γ, to
// means (K×n) and adds its variances, without γ², to v, and over those of the prior to
// the ratio that the OOD score reads.
func (f *Fast) member(e *fastMember, means []float32, readout Readout) {
	post := e.readout(readout)
	all := asked{e.variance, f.jacobian, f.byInput}
	if (e.variance || f.jacobian) && f.g.interpolated() {
		f.evaluate(e, post, &f.g.places, means, asked{knots: f.byInput})
		means, all.knots = f.w.unread, false
	}
	p := &f.g.places
	if all.variance || all.start {
		p = f.g.nodes
	}
	f.evaluate(e, post, p, means, all)
}

// asked is what evaluate adds beside the means: variances, and gradients by the start and by
// the knots.
type asked struct{ variance, start, knots bool }

// evaluate writes the means of one member at places to means (K×n), and adds what is asked for.
func (f *Fast) evaluate(e *fastMember, post *fastReadout, p *places, means []float32, a asked) {
	f.net(e, post, p, means, a)
	for k := range f.plain.m.K {
		f.channel(e, post, p, k, means, a)
	}
}

// net evaluates the nets of a member and the basis' part of the means, block by block:
// z and means.
func (f *Fast) net(e *fastMember, post *fastReadout, p *places, means []float32, a asked) {
	c, w, u, K, n := f.c, &f.w, f.c.unit, f.plain.m.K, len(p.times)
	D := e.e.Map.D
	width := e.first.layer.Out
	f.firstFixed(&e.first)
	f.basisFixed(e, post)
	over := 0 // knots that no longer vary
	w.packFirst(e.first.time)
	for i := range p.blocks {
		b := &p.blocks[i]
		powers := p.powers[i*c.powers*simd.Width : (i+1)*c.powers*simd.Width]
		if over < b.from*f.plain.m.P {
			for ; over < b.from*f.plain.m.P; over++ {
				f.firstKnot(&e.first, over)
				f.basisKnot(e, post, over)
			}
			w.packFirst(e.first.time)
		}
		// First layer: constant and time, then the knots that vary.
		parts := append(w.parts[:0], simd.Part{L: w.firstPanels, X: powers, K: 2})
		parts = p.part(parts, e.first.varying, b, 0, 0)
		room := w.hidden[i*w.room : (i+1)*w.room]
		x := take(&room, width)
		u.Product(x, simd.Panels(width), parts)
		panelnet.Activate(u, e.first.layer.Act, x)
		for l := range e.hidden {
			y := take(&room, e.hidden[l].Out)
			e.hidden[l].Forward(u, w.parts, powers, x, y)
			x = y
		}
		// Means: head and basis together.
		parts = append(w.parts[:0], simd.Part{L: f.fixedMeans(e), X: powers, K: max(e.terms, 1)}, simd.Part{L: e.mu.W, X: x, K: e.mu.In})
		for term, v := range post.varying {
			parts = p.part(parts, v, b, term, 0)
		}
		u.Product(w.mu, simd.Panels(K), parts)
		for k := range K {
			copy(means[k*n+i*simd.Width:(k*n+(i+1)*simd.Width)], w.mu[k*simd.Width:])
		}
		rows := simd.Padded(K*D) * simd.Width
		e.z.Forward(u, w.parts, powers, x, w.z[i*rows:(i+1)*rows])
		if a.start || a.knots {
			f.activationDerivatives(e, w.hidden[i*w.room:(i+1)*w.room])
		}
	}
}

// fixedMeans returns the panels of the means' part that does not vary, K × powers, from basis
// and the bias. They are valid until the next.
func (f *Fast) fixedMeans(e *fastMember) []float32 {
	w, K, powers := &f.w, f.plain.m.K, max(e.terms, 1)
	out := w.single[:simd.Padded(K)*powers]
	simd.Pack(out, K, powers, func(row, power int) float64 {
		v := 0.0
		if power < e.terms {
			v = w.basis[power*K+row]
		}
		if power == 0 {
			v += float64(e.mu.B[row])
		}
		return v
	})
	return out
}

// firstFixed sets first to the part of the first layer that does not vary, without knots.
func (f *Fast) firstFixed(l *firstLayer) {
	w := &f.w
	n := l.layer.Out
	sum := w.first[:n]
	copy(sum, l.layer.B)
	for column, v := range w.fixed[1:] {
		for r, c := range l.layer.W[(1+column)*n : (2+column)*n] {
			sum[r] += v * c
		}
	}
}

// firstKnot adds a knot whose block of time is over.
func (f *Fast) firstKnot(l *firstLayer, knot int) {
	n, v := l.layer.Out, f.w.knots[knot]
	column := f.c.fixed + knot
	for r, c := range l.layer.W[column*n : (column+1)*n] {
		f.w.first[r] += v * c
	}
}

// basisFixed sets basis to the part of the means that does not vary, without knots.
func (f *Fast) basisFixed(e *fastMember, post *fastReadout) {
	clear(f.w.basis)
	for column, v := range f.w.fixed {
		f.basisColumn(e, post, column, v)
	}
}

func (f *Fast) basisKnot(e *fastMember, post *fastReadout, knot int) {
	f.basisColumn(e, post, f.c.fixed+knot, f.w.knots[knot])
}

func (f *Fast) basisColumn(e *fastMember, post *fastReadout, column int, v float64) {
	K, width := f.plain.m.K, f.c.fixed+f.c.knots
	for term := range e.terms {
		sum := f.w.basis[term*K : (term+1)*K]
		for k, c := range post.fixed[(term*width+column)*K : (term*width+column+1)*K] {
			sum[k] += v * c
		}
	}
}

// packFirst sets firstPanels from first and the column of τ'.
func (w *fastWork) packFirst(time []float32) {
	for at := 0; at < len(time); at += simd.Rows {
		panel := w.firstPanels[2*at : 2*at+2*simd.Rows]
		for r, v := range w.first[at : at+simd.Rows] {
			panel[r] = simd.Single(v)
		}
		copy(panel[simd.Rows:], time[at:at+simd.Rows])
	}
}

// channel adds the random features of a channel to its means, and evaluates, if asked for,
// its variance and the gradient of its mean.
func (f *Fast) channel(e *fastMember, post *fastReadout, p *places, k int, means []float32, a asked) {
	c, w, u, n := f.c, &f.w, f.c.unit, len(p.times)
	D := e.e.Map.D
	rows := simd.Padded(f.plain.m.K*D) * simd.Width
	var x []float32
	if a != (asked{}) {
		x = w.x
	}
	var factor *fastFactor
	if a.variance {
		factor = &post.factors[k]
		F := e.e.Map.F
		clear(x[F*simd.Width : simd.Padded(F)*simd.Width]) // 0 times what is left there must be 0
		f.factorFixed(e, factor)
	}
	over := 0
	for i := range p.blocks {
		mean := means[k*n+i*simd.Width : k*n+(i+1)*simd.Width]
		u.RandomFeatures(x, mean, e.omega, post.features[k], w.z[i*rows+k*D*simd.Width:], D)
		if a.start || a.knots {
			f.addMeanGradient(e, post, p, k, i, a)
		}
		if !a.variance {
			continue
		}
		b := &p.blocks[i]
		for ; over < b.from*f.plain.m.P; over++ {
			f.factorColumn(e, factor, c.fixed+over, w.knots[over])
		}
		f.variance(e, factor, p, i)
		v := w.nodeV[k*n+i*simd.Width:]
		for lane, s := range w.squares {
			v[lane] += float64(s)
		}
		if i == p.last/simd.Width {
			f.plain.ratio += float64(w.squares[p.last%simd.Width]) / (factor.prior[0] + factor.prior[1]*w.square*f.g.norm[e.terms])
		}
	}
}

// variance writes ‖L⁻¹φ‖²/γ² of one block to squares, from the features in x and the
// constant part in factorBasis.
func (f *Fast) variance(e *fastMember, t *fastFactor, p *places, block int) {
	c, w, b := f.c, &f.w, &p.blocks[block]
	F, B := e.e.Map.F, e.terms*(c.fixed+c.knots)
	powers := p.powers[block*c.powers*simd.Width:]
	clear(w.squares[:])
	first := simd.Panels(F)
	for i, group := range [2]struct{ panel, panels int }{{0, first}, {first, simd.Panels(B)}} {
		parts := w.parts[:0]
		if e.terms > 0 {
			parts = append(parts, simd.Part{L: w.factorBasis[group.panel*simd.Rows*e.terms:], X: powers, K: e.terms})
		}
		for term, v := range t.varying {
			parts = p.part(parts, v, b, term, group.panel)
		}
		if i == 0 {
			parts = append(parts, simd.Part{L: t.lower, X: w.x, K: simd.Rows, Grow: simd.Rows})
		}
		if group.panels > 0 {
			c.unit.SumSquares(w.squares[:], group.panels, parts)
		}
	}
}

// factorFixed sets factorBasis to the part of a factor times the basis that does not
// vary, without knots.
func (f *Fast) factorFixed(e *fastMember, t *fastFactor) {
	clear(f.w.factorBasis)
	if e.terms == 0 {
		return
	}
	for column, v := range f.w.fixed {
		f.factorColumn(e, t, column, v)
	}
}

func (f *Fast) factorColumn(e *fastMember, t *fastFactor, column int, v float64) {
	if e.terms > 0 {
		f32.AddScaled(f.w.factorBasis[:len(t.fixed[column])], simd.Single(v), t.fixed[column])
	}
}
