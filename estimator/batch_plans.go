package estimator

import (
	"github.com/tphakala/simd/f32"

	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/panelnet"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// planBlock predicts the means of sixteen plans from one start at once, in single precision:
// what depends on the start alone is set once, what is linear in a plan is one product for all
// of them. The formulas are those of Fast.Means.
type planBlock struct {
	f          *Fast
	plan       feature.Plan // rows and step
	plans      *priordynamics.Plans
	condition  model.Condition
	times      []blockTime // in order of time
	components []blockComponent
	members    []blockMember
	size       int // numbers of K states, filled up to whole panels, under sixteen plans

	knots      [][]float32 // by power of τ': [J·P, padded][Width], times it
	x          [2][]float32
	z          []float32
	mean       []float32              // [K, padded][Width]: sum over members
	one        []float32              // the same of one
	displaced  []float32              // the same of the prior dynamics
	difference []float32              // of a component and the first
	fades      [][]float32            // of each component: [Width]
	ranges     [][]float32            // of each time: [Width], direct.RangeFactor; none if no component fades by them
	leverages  *direct.StartLeverages // nil = no component fades with a leverage
	parts      []simd.Part
}

// blockTime is what a time has of its own.
type blockTime struct {
	knots  priordynamics.PlanMatrix
	active int       // rows of knots whose block of time has begun
	powers []float32 // [power][Width] of τ'
}

// blockMember is what the start makes of a member.
type blockMember struct {
	e     *fastMember
	first []float32 // panels, first layer: the constant and the column of τ'
	means []float32 // panels, K × terms
}

// blockComponent is a component of the prior dynamics.
type blockComponent struct {
	rollouts []*priordynamics.PlanRollout
	velocity *velocity
	direct   *blockDirect
	moved    []float32 // [time][K, padded][Width]
}

// blockDirect is a direct map.
type blockDirect struct {
	d       *direct.Map
	inputs  []priordynamics.PlanMatrix // of each time: the input at the start and the columns of the plan
	table   []float64                  // T×V×K of the largest level
	panels  []float32                  // of each time of the level: panels K×V of the table
	weights []float32                  // of each time: the same of the displacements
	columns []float32                  // [V, padded][Width]
}

// newPlanBlock takes the memory for plans of so many rows of a step, s.
func newPlanBlock(f *Fast, rows int, step float64) *planBlock {
	m, c, in := f.plain.m, f.c, &f.plain.m.Inputs
	K, P, size := m.K, m.P, simd.Padded(m.K)*simd.Width
	b := &planBlock{f: f, plan: feature.Plan{Values: make([]float64, rows*P), P: P, Step: step}, size: size, parts: make([]simd.Part, 0, 3+c.powers)}
	b.plans = priordynamics.NewPlans(rows, in.InputMean, in.InputStd, func(row int, from, to float64) float64 {
		if to > from {
			return b.plan.Share(row, from, to)
		}
		var held [1]float64
		(&feature.PlanRow{Plan: &feature.Plan{Values: b.plan.Values[:rows], P: 1, Step: step}, Row: row}).At(held[:], from)
		return held[0]
	})
	for _, t := range f.g.points {
		b.times = append(b.times, b.timeAt(t))
	}
	for _, part := range f.w.prior.prior.components {
		b.components = append(b.components, b.component(part))
		b.fades = append(b.fades, make([]float32, simd.Width))
	}
	widest, z := simd.Padded(c.knots), 0
	for i := range c.members {
		e := &c.members[i]
		b.members = append(b.members, blockMember{e, make([]float32, 2*simd.Padded(e.first.layer.Out)), make([]float32, simd.Padded(K)*max(e.terms, 1))})
		widest, z = max(widest, simd.Padded(e.first.layer.Out)), max(z, simd.Padded(K*e.e.Map.D))
		for l := range e.hidden {
			widest = max(widest, simd.Padded(e.hidden[l].Out))
		}
	}
	if fade := &f.plain.prior.fade; fade.direct != nil && fade.fades {
		b.leverages = direct.NewStartLeverages(fade.direct)
		for range b.times {
			if fade.ranged() {
				b.ranges = append(b.ranges, make([]float32, simd.Width))
			}
		}
	}
	for range c.powers {
		b.knots = append(b.knots, make([]float32, widest*simd.Width))
	}
	b.x, b.z = [2][]float32{make([]float32, widest*simd.Width), make([]float32, widest*simd.Width)}, make([]float32, z*simd.Width)
	for _, v := range []*[]float32{&b.mean, &b.one, &b.displaced, &b.difference} {
		*v = make([]float32, size)
	}
	return b
}

// timeAt returns what is of a time.
func (b *planBlock) timeAt(t float64) (at blockTime) {
	in, P := &b.f.plain.m.Inputs, b.f.plain.m.P
	var spans []priordynamics.Span
	for j := range in.Knots {
		if from, to, length := in.Block(j, t); to > from {
			spans = append(spans, priordynamics.Span{From: from, To: to, Factor: (to - from) / length})
		}
	}
	at.active = len(spans) * P
	at.knots = b.plans.Means(0, in.InputMean, in.InputStd, spans...)
	for power, tau := 0, 1.0; power < b.f.c.powers; power, tau = power+1, tau*in.Standard(t) {
		for range simd.Width {
			at.powers = append(at.powers, simd.Single(tau))
		}
	}
	return at
}

// component takes the memory of a component.
func (b *planBlock) component(c component) (out blockComponent) {
	m, times := b.f.plain.m, b.f.g.points
	out.moved = make([]float32, len(times)*b.size)
	switch c := c.(type) {
	case *equation:
		for _, r := range c.members {
			out.rollouts = append(out.rollouts, priordynamics.NewPlanRollout(r.Model(), m.K, m.Horizon, times, b.plans, b.f.c.unit))
		}
	case *velocity:
		out.velocity = c
	case directMap:
		out.direct = b.direct(c.Map)
	}
	return out
}

// direct takes the memory of a direct map.
func (b *planBlock) direct(d *direct.Map) *blockDirect {
	m, K, out := d.Model(), b.f.plain.m.K, &blockDirect{d: d}
	columns, table, levels := 0, 0, 0
	for i := range m.Levels {
		l := &m.Levels[i]
		if l.Readout == int(Plan) {
			n, _ := m.PlanColumns(l)
			columns, table, levels = max(columns, n), max(table, n*K*len(l.Times)), max(levels, n*len(l.Times))
		}
	}
	for _, t := range b.f.g.points {
		spans := []priordynamics.Span{{Factor: 1}}
		for part := range m.Blocks {
			spans = append(spans, priordynamics.Span{From: t * float64(part) / float64(m.Blocks), To: t * float64(part+1) / float64(m.Blocks), Factor: 1})
		}
		out.inputs = append(out.inputs, b.plans.Means(0, m.UMean, m.UStd, spans...))
	}
	out.table, out.panels = make([]float64, table), make([]float32, simd.Padded(K)*levels)
	out.weights = make([]float32, len(b.f.g.points)*simd.Padded(K)*columns)
	out.columns = make([]float32, (columns+simd.Rows)*simd.Width)
	for lane := range simd.Width {
		out.columns[lane] = 1
	}
	return out
}

// start sets what depends on the start of a query alone.
func (b *planBlock) start(q *Query) {
	f, p, w := b.f, b.f.plain, &b.f.w
	p.m.Inputs.Lift.Apply(p.x0, q.X0)
	w.fixed[0] = 1
	copy(w.fixed[1:], p.x0)
	p.ratio = 0
	readout := p.signal(q)
	p.prior.Start(q.X0, &p.plan, readout, q.History)
	b.condition = p.prior.Condition()
	if b.leverages != nil {
		b.leverages.Set()
	}
	for i := range b.members {
		b.members[i].start(f, readout)
	}
	for i := range b.components {
		c := &b.components[i]
		for _, r := range c.rollouts {
			r.Start(q.X0)
		}
		for j, t := range f.g.points {
			switch {
			case c.velocity != nil:
				for k, v := range c.velocity.v0 {
					row := c.moved[j*b.size+k*simd.Width:][:simd.Width]
					for lane := range row {
						row[lane] = simd.Single(v * t)
					}
				}
			case c.direct != nil && j == 0:
				c.direct.start(f.g.points, p.m.K)
			}
		}
	}
}

// start sets first and means.
func (m *blockMember) start(f *Fast, readout Readout) {
	w, e, post := &f.w, m.e, m.e.readout(readout)
	f.firstFixed(&e.first)
	w.packFirst(e.first.time)
	copy(m.first, w.firstPanels)
	f.basisFixed(e, post)
	copy(m.means, f.fixedMeans(e))
}

// start sets the weights of all times, seconds, of the displacements of K states.
func (b *blockDirect) start(times []float64, K int) {
	l, v0 := b.d.Level(), b.d.Speed()
	V, _ := b.d.Model().PlanColumns(l)
	b.d.PlanWeights(b.table)
	size := simd.Padded(K) * V
	for i := range l.Times {
		simd.Pack(b.panels[i*size:(i+1)*size], K, V, func(k, v int) float64 {
			if v == 0 {
				return b.table[i*V*K+k] + v0[k]
			}
			return b.table[(i*V+v)*K+k]
		})
	}
	for i, t := range times {
		at, share := l.Between(t)
		to := b.weights[i*size : (i+1)*size]
		f32.Scale(to, b.panels[at*size:(at+1)*size], simd.Single(t*(1-share)))
		if share > 0 {
			f32.AddScaled(to, simd.Single(t*share), b.panels[(at+1)*size:(at+2)*size])
		}
	}
}

// run predicts question first and the n-1 behind it, at most sixteen, and returns the place of
// the first whose answer is not finite; n = none.
func (b *planBlock) run(dst *Predictions, q *Questions, first, n int) (failed int) {
	f, p := b.f, b.f.plain
	for lane := range simd.Width {
		at := first + min(lane, n-1) // the last fills up
		query := q.At(at)
		b.plans.Set(lane, query.Plan)
		b.fade(&query, lane, dst, at)
	}
	for i := range b.components {
		if i == 0 || len(b.ranges) > 0 && b.components[i].direct != nil || f.w.prior.weights[i][b.condition] != nil {
			b.components[i].evaluate(b)
		}
	}
	weights, K, failed := f.g.parts[b.condition].networkWeight, p.m.K, n
	for i := range b.times {
		b.prior(i)
		b.ensemble(&b.times[i])
		for k := range K {
			row := b.displaced[k*simd.Width : (k+1)*simd.Width]
			f32.AddScaled(row, simd.Single(weights[k*len(f.g.times)+i]*f.c.perMember), b.mean[k*simd.Width:(k+1)*simd.Width])
			x0, size, at := q.States.X[k], len(p.times)*K, f.g.order[i]*K+k
			for lane, d := range row[:n] {
				v := x0 + float64(d)
				dst.Mean[(first+lane)*size+at] = v
				if !finite(v) {
					failed = min(failed, lane)
				}
			}
		}
	}
	return failed
}

// fade sets what fades of a plan, and its score where that is asked for.
func (b *planBlock) fade(q *Query, lane int, dst *Predictions, at int) {
	p := b.f.plain
	fade, d := &p.prior.fade, Prediction{Readout: p.signal(q)}
	if b.leverages != nil {
		fade.at(b.leverages.At(q.Plan[:p.m.P]))
	}
	for i, factor := range fade.factor {
		b.fades[i][lane] = simd.Single(factor)
	}
	if dst.NoHistory != nil {
		dst.NoHistory[at] = b.condition == Plan.Condition(true)
	}
	if dst.OOD != nil {
		if fade.direct != nil {
			fade.direct.Run(q.X0, &p.plan, int(d.Readout), q.History)
		}
		d.Leverage = fade.whole()
		p.score(&d)
		dst.OOD[at] = d.OOD
	}
}

// evaluate sets moved.
func (c *blockComponent) evaluate(b *planBlock) {
	switch {
	case c.rollouts != nil:
		clear(c.moved)
		for _, r := range c.rollouts {
			r.Add(c.moved, b.size, 1/float32(len(c.rollouts)))
		}
	case c.direct != nil:
		c.direct.evaluate(c.moved, b)
	}
}

// evaluate writes the displacements to dst.
func (d *blockDirect) evaluate(dst []float32, b *planBlock) {
	m, l, u := d.d.Model(), d.d.Level(), b.f.c.unit
	V, n := m.PlanColumns(l)
	panels := simd.Panels(b.f.plain.m.K)
	columns := d.columns[simd.Width:]
	for i := range d.inputs {
		u.Product(columns, simd.Panels(n), append(b.parts[:0], b.plans.Part(&d.inputs[i])))
		if len(b.ranges) > 0 && d.d == b.f.plain.prior.fade.direct {
			m.RangeFactors(b.ranges[i], columns[:n*simd.Width])
		}
		at := n * simd.Width
		for a := 0; a < n && l.Degree == 2; a++ {
			from := columns[a*simd.Width : n*simd.Width]
			to := columns[at : at+len(from)]
			clear(to)
			u.AddScaled(to, from, from)
			at += len(from)
		}
		u.Product(dst[i*b.size:], panels, append(b.parts[:0], simd.Part{L: d.weights[i*panels*simd.Rows*V:], X: d.columns, K: V}))
	}
}

// prior sets displaced at time i.
func (b *planBlock) prior(i int) {
	prior, K := &b.f.w.prior, b.f.plain.m.K
	if len(b.components) == 0 {
		clear(b.displaced)
		return
	}
	first := b.components[0].moved[i*b.size : (i+1)*b.size]
	copy(b.displaced, first)
	for c := 1; c < len(b.components); c++ {
		weights := prior.weights[c][b.condition]
		if weights == nil {
			continue
		}
		f32.Sub(b.difference, b.components[c].moved[i*b.size:(i+1)*b.size], first)
		for k, w := range weights[i*K : (i+1)*K] {
			row := b.difference[k*simd.Width : (k+1)*simd.Width]
			if fades(&prior.prior.spec.Stack[c]) {
				f32.Mul(row, row, b.fades[c])
				if len(b.ranges) > 0 {
					f32.Mul(row, row, b.ranges[i])
				}
			}
			f32.AddScaled(b.displaced[k*simd.Width:(k+1)*simd.Width], simd.Single(w), row)
		}
	}
}

// ensemble sets mean at a time.
func (b *planBlock) ensemble(t *blockTime) {
	c, u, K := b.f.c, b.f.c.unit, b.f.plain.m.K
	if t.active > 0 {
		u.Product(b.knots[0], simd.Panels(t.active), append(b.parts[:0], b.plans.Part(&t.knots)))
	}
	knots := t.active * simd.Width
	for power := 1; power < c.powers; power++ {
		f32.Scale(b.knots[power][:knots], b.knots[0][:knots], t.powers[power*simd.Width])
	}
	clear(b.mean)
	for i := range b.members {
		m := &b.members[i]
		e := m.e
		post := e.readout(Plan)
		parts := b.varying(append(b.parts[:0], simd.Part{L: m.first, X: t.powers, K: 2}), e.first.varying, 0, t)
		x, y := b.x[0], b.x[1]
		width := e.first.layer.Out
		u.Product(x, simd.Panels(width), parts)
		panelnet.Activate(u, e.first.layer.Act, x[:simd.Padded(width)*simd.Width])
		for l := range e.hidden {
			e.hidden[l].Forward(u, b.parts, t.powers, x, y)
			x, y = y, x
		}
		parts = append(b.parts[:0], simd.Part{L: m.means, X: t.powers, K: max(e.terms, 1)}, simd.Part{L: e.mu.W, X: x, K: e.mu.In})
		for term, v := range post.varying {
			parts = b.varying(parts, v, term, t)
		}
		u.Product(b.one, simd.Panels(K), parts)
		f32.Add(b.mean, b.mean, b.one)
		e.z.Forward(u, b.parts, t.powers, x, b.z)
		D := e.e.Map.D
		for k := range K {
			u.RandomMeans(b.mean[k*simd.Width:(k+1)*simd.Width], e.omega, post.features[k], post.cosines[k], b.z[k*D*simd.Width:], D)
		}
	}
}

// varying adds the product of a panel matrix, Out × knots, with the knots times a power of τ'.
func (b *planBlock) varying(parts []simd.Part, panels []float32, power int, t *blockTime) []simd.Part {
	if t.active == 0 {
		return parts
	}
	return append(parts, simd.Part{L: panels, X: b.knots[power], K: t.active, Skip: (b.f.c.knots - t.active) * simd.Rows})
}
