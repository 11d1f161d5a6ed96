package dynamics

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// ensemble is the posterior of the members, output units.
type ensemble struct {
	mean     program.Reg // K×T
	variance program.Reg // K×T, of members and refits, with the spread of the means
	noise    []float64   // K×T: σ², the mean over members
	ratio    program.Reg // 1×1: posterior over prior variance at the last time, mean over members and channels
}

// member is the posterior of one member.
type member struct{ mean, variance, ratio program.Reg }

// ensemble appends the members: means are averaged, spread is added; refits only add to the variance.
//
//	mean = avg mean_e      var = avg v_e + avg (mean_e − mean)²      var ← max(var, avg_b (m_b − mean)²)
func (c *compiler) ensemble() ensemble {
	m, K, T := c.m, c.m.K, c.T()
	r := c.rows()
	var means, refits []program.Reg
	var average, variances, ratios []weighted
	out := ensemble{noise: make([]float64, K*T)}
	giving := 0.0
	for i := range m.Members {
		if m.Members[i].GivesVariance() {
			giving++
		}
	}
	n := float64(len(m.Members))
	for i := range m.Members {
		e := &m.Members[i]
		post := e.At(c.s.Condition.Readout())
		at := c.member(&e.Map, post, r, e.GivesVariance())
		means, average = append(means, at.mean), append(average, weighted{at.mean, 1 / n})
		if e.GivesVariance() {
			variances, ratios = append(variances, weighted{at.variance, 1 / giving}), append(ratios, weighted{at.ratio, 1 / (giving * float64(K))})
		}
		for j, v := range c.table(post.LogSigma, c.times) {
			out.noise[j] += math.Exp(2*v) / n
		}
	}
	out.mean = c.sum(K, nil, average...)
	if len(means) > 1 {
		variances = append(variances, weighted{c.meanSquare(means, out.mean), 1})
	}
	out.variance, out.ratio = c.sum(K, nil, variances...), c.sum(1, nil, ratios...)
	for i := range m.Refits {
		e := &m.Refits[i]
		refits = append(refits, c.member(&e.Map, e.At(c.s.Condition.Readout()), r, false).mean)
	}
	if len(refits) > 0 {
		out.variance = c.most(out.variance, c.meanSquare(refits, out.mean))
	}
	return out
}

// rows are the inputs of the nets: standardised time, lifted start, knots.
type rows struct {
	tau   program.Reg // 1×T
	start program.Reg // L×1; None without coordinates
	knots program.Reg // J·P×T; None without inputs
}

func (c *compiler) rows() rows {
	in := &c.m.Inputs
	tau := make([]float64, c.T())
	for i, t := range c.times {
		tau[i] = in.Standard(t)
	}
	r := rows{c.Constant(1, c.T(), tau), program.None, program.None}
	if in.Lift.Dim() > 0 {
		r.start = lift(c.Program, &in.Lift, c.x)
	}
	if c.m.P == 0 || in.Knots == 0 {
		return r
	}
	var all []program.Reg
	for j := range in.Knots {
		var spans []span
		for _, t := range c.times {
			from, to, length := in.Block(j, t)
			at := span{from, to, (to - from) / length}
			if to <= from {
				at.Factor = 0
			}
			spans = append(spans, at)
		}
		all = append(all, c.input.standardised(spans, in.InputMean, in.InputStd))
	}
	r.knots = c.Stack(all...)
	return r
}

// parts returns those of a matrix (n × (1+L+J·P)) for a row [1 or τ', start, knots]; without time its first column is
// not there.
func (c *compiler) parts(r rows, n, width int, time bool, at func(row, column int) float64) (parts []program.Part) {
	add := func(x program.Reg, first int) int {
		if x == program.None {
			return first
		}
		cols := c.Rows(x)
		m := make([]float64, n*cols)
		for i := range n {
			for j := range cols {
				m[i*cols+j] = at(i, first+j)
			}
		}
		parts = append(parts, program.Part{X: x, M: m})
		return first + cols
	}
	if time {
		add(r.tau, 0)
	}
	if end := add(r.knots, add(r.start, 1)); end != width {
		panic("dynamics: a row of another width")
	}
	return parts
}

