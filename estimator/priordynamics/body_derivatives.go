package priordynamics

// linearised is how the kinematic relations of a step change with the state at its start
// and with the learned increment of rates and velocity.
type linearised struct {
	attitudeBy struct{ attitude, rates, endRates mat3 }
	positionBy struct{ attitude, velocity, endAttitude, endVelocity mat3 }
}

// linearise returns that at state x (K) with the whole increment d (K).
func (b *Body) linearise(x, d []float64, h float64) (l linearised) {
	half, a0 := 0.5*h, b.get(x, b.Attitude, signAttitude, b.Omega)
	if b.hasAttitude() {
		w0 := b.get(x, b.Rates, signRates, 1)
		f, e0, ja0 := attitudeRate(a0, w0)
		_, e1, ja1 := attitudeRate(a0.plus(h*b.Omega, f), w0.plus(1, b.get(d, b.Rates, signRates, 1)))
		by, on := &l.attitudeBy, ja1.times(h*b.Omega)
		by.attitude, by.rates = trapezoid(half*b.Omega, &ja0, &ja1, &on), trapezoid(half, &e0, &e1, &on)
		by.endRates = e1.times(half)
	}
	switch by := &l.positionBy; {
	case b.hasPosition() && b.InBody:
		v0 := b.get(x, b.Velocity, signVelocity, 1)
		_, r0, ja0 := worldVelocity(a0, v0)
		a1 := a0.plus(1, b.get(d, b.Attitude, signAttitude, b.Omega))
		_, r1, ja1 := worldVelocity(a1, v0.plus(1, b.get(d, b.Velocity, signVelocity, 1)))
		by.attitude, by.endAttitude = ja0.plus(1, ja1).times(half*b.Omega), ja1.times(half*b.Omega)
		by.velocity, by.endVelocity = r0.plus(1, r1).times(half), r1.times(half)
	case b.hasPosition():
		one := mat3{{1}, {0, 1}, {0, 0, 1}}
		by.velocity, by.endVelocity = one.times(h), one.times(half)
	}
	return l
}

// JVP makes dd (K), the derivative of the learned increment along the direction dx (K)
// of state x (K), that of the whole increment d (K).
func (b *Body) JVP(dd, dx, x, d []float64, h float64) {
	l := b.linearise(x, d, h)
	b.tangent(&l, dd, dx)
}

// tangent is JVP at what was linearised.
func (b *Body) tangent(l *linearised, dd, dx []float64) {
	if b.Empty() {
		return
	}
	a, w, v := b.get(dx, b.Attitude, signAttitude, 1), b.get(dx, b.Rates, signRates, 1), b.get(dx, b.Velocity, signVelocity, 1)
	by := &l.attitudeBy
	end := by.endRates.mul(b.get(dd, b.Rates, signRates, 1))
	b.add(dd, b.Attitude, signAttitude, 1, by.attitude.mul(a).plus(1, by.rates.mul(w)).plus(1, end))
	if on := &l.positionBy; b.hasPosition() {
		position := on.velocity.mul(v).plus(1, on.endVelocity.mul(b.get(dd, b.Velocity, signVelocity, 1)))
		position = position.plus(1, on.attitude.mul(a)).plus(1, on.endAttitude.mul(b.get(dd, b.Attitude, signAttitude, 1)))
		b.add(dd, b.Position, signPosition, 1, position)
	}
}

// Jacobian makes g, the derivatives of the learned increment by the states x (K, those by
// state c at c·K …), those of the whole increment d (K).
func (b *Body) Jacobian(g, x, d []float64, h float64) {
	l := b.linearise(x, d, h)
	if b.hasAttitude() {
		attitude, rates := group{b.Attitude, b.Sign[signAttitude:]}, group{b.Rates, b.Sign[signRates:]}
		attitude.addFrom(g, len(x), rates, &l.attitudeBy.endRates)
		attitude.addBy(g, len(x), attitude, &l.attitudeBy.attitude)
		attitude.addBy(g, len(x), rates, &l.attitudeBy.rates)
	}
	if !b.hasPosition() {
		return
	}
	position, velocity := group{b.Position, b.Sign[signPosition:]}, group{b.Velocity, b.Sign[signVelocity:]}
	position.addFrom(g, len(x), velocity, &l.positionBy.endVelocity)
	position.addBy(g, len(x), velocity, &l.positionBy.velocity)
	if b.InBody {
		attitude := group{b.Attitude, b.Sign[signAttitude:]}
		position.addFrom(g, len(x), attitude, &l.positionBy.endAttitude)
		position.addBy(g, len(x), attitude, &l.positionBy.attitude)
	}
}

