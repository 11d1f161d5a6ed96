package estimator

import (
	"github.com/tphakala/simd/f32"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// fastAdjoint is the memory for gradients of a Fast. The adjoints of all channels go back
// through the nets together.
type fastAdjoint struct {
	bars      []float64   // N×K, ∂c/∂mean in order of time
	means     []float32   // [K][Width] by block: ∂c/∂(mean of a member), without γ
	seed      []float32   // [K][1+D, padded][Width]: the same by mu and z
	powers    []float32   // [K][term][Width]: the same times τ'ᵖ
	gradient  []float32   // [L, padded][Width]: by the lifted start
	knots     []float32   // by block [J·P, padded][Width]: by the knots, sum over members
	lift      []float64   // L: by the lifted start, sum over members
	head      []simd.Part // K parts of a product, empty
	transpose []simd.Part // 1 + K, empty
	lane      []float64   // P
}

func newFastAdjoint(f *Fast) fastAdjoint {
	c, K, P, blocks := f.c, f.plain.m.K, f.plain.m.P, len(f.g.blocks)
	a := fastAdjoint{
		bars: make([]float64, len(f.g.points)*K), means: make([]float32, blocks*K*simd.Width),
		gradient: make([]float32, simd.Padded(c.fixed-1)*simd.Width), knots: make([]float32, blocks*simd.Padded(c.knots)*simd.Width),
		lift: make([]float64, c.fixed-1), head: make([]simd.Part, 0, K), transpose: make([]simd.Part, 0, 1+K), lane: make([]float64, P),
	}
	seed, terms := 0, 0
	for i := range c.members {
		seed, terms = max(seed, 1+simd.Padded(c.members[i].e.Map.D)), max(terms, c.members[i].terms)
	}
	a.seed, a.powers = make([]float32, K*seed*simd.Width), make([]float32, K*terms*simd.Width)
	return a
}

// NewGradient takes the memory for gradients by plans of so many numbers, rows·P, or P for
// queries without a plan.
func (f *Fast) NewGradient(numbers int) *Gradient {
	if !f.ownGradient() {
		return f.plain.NewGradient(numbers)
	}
	g := newGradient(f.plain, numbers)
	for _, c := range f.w.prior.components {
		g.stack.components = append(g.stack.components, batchedAdjointOf(c))
	}
	g.fast = newFastAdjoint(f)
	return g
}

// ownGradient reports whether the kernels have the derivatives of the members: they do in the
// windows form.
func (f *Fast) ownGradient() bool { return f.c != nil && f.plain.m.Displacement }

// Adjoint is that of a Predictor, in single precision. What Mean contributes is the product
// with Jacobian and InputJacobian of a Fast.
func (f *Fast) Adjoint(dst *Gradient, q *Query, mean, std []float64) (ok bool) {
	p := f.plain
	if !f.ownGradient() {
		return p.Adjoint(dst, q, mean, std)
	}
	if !p.asksGradient(dst, q, mean, std) || !dst.widths.add(dst, p, f.Predict, singleStep, q, std) {
		return false
	}
	own, a, K := &dst.widths.plus, &dst.fast, p.m.K
	own.Readout = p.signal(q)
	f.start(own, q)
	for lane, i := range f.g.order[:len(f.g.points)] {
		copy(a.bars[lane*K:(lane+1)*K], mean[i*K:(i+1)*K])
	}
	p.addOwnStart(dst, mean)
	prior := &f.w.prior
	copy(dst.stack.ranges, prior.ranges)
	dst.stack.run(dst, p.prior, a.bars, func(i int) (weights, difference []float64) { return prior.weight(i), prior.difference[i] })
	f.addMembers(dst, q, own.condition())
	return allFinite(dst.X0) && allFinite(dst.Plan)
}

// addMembers adds to dst what the ensemble contributes.
func (f *Fast) addMembers(dst *Gradient, q *Query, condition model.Condition) {
	a, c, g, m := &dst.fast, f.c, f.g, f.plain.m
	K, n := m.K, len(g.times)
	weights := g.parts[condition].networkWeight
	clear(a.means)
	for lane := range g.points {
		to := a.means[lane/simd.Width*K*simd.Width+lane%simd.Width:]
		for k := range K {
			to[k*simd.Width] = float32(a.bars[lane*K+k] * weights[k*n+lane] * c.perMember)
		}
	}
	clear(a.lift)
	clear(a.knots)
	for i := range c.members {
		e := &c.members[i]
		post := e.readout(condition.Readout())
		f.net(e, post, &g.places, f.w.means[i], asked{start: true})
		for block := range g.blocks {
			f.memberBlock(a, e, post, f.w.means[i], block)
		}
	}
	m.Inputs.Lift.Derivative(f.w.covariance.slope, q.X0)
	for l, of := range m.Inputs.Lift.Of {
		dst.X0[of] += a.lift[l] * f.w.covariance.slope[l]
	}
	f.addKnotAdjoints(dst)
}

// memberBlock adds the adjoints of lifted start and knots by one member in a block of points.
// It overwrites means.
func (f *Fast) memberBlock(a *fastAdjoint, e *fastMember, post *fastReadout, means []float32, block int) {
	c, w, u, K := f.c, &f.w, f.c.unit, f.plain.m.K
	F, D := e.e.Map.F, e.e.Map.D
	size := (1 + simd.Padded(D)) * simd.Width
	z := w.z[block*simd.Padded(K*D)*simd.Width:]
	tau := f.g.powers[block*c.powers*simd.Width:]
	a.head = a.head[:0]
	for k := range K {
		bar := a.means[(block*K+k)*simd.Width:][:simd.Width]
		seed := a.seed[k*size : (k+1)*size]
		copy(seed, bar)
		if F > 0 {
			u.RandomFeatures(w.x, means[:simd.Width], e.omega, post.features[k], z[k*D*simd.Width:], D)
			u.Product(seed[simd.Width:], simd.Panels(D), append(w.parts[:0], simd.Part{L: post.jacobians[k].features, X: w.x, K: F}))
			for d := range D {
				row := seed[(1+d)*simd.Width:][:simd.Width]
				f32.Mul(row, row, bar)
			}
		} else {
			clear(seed[simd.Width:])
		}
		a.head = append(a.head, simd.Part{L: post.jacobians[k].head, X: seed, K: 1 + D})
		for term := range e.terms {
			f32.Mul(a.powers[(k*e.terms+term)*simd.Width:][:simd.Width], bar, tau[term*simd.Width:][:simd.Width])
		}
	}
	at := f.backward(e, block, a.head)
	u.Product(a.gradient, simd.Panels(c.fixed-1), a.rows(e, post, simd.Part{L: e.back[0].W, X: at, K: e.back[0].In}, false))
	for l := range a.lift {
		a.lift[l] += float64(f32.Sum(a.gradient[l*simd.Width : (l+1)*simd.Width]))
	}
	if c.knots > 0 {
		one := w.input.one
		u.Product(one, simd.Panels(c.knots), a.rows(e, post, simd.Part{L: e.backKnots.W, X: at, K: e.backKnots.In}, true))
		to := a.knots[block*len(one) : (block+1)*len(one)]
		f32.Add(to, to, one)
	}
}

// rows returns the parts of the product that is the adjoint of the start, or of the knots: net,
// and what the basis of every channel contributes.
func (a *fastAdjoint) rows(e *fastMember, post *fastReadout, net simd.Part, knots bool) []simd.Part {
	parts := append(a.transpose[:0], net)
	if e.terms == 0 {
		return parts
	}
	for k := range post.jacobians {
		basis := post.jacobians[k].basis
		if knots {
			basis = post.jacobians[k].knots
		}
		parts = append(parts, simd.Part{L: basis, X: a.powers[k*e.terms*simd.Width:], K: e.terms})
	}
	return parts
}

// addKnotAdjoints adds to dst what the knots contribute.
func (f *Fast) addKnotAdjoints(dst *Gradient) {
	a, in, P := &dst.fast, &f.plain.m.Inputs, f.plain.m.P
	if P == 0 {
		return
	}
	size := simd.Padded(f.c.knots) * simd.Width
	for lane := range f.g.points {
		from := a.knots[lane/simd.Width*size+lane%simd.Width:]
		for j := range in.Knots {
			for p := range a.lane {
				a.lane[p] = float64(from[(j*P+p)*simd.Width])
			}
			if !dst.addKnot(in, j, f.g.points[lane], a.lane) {
				break
			}
		}
	}
}