// member appends mean and variance of one member:
//
//	mean = γ (net + φ·w)      v = γ² ‖L⁻¹φ‖²      φ = [e^a1 rff(z); e^a2 b]      b = [1, s, τ', τ's, …]
func (c *compiler) member(e *feature.Map, post *model.Posterior, r rows, variance bool) member {
	K, T := c.m.K, c.T()
	gate := same(T, 1)
	if e.Gated {
		for i, t := range c.times {
			gate[i] = t / c.m.Horizon
		}
	}
	first := &e.Core.Layers[0]
	h := activate(c.Program, first.Act, c.Affine(first.Out, first.B, c.parts(r, first.Out, e.Inputs(), true, func(row, column int) float64 { return first.W[column*first.Out+row] })...))
	h = net(c.Program, e.Core.Layers[1:], h)
	h = net(c.Program, e.Head.Layers[:len(e.Head.Layers)-1], h)
	last := &e.Head.Layers[len(e.Head.Layers)-1]
	if post.Exact != nil || last.Act != 0 {
		return c.exact(e, post, r, activate(c.Program, last.Act, c.Affine(last.Out, last.B, program.Part{X: h, M: columnsOf(last, 0, last.In)})), gate, variance)
	}
	out := member{variance: program.None, ratio: program.None}
	random := c.randomFeatures(e, h)
	out.mean = c.gated(c.memberMean(e, post, r, h, random), gate)
	if !variance {
		return out
	}
	var variances, ratios []program.Reg
	for k := range K {
		v := c.channelVariance(e, post, r, random[k], k)
		variances = append(variances, v)
		ratios = append(ratios, c.ratioAt(v, c.priorVariance(e, r, k)))
	}
	squares := make([]float64, T)
	for i, g := range gate {
		squares[i] = g * g
	}
	out.variance, out.ratio = c.gated(c.Stack(variances...), squares), c.total(c.Stack(ratios...))
	return out
}

// randomFeatures appends cosines and sines of Ωz of every channel, F×T each; None without.
func (c *compiler) randomFeatures(e *feature.Map, h program.Reg) []program.Reg {
	K, D, half := e.K, e.D, e.F/2
	out := make([]program.Reg, K)
	last := &e.Head.Layers[len(e.Head.Layers)-1]
	z := c.Affine(K*D, last.B[K:], program.Part{X: h, M: rowsOfLayer(last.W, last.In, last.Out, K, K*D)})
	for k := range out {
		if out[k] = program.None; half == 0 {
			continue
		}
		places := make([]int, D)
		for d := range places {
			places[d] = k*D + d
		}
		out[k] = c.SinCos(c.Affine(half, nil, program.Part{X: c.Some(z, places...), M: e.Omega}))
	}
	return out
}

// rowsOfLayer returns n outputs of a layer's weights, from the first on: n×in.
func rowsOfLayer(w []float64, in, out, first, n int) []float64 {
	m := make([]float64, n*in)
	for r := range n {
		for i := range in {
			m[r*in+i] = w[i*out+first+r]
		}
	}
	return m
}

// amplitudes returns those of the random features, with √(2/F), and of the basis, of channel k.
func amplitudes(e *feature.Map, k int) (trig, basis float64) {
	return math.Sqrt(2/float64(max(e.F, 1))) * math.Exp(e.LogAmp[2*k]), math.Exp(e.LogAmp[2*k+1])
}

// memberMean appends the mean without its gate, K×T.
func (c *compiler) memberMean(e *feature.Map, post *model.Posterior, r rows, h program.Reg, random []program.Reg) program.Reg {
	K, F, I := c.m.K, e.F, e.Inputs()
	last := &e.Head.Layers[len(e.Head.Layers)-1]
	weight := func(term int) func(k, column int) float64 {
		return func(k, column int) float64 {
			_, amp := amplitudes(e, k)
			return amp * post.Weights[k][F+term*I+column]
		}
	}
	constant := append([]float64(nil), last.B[:K]...)
	parts := []program.Part{{X: h, M: rowsOfLayer(last.W, last.In, last.Out, 0, K)}}
	if e.Basis.Terms > 0 {
		for k := range K {
			constant[k] += weight(0)(k, 0)
		}
		parts = append(parts, c.parts(r, K, I, false, weight(0))...)
	}
	for term := 1; term < e.Basis.Terms; term++ {
		parts = append(parts, program.Part{X: c.basis(r, term, K, I, weight(term)), M: identity(K)})
	}
	for k := range K {
		if random[k] == program.None {
			continue
		}
		amp, _ := amplitudes(e, k)
		m := make([]float64, K*F)
		for j, w := range post.Weights[k][:F] {
			m[k*F+j] = amp * w
		}
		parts = append(parts, program.Part{X: c.one(random[k], m[k*F:(k+1)*F]), M: unit(K, k)})
	}
	return c.Affine(K, constant, parts...)
}

