package direct

import "github.com/tphakala/simd/f64"

// Adjoint adds the gradient of Σ bars·displacement at t of the last Run by the start state to
// xbar (K); bars has K numbers. That by the mean input (P) from one time to another, or by the
// input at that time where both are the same, is passed to input.
func (d *Map) Adjoint(xbar, bars []float64, t float64, input func(bar []float64, from, to float64)) {
	m, l, K := d.m, d.level, len(bars)
	C := m.Columns(l)
	d.plan(t, false)
	bar := d.tangent[:C]
	clear(bar)
	i, share, _ := l.between(t)
	for k, b := range bars {
		f64.AddScaled(bar, (1-share)*t*b, l.row(i, k, K, C))
		if share > 0 {
			f64.AddScaled(bar, share*t*b, l.row(i+1, k, K, C))
		}
	}
	if l.Degree == 2 {
		linear, at := d.productBase()
		addProductAdjoint(bar[1:1+len(linear)], bar[at:], linear)
	}
	for k, v := range m.Derivative {
		if v >= 0 {
			xbar[v] += t * bars[k]
		}
	}
	L := m.Lift.Dim()
	d.startAdjoint(xbar, bar[1:1+L+len(m.UMean)], bar[1+m.linear(l):], input)
	d.planAdjoint(bar[1+L+len(m.UMean):1+m.linear(l)], t, input)
}

// addProductAdjoint adds the adjoints of the products of columns, by rows of the upper
// triangle, to those of the columns.
func addProductAdjoint(bar, products, columns []float64) {
	at := 0
	for i, a := range columns {
		for j := i; j < len(columns); j++ {
			bar[i] += products[at] * columns[j]
			bar[j] += products[at] * a
			at++
		}
	}
}

// startAdjoint adds the adjoints of the columns of the start (L+P) and of those of the history
// to xbar (K) and passes those of the input at the start to input. It overwrites start.
func (d *Map) startAdjoint(xbar, start, history []float64, input func(bar []float64, from, to float64)) {
	m, K, P := d.m, len(xbar), len(d.m.UMean)
	for i, of := range m.Lift.Of {
		xbar[of] += start[i] * d.slope[i]
	}
	for range d.level.Rows {
		f64.Sub(xbar, xbar, history[:K])
		history = history[K+P:]
	}
	if P == 0 {
		return
	}
	bar := start[m.Lift.Dim():]
	f64.Div(bar, bar, m.UStd)
	input(bar, 0, 0)
}

// planAdjoint passes the adjoints of the columns of the plan at t to input. It overwrites them.
func (d *Map) planAdjoint(plan []float64, t float64, input func(bar []float64, from, to float64)) {
	m, P := d.m, len(d.m.UMean)
	for b := range len(plan) / max(P, 1) {
		bar := plan[b*P : (b+1)*P]
		f64.Div(bar, bar, m.UStd)
		input(bar, t*float64(b)/float64(m.Blocks), t*float64(b+1)/float64(m.Blocks))
	}
}

// BatchedAdjoint is the memory for gradients of a Batched.
type BatchedAdjoint struct {
	b     *Batched
	sums  []float64 // T×(1+plan)×K of the largest level: by what of G depends on the start
	fixed []float64 // of all fixed columns
	plan  []float64 // by the plan's columns of one time
	part  []float64 // T·plan·K, of sums
}

// NewBatchedAdjoint takes the memory for gradients of b.
func NewBatchedAdjoint(b *Batched) *BatchedAdjoint {
	a := &BatchedAdjoint{b: b}
	sums, fixed, plan, part := 0, 0, 0, 0
	for _, l := range b.levels {
		sums, plan, fixed, part = max(sums, l.T*(1+l.plan)*l.K), max(plan, l.plan), max(fixed, l.rows(l.fixed)), max(part, len(l.own))
	}
	a.sums, a.fixed, a.plan, a.part = make([]float64, sums), make([]float64, fixed), make([]float64, plan), make([]float64, part)
	return a
}

// Run adds the gradient of Σ bars·displacement of the last Evaluate at all times by the start
// state to xbar (K), and passes that by the input to input, see Map.Adjoint. Bars are N×K.
func (a *BatchedAdjoint) Run(xbar, bars []float64, input func(bar []float64, from, to float64)) {
	a.b.Linearise()
	d, l := a.b.d, a.b.level()
	K, W := l.K, (1+l.plan)*l.K
	sums := a.sums[:l.T*W]
	clear(sums)
	for i, t := range a.b.times {
		row, columns := bars[i*K:(i+1)*K], l.columns[i*l.V:i*l.V+1+l.plan]
		for k, v := range d.m.Derivative {
			if v >= 0 {
				xbar[v] += t * row[k]
			}
		}
		if len(l.mixed) == 0 {
			columns = columns[:1]
		}
		at, share := l.at[i], l.share[i]
		for c, v := range columns {
			f64.AddScaled(sums[at*W+c*K:at*W+(c+1)*K], t*(1-share)*v, row)
			if share > 0 {
				f64.AddScaled(sums[(at+1)*W+c*K:(at+1)*W+(c+1)*K], t*share*v, row)
			}
		}
		plan, by := a.plan[:l.plan], a.b.byInput[i*l.inputs():]
		for c := range plan {
			plan[c] = t * f64.DotProduct(by[c*K:(c+1)*K], row)
		}
		d.planAdjoint(plan, t, input)
	}
	a.runStart(xbar, l, sums, input)
}

// runStart adds what the columns of start and history contribute, from the adjoints of G.
func (a *BatchedAdjoint) runStart(xbar []float64, l *batchedLevel, sums []float64, input func(bar []float64, from, to float64)) {
	d, K := a.b.d, l.K
	TK, n := l.T*K, l.plan*K
	// The constants' part of G, T·K, behind those of the plan, T·plan·K.
	for j := range l.T {
		copy(a.part[j*n:(j+1)*n], sums[j*(n+K)+K:])
		copy(sums[j*K:(j+1)*K], sums[j*(n+K):])
	}
	sums = sums[:TK]
	fixed := a.fixed[:l.rows(l.fixed)]
	for c := range fixed {
		fixed[c] = f64.DotProduct(l.fixed[c*TK:(c+1)*TK], sums)
	}
	start := fixed[1 : 1+l.starts]
	columns := d.column[1 : 1+l.starts]
	history := fixed[1+l.starts:]
	if l.Degree == 2 {
		addProductAdjoint(start, history[l.Rows*(K+len(d.m.UMean)):], columns)
	}
	if len(l.mixed) > 0 {
		for c := range start {
			start[c] += f64.DotProduct(l.mixed[c*l.T*n:(c+1)*l.T*n], a.part[:l.T*n])
		}
	}
	d.startAdjoint(xbar, start, history, input)
}
