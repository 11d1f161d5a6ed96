package estimator

// Means is Predict without variances: it does not write Std, ObsStd, RMSRatio, Half50, Jacobian and derivatives.
// Mean is bit for bit that of Predict. OOD does not include the posterior's variance, so it is at most that of
// Predict.
func (f *Fast) Means(dst *Prediction, q *Query) (ok bool) {
	p := f.plain
	if !p.accepts(dst, q) {
		return false
	}
	dst.Readout = p.signal(q)
	p.ratio = 0
	if f.c == nil {
		return p.means(dst, q)
	}
	f.jacobian = false
	f.start(dst, q)
	for i := range f.c.members {
		e := &f.c.members[i]
		f.evaluate(e, e.readout(dst.Readout), &f.g.places, f.w.means[i], asked{})
	}
	p.score(dst)
	return f.finishMeans(dst, q)
}

// finishMeans is finish without variances.
func (f *Fast) finishMeans(dst *Prediction, q *Query) (ok bool) {
	g, m := f.g, f.plain.m
	K, n := m.K, len(g.times)
	members, part, origin := f.w.means[:len(f.c.members)], &g.parts[dst.condition()], m.Origin
	if m.Displacement {
		origin = q.X0
	}
	ok = true
	for k := range K {
		for lane, i := range g.order[:len(g.points)] {
			j, mean := k*n+lane, 0.0
			for _, e := range members {
				mean += float64(e[j])
			}
			mean *= f.c.perMember
			v := origin[k] + f.w.prior.displacement[lane*K+k] + part.networkWeight[j]*mean
			dst.Mean[i*K+k] = v
			ok = ok && finite(v)
		}
	}
	return ok && finite(dst.OOD)
}

// means is Means, for an accepted query whose signal is set.
func (p *Predictor) means(dst *Prediction, q *Query) (ok bool) {
	p.fill(dst, q)
	zero(p.sum)
	for i := range p.members {
		p.evaluate(&p.members[i], dst.Readout, false, false)
		for j, v := range p.mean {
			p.sum[j] += v
		}
	}
	p.score(dst)
	K, n, weight := p.m.K, float64(len(p.members)), p.networkWeight[dst.condition()].value
	origin := p.m.Origin
	if p.m.Displacement {
		origin = q.X0
	}
	ok = finite(dst.OOD)
	for j, sum := range p.sum {
		k := j % K
		dst.Mean[j] = origin[k] + p.m.Scale[k]*(p.displacement[j]+weight[j]*(sum/n))
		ok = ok && finite(dst.Mean[j])
	}
	return ok
}