// basis appends τ'^term times a linear map of the row [1, start, knots], n×T.
func (c *compiler) basis(r rows, term, n, width int, at func(row, column int) float64) program.Reg {
	constant := make([]float64, n)
	for i := range constant {
		constant[i] = at(i, 0)
	}
	powers := make([]float64, c.T())
	for i, t := range c.times {
		powers[i] = math.Pow(c.m.Inputs.Standard(t), float64(term))
	}
	parts := c.parts(r, n, width, false, at)
	if len(parts) == 0 {
		parts = []program.Part{{X: c.x, M: make([]float64, n*c.m.K)}}
	}
	return c.gated(c.Affine(n, constant, parts...), powers)
}

// channelVariance appends ‖L⁻¹φ‖² of a channel without its gate, 1×T.
func (c *compiler) channelVariance(e *feature.Map, post *model.Posterior, r rows, random program.Reg, k int) program.Reg {
	F, I, terms := e.F, e.Inputs(), e.Basis.Terms
	n := F + terms*I
	trig, basis := amplitudes(e, k)
	at := func(row, column int) float64 {
		if column > row {
			return 0
		}
		return post.InverseFactor[k][row*(row+1)/2+column]
	}
	squares := func(from, to int) program.Reg {
		rows := to - from
		var parts []program.Part
		if random != program.None {
			m := make([]float64, rows*F)
			for i := range rows {
				for j := range F {
					m[i*F+j] = trig * at(from+i, j)
				}
			}
			parts = append(parts, program.Part{X: random, M: m, Lower: from == 0 && rows == F})
		}
		constant := make([]float64, rows)
		for term := 0; term < terms && to > F; term++ {
			weight := func(row, column int) float64 { return basis * at(from+row, F+term*I+column) }
			if term == 0 {
				for i := range rows {
					constant[i] = weight(i, 0)
				}
				parts = append(parts, c.parts(r, rows, I, false, weight)...)
				continue
			}
			parts = append(parts, program.Part{X: c.basis(r, term, rows, I, weight), M: identity(rows)})
		}
		if len(parts) == 0 {
			parts = []program.Part{{X: r.tau, M: make([]float64, rows)}}
		}
		return c.Function(program.Square, c.Affine(rows, constant, parts...))
	}
	var parts []program.Part
	if F > 0 {
		parts = append(parts, program.Part{X: squares(0, F), M: same(F, 1)})
	}
	if n > F {
		parts = append(parts, program.Part{X: squares(F, n), M: same(n-F, 1)})
	}
	return c.Affine(1, nil, parts...)
}

// priorVariance appends ‖φ‖² without its gate at the last time, 1×1.
func (c *compiler) priorVariance(e *feature.Map, r rows, k int) program.Reg {
	trig, basis := amplitudes(e, k)
	constant := trig * trig * float64(e.F) / 2
	sum, tau := 0.0, c.m.Inputs.Standard(c.times[c.T()-1])
	for term := range e.Basis.Terms {
		sum += math.Pow(tau, float64(2*term))
	}
	sum *= basis * basis
	parts := []program.Part{{X: c.x, M: make([]float64, c.m.K)}}
	for _, x := range []program.Reg{r.start, r.knots} {
		if x != program.None {
			parts = append(parts, program.Part{X: c.Function(program.Square, c.lastColumn(x)), M: same(c.Rows(x), sum)})
		}
	}
	return c.Affine(1, []float64{constant + sum}, parts...)
}