// group is three states and their signs.
type group struct {
	of   []int
	sign []float64
}

// addBy adds to the derivatives of a group by another one, in g, the matrix m.
func (to group) addBy(g []float64, K int, by group, m *mat3) {
	for j, c := range by.of {
		for i, k := range to.of {
			g[c*K+k] += to.sign[i] * m[i][j] * by.sign[j]
		}
	}
}

// addFrom adds to the derivatives of a group by every state, in g, those of another one
// times m.
func (to group) addFrom(g []float64, K int, from group, m *mat3) {
	signed := *m
	for i := range signed {
		for j := range signed[i] {
			signed[i][j] *= to.sign[i] * from.sign[j]
		}
	}
	t0, t1, t2, f0, f1, f2 := to.of[0], to.of[1], to.of[2], from.of[0], from.of[1], from.of[2]
	for ; len(g) > 0; g = g[K:] {
		row := g[:K]
		u, v, w := row[f0], row[f1], row[f2]
		row[t0] += signed[0][0]*u + signed[0][1]*v + signed[0][2]*w
		row[t1] += signed[1][0]*u + signed[1][1]*v + signed[1][2]*w
		row[t2] += signed[2][0]*u + signed[2][1]*v + signed[2][2]*w
	}
}

// Adjoint makes dbar (K), the adjoint of the whole increment d (K) of state x (K), that
// of the learned one, and adds the adjoint of the state by the kinematic relations to
// xbar (K).
func (b *Body) Adjoint(xbar, dbar, x, d []float64, h float64) {
	a0 := b.get(x, b.Attitude, signAttitude, b.Omega)
	if b.hasPosition() {
		g := b.get(dbar, b.Position, signPosition, 0.5*h)
		g0, g1 := g, g
		if b.InBody {
			v0 := b.get(x, b.Velocity, signVelocity, 1)
			v1 := v0.plus(1, b.get(d, b.Velocity, signVelocity, 1))
			a1 := a0.plus(1, b.get(d, b.Attitude, signAttitude, b.Omega))
			_, r, ja := worldVelocity(a0, v0)
			b.add(xbar, b.Attitude, signAttitude, b.Omega, ja.tmul(g))
			g0 = r.tmul(g)
			_, r, ja = worldVelocity(a1, v1)
			b.add(xbar, b.Attitude, signAttitude, b.Omega, ja.tmul(g))
			b.add(dbar, b.Attitude, signAttitude, b.Omega, ja.tmul(g))
			g1 = r.tmul(g)
		}
		b.add(xbar, b.Velocity, signVelocity, 1, g0.plus(1, g1))
		b.add(dbar, b.Velocity, signVelocity, 1, g1)
	}
	if !b.hasAttitude() {
		return
	}
	w0 := b.get(x, b.Rates, signRates, 1)
	w1 := w0.plus(1, b.get(d, b.Rates, signRates, 1))
	f, e0, ja0 := attitudeRate(a0, w0)
	_, e1, ja1 := attitudeRate(a0.plus(h*b.Omega, f), w1)
	g := b.get(dbar, b.Attitude, signAttitude, 0.5*h)
	back := ja1.tmul(g) // of the attitude at the end
	gf := g.plus(h*b.Omega, back)
	b.add(xbar, b.Attitude, signAttitude, b.Omega, back.plus(1, ja0.tmul(gf)))
	end := e1.tmul(g)
	b.add(xbar, b.Rates, signRates, 1, e0.tmul(gf).plus(1, end))
	b.add(dbar, b.Rates, signRates, 1, end)
}
