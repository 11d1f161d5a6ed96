package dynamics

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
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
		var spans []Span
		for _, t := range c.times {
			from, to, length := in.Block(j, t)
			at := Span{from, to, (to - from) / length}
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

// parts returns those of a matrix, n × (1+L+J·P), for rows [τ', start, knots].
func (c *compiler) parts(r rows, n int, at func(row, column int) float64) (parts []program.Part) {
	first := 0
	for _, x := range []program.Reg{r.tau, r.start, r.knots} {
		if x == program.None {
			continue
		}
		cols := c.Rows(x)
		m := make([]float64, n*cols)
		for i := range n {
			for j := range cols {
				m[i*cols+j] = at(i, first+j)
			}
		}
		parts, first = append(parts, program.Part{X: x, M: m}), first+cols
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
	if last := &e.Head.Layers[len(e.Head.Layers)-1]; post.Exact != nil || last.Act != mlp.Linear {
		head := activate(c.Program, last.Act, c.Affine(last.Out, last.B, program.Part{X: c.core(e, r), M: columnsOf(last, 0, last.In)}))
		return c.exact(e, post, c.basisRows(r, e.Basis.Terms), head, gate, variance)
	}
	out := member{variance: program.None, ratio: program.None}
	f := c.features(e, r)
	out.mean = c.gated(c.memberMean(e, post, f), gate)
	if !variance {
		return out
	}
	at := c
	if n := c.nodes; n != nil {
		at = c.at(n.Times)
		f = at.features(e, at.rows())
	}
	var variances, ratios []program.Reg
	for k := range K {
		v := at.channelVariance(e, post, f, k)
		variances = append(variances, v)
		ratios = append(ratios, at.ratioAt(v, at.priorVariance(e, f.basis, k)))
	}
	v := c.Stack(variances...)
	if n := c.nodes; n != nil {
		v = c.atLeast(c.Columns(v, T, n.Between), 0)
	}
	squares := make([]float64, T)
	for i, g := range gate {
		squares[i] = g * g
	}
	out.variance, out.ratio = c.gated(v, squares), c.total(c.Stack(ratios...))
	return out
}

// features are what mean and variance of a member are made of.
type features struct {
	h      program.Reg   // last hidden layer
	random []program.Reg // F×T of each channel: cosines and sines; None without
	basis  program.Reg   // Q×T; None without
}

func (c *compiler) features(e *feature.Map, r rows) features {
	h := c.core(e, r)
	return features{h, c.randomFeatures(e, h), c.basisRows(r, e.Basis.Terms)}
}

// core appends the layers before the last one.
func (c *compiler) core(e *feature.Map, r rows) program.Reg {
	first := &e.Core.Layers[0]
	h := activate(c.Program, first.Act, c.Affine(first.Out, first.B, c.parts(r, first.Out, func(row, column int) float64 { return first.W[column*first.Out+row] })...))
	h = net(c.Program, e.Core.Layers[1:], h)
	return net(c.Program, e.Head.Layers[:len(e.Head.Layers)-1], h)
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
func (c *compiler) memberMean(e *feature.Map, post *model.Posterior, f features) program.Reg {
	K, F := c.m.K, e.F
	last := &e.Head.Layers[len(e.Head.Layers)-1]
	parts := []program.Part{{X: f.h, M: rowsOfLayer(last.W, last.In, last.Out, 0, K)}}
	if B := e.Basis.Dim(e.Inputs()); B > 0 {
		m := make([]float64, K*B)
		for k := range K {
			_, amp := amplitudes(e, k)
			for i, w := range post.Weights[k][F:] {
				m[k*B+i] = amp * w
			}
		}
		parts = append(parts, program.Part{X: f.basis, M: m})
	}
	for k := range K {
		if f.random[k] == program.None {
			continue
		}
		amp, _ := amplitudes(e, k)
		m := make([]float64, K*F)
		for j, w := range post.Weights[k][:F] {
			m[k*F+j] = amp * w
		}
		parts = append(parts, program.Part{X: c.one(f.random[k], m[k*F:(k+1)*F]), M: unit(K, k)})
	}
	return c.Affine(K, last.B[:K], parts...)
}

// channelVariance appends ‖L⁻¹φ‖² of a channel without its gate, 1×T: L⁻¹ is lower triangular, of features, then basis.
func (c *compiler) channelVariance(e *feature.Map, post *model.Posterior, f features, k int) program.Reg {
	F, B := e.F, e.Basis.Dim(e.Inputs())
	amp, ampBasis := amplitudes(e, k)
	// block returns rows and columns of L⁻¹.
	block := func(row, rows, column, columns int, factor float64) []float64 {
		m := make([]float64, rows*columns)
		for i := range rows {
			for j := range columns {
				if at := row + i; column+j <= at {
					m[i*columns+j] = factor * post.InverseFactor[k][at*(at+1)/2+column+j]
				}
			}
		}
		return m
	}
	var squares []program.Part
	add := func(rows int, parts ...program.Part) {
		squares = append(squares, program.Part{X: c.Function(program.Square, c.Affine(rows, nil, parts...)), M: same(rows, 1)})
	}
	if f.random[k] != program.None {
		add(F, program.Part{X: f.random[k], M: block(0, F, 0, F, amp), Lower: true})
	}
	if B > 0 {
		parts := []program.Part{{X: f.basis, M: block(F, B, F, B, ampBasis), Lower: true}}
		if f.random[k] != program.None {
			parts = append(parts, program.Part{X: f.random[k], M: block(F, B, 0, F, amp)})
		}
		add(B, parts...)
	}
	return c.Affine(1, nil, squares...)
}

// basisRows appends the linear basis [v, τ'v, …], v = [1, start, knots]: Q×T; None without terms.
func (c *compiler) basisRows(r rows, terms int) program.Reg {
	if terms == 0 {
		return program.None
	}
	all := []program.Reg{c.Constant(1, c.T(), same(c.T(), 1))}
	for _, x := range []program.Reg{r.start, r.knots} {
		if x != program.None {
			all = append(all, x)
		}
	}
	v := c.Stack(all...)
	out := []program.Reg{v}
	for term := 1; term < terms; term++ {
		powers := make([]float64, c.T())
		for i, t := range c.times {
			powers[i] = math.Pow(c.m.Inputs.Standard(t), float64(term))
		}
		out = append(out, c.gated(v, powers))
	}
	return c.Stack(out...)
}

// priorVariance appends ‖φ‖² of a channel without its gate at the last time, 1×1.
func (c *compiler) priorVariance(e *feature.Map, basis program.Reg, k int) program.Reg {
	amp, ampBasis := amplitudes(e, k)
	constant := amp * amp * float64(e.F) / 2 // cos² + sin² = 1
	if basis == program.None {
		return c.Constant(1, 1, []float64{constant})
	}
	squares := c.Function(program.Square, c.lastColumn(basis))
	return c.Affine(1, []float64{constant}, program.Part{X: squares, M: same(c.Rows(squares), ampBasis*ampBasis)})
}
