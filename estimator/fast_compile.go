package estimator

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/numeric/panelnet"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// compiled holds what depends on a model alone: its numbers in single precision,
// multiplied by the amplitudes, in the order in which they are used.
//
// The inputs of the nets and the basis hardly vary over a horizon. A row is
// [τ', x0, knots]: x0 is the same at all points, and so is every knot whose block of
// time is over; a knot whose block has not begun is 0. Only the time and the knots of
// the present block vary. So every linear map of a row is split by columns: those that
// do not vary are summed once for a query, and only the others are multiplied point by
// point.
//
//	basis b = Σ_p τ'ᵖ v,  v = [1, x0, knots]:  C·b = Σ_p τ'ᵖ (const_p + C_p·varying)
type compiled struct {
	m       *model.Model
	unit    simd.Unit
	members []fastMember
	refits  []fastMember
	sorted  map[*direct.Model]*direct.Sorted
	powers  int // of τ' that are used anywhere, at least 2
	fixed   int // columns of x0 and of the one: 1 + L
	knots   int // columns of the knots: J·P

	interpolates bool // whether variances are interpolated between nodes

	perMember, perRefit, perVariance float64 // one over the number of members, of refits, of members with a variance
}

func (c *compiled) all() (all []*fastMember) {
	for _, set := range [][]fastMember{c.members, c.refits} {
		for i := range set {
			all = append(all, &set[i])
		}
	}
	return all
}

// fastMember is a member, laid out for the kernels.
type fastMember struct {
	e         *model.Member
	first     firstLayer
	hidden    []panelnet.Layer // from the second on, but for the last
	mu, z     panelnet.Layer   // the last, in two parts
	omega     []float32        // F/2×D, half turns
	terms     int              // of the basis
	variance  bool
	jacobian  bool             // by the start state: the windows form
	readouts  []fastReadout    // as many as posteriors
	back      []panelnet.Layer // with jacobian: the layers from the first to the last but one, transposed
	backKnots panelnet.Layer   // with jacobian: the first, transposed, of the knots
}

// readout returns the posterior of a readout.
func (f *fastMember) readout(r Readout) *fastReadout {
	return &f.readouts[min(int(r), len(f.readouts)-1)]
}

// firstLayer reads a row.
type firstLayer struct {
	layer   *mlp.Layer
	time    []float32 // panels, Out × 1, the column of τ'
	varying []float32 // panels, Out × knots
}

// fastReadout is the posterior of all channels.
type fastReadout struct {
	features  [][]float32 // K of F/2×2: weights of cosine and sine
	cosines   [][]float32 // the same as phases and amplitudes
	fixed     []float64   // [term][column][K]: weights of the basis
	varying   [][]float32 // by term: panels, K × knots
	factors   []fastFactor
	jacobians []fastJacobian // with jacobian: of each channel
}

// fastJacobian holds the derivatives of the mean of one channel.
type fastJacobian struct {
	features []float32 // panels, D × [cosines, sines]: ∂(weights·features)/∂z
	head     []float32 // panels, C × (1+D): ∂(mu, z)/∂(last hidden layer)
	basis    []float32 // panels, L × terms: ∂(weights·basis)/∂x0
	knots    []float32 // panels, J·P × terms: ∂(weights·basis)/∂knots
}

// fastFactor is the inverse factor of one channel, re-triangularised so that its basis
// comes first: of the rows of the features F×(B+F), of those of the basis B×B. See
// triangularise.
type fastFactor struct {
	lower   []float32   // lower triangle, F×F
	fixed   [][]float32 // by column, fixed ones and knots: panels of all rows × terms
	varying [][]float32 // by term: panels, all rows × knots
	prior   [2]float64  // of the features, of the basis for each unit of its square
}

// compile returns nil for a model that a Fast does not serve.
func compile(m *model.Model, unit simd.Unit) *compiled {
	c := &compiled{m: m, unit: unit, sorted: map[*direct.Model]*direct.Sorted{}, powers: 2, fixed: 1 + m.Inputs.Lift.Dim(), knots: m.Inputs.Knots * m.P}
	for e := range m.All() {
		head := &e.Map.Head
		if e.Posterior[0].Exact != nil || head.Layers[len(head.Layers)-1].Act != mlp.Linear {
			return nil
		}
	}
	for i := range m.Stack {
		if m.Stack[i].Kind == model.Direct {
			c.sorted[&m.Stack[i].Direct] = direct.NewSorted(&m.Stack[i].Direct)
		}
	}
	variances := 0
	for i := range m.Members {
		c.members = append(c.members, c.member(&m.Members[i], false))
		if c.members[i].variance {
			variances++
		}
	}
	for i := range m.Refits {
		c.refits = append(c.refits, c.member(&m.Refits[i], true))
	}
	for _, e := range c.all() {
		c.powers = max(c.powers, e.terms)
	}
	c.perMember, c.perRefit = 1/float64(len(c.members)), 1/math.Max(float64(len(c.refits)), 1)
	c.perVariance = 1 / float64(variances)
	return c
}

// member compiles a member; a refit gives a mean only.
func (c *compiled) member(e *model.Member, refit bool) fastMember {
	p := &e.Map
	K, D := p.K, p.D
	f := fastMember{e: e, terms: p.Basis.Terms, variance: e.GivesVariance() && !refit, jacobian: c.m.Displacement && !refit}
	for _, o := range p.Omega {
		f.omega = append(f.omega, simd.Single(o/math.Pi))
	}
	layers := append(append([]mlp.Layer(nil), p.Core.Layers...), p.Head.Layers...)
	f.first = c.firstLayer(&layers[0])
	for i := 1; i < len(layers)-1; i++ {
		f.hidden = append(f.hidden, panelnet.New(&layers[i], 0, layers[i].Out))
	}
	last := &layers[len(layers)-1]
	f.mu, f.z = panelnet.New(last, 0, K), panelnet.New(last, K, K+K*D)
	var t *triangulariser
	if f.variance {
		t = newTriangulariser(p.F, f.terms*(c.fixed+c.knots))
	}
	for r := range e.Posterior {
		f.readouts = append(f.readouts, c.readout(&f, t, &e.Posterior[r]))
	}
	if f.jacobian {
		f.back = append(f.back, panelnet.Transposed(&layers[0], 1, c.fixed))
		f.backKnots = panelnet.Transposed(&layers[0], c.fixed, c.fixed+c.knots)
		for i := 1; i < len(layers)-1; i++ {
			f.back = append(f.back, panelnet.Transposed(&layers[i], 0, layers[i].In))
		}
	}
	return f
}

func (c *compiled) firstLayer(l *mlp.Layer) firstLayer {
	return firstLayer{layer: l, time: simd.Packed(l.Out, 1, func(r, _ int) float64 { return l.W[r] }), varying: simd.Packed(l.Out, c.knots, func(r, k int) float64 { return l.W[(c.fixed+k)*l.Out+r] })}
}

func (c *compiled) readout(f *fastMember, t *triangulariser, post *model.Posterior) fastReadout {
	p := &f.e.Map
	K, F, half := p.K, p.F, p.F/2
	amp := amplitudes(f.e)
	var out fastReadout
	for k := range K {
		w := make([]float32, F)
		for j := range half {
			w[2*j], w[2*j+1] = simd.Single(amp[k][0]*post.Weights[k][j]), simd.Single(amp[k][0]*post.Weights[k][half+j])
		}
		out.features, out.cosines = append(out.features, w), append(out.cosines, simd.Cosines(w))
	}
	width := c.fixed + c.knots
	basis := func(term, column, k int) float64 { return amp[k][1] * post.Weights[k][F+term*width+column] }
	for term := range f.terms {
		for column := range width {
			for k := range K {
				out.fixed = append(out.fixed, basis(term, column, k))
			}
		}
		out.varying = append(out.varying, simd.Packed(K, c.knots, func(k, column int) float64 { return basis(term, c.fixed+column, k) }))
	}
	if f.jacobian {
		for k := range K {
			out.jacobians = append(out.jacobians, c.jacobian(f, post, k, amp[k]))
		}
	}
	if f.variance {
		for k := range K {
			out.factors = append(out.factors, c.factor(f, t, post.InverseFactor[k], amp[k]))
		}
	}
	return out
}

func (c *compiled) jacobian(f *fastMember, post *model.Posterior, k int, amp [2]float64) fastJacobian {
	p := &f.e.Map
	last := &p.Head.Layers[len(p.Head.Layers)-1]
	D, F, half, width := p.D, p.F, p.F/2, c.fixed+c.knots
	return fastJacobian{
		features: simd.Packed(D, F, func(d, j int) float64 {
			if j < half {
				return amp[0] * post.Weights[k][half+j] * p.Omega[j*D+d]
			}
			return -amp[0] * post.Weights[k][j-half] * p.Omega[(j-half)*D+d]
		}),
		head: simd.Packed(last.In, 1+D, func(r, d int) float64 {
			if d == 0 {
				return last.W[r*last.Out+k]
			}
			return last.W[r*last.Out+p.K+k*D+d-1]
		}),
		basis: simd.Packed(c.fixed-1, f.terms, func(l, term int) float64 { return amp[1] * post.Weights[k][F+term*width+1+l] }),
		knots: simd.Packed(c.knots, f.terms, func(q, term int) float64 { return amp[1] * post.Weights[k][F+term*width+c.fixed+q] }),
	}
}

// amplitudes returns the factors of the features and of the basis of each channel.
func amplitudes(e *model.Member) [][2]float64 {
	p := &e.Map
	unit := math.Sqrt(2 / float64(max(p.F, 1)))
	out := make([][2]float64, p.K)
	for k := range out {
		out[k] = [2]float64{math.Exp(p.LogAmp[2*k]) * unit, math.Exp(p.LogAmp[2*k+1])}
	}
	return out
}

// factor re-triangularises an inverse factor and lays it out.
func (c *compiled) factor(f *fastMember, t *triangulariser, inverse []float64, amp [2]float64) fastFactor {
	F, B, width := t.F, t.B, c.fixed+c.knots
	t.triangularise(inverse, amp)
	out := fastFactor{lower: make([]float32, simd.LowerSize(F)), prior: [2]float64{amp[0] * amp[0] * float64(F/2), amp[1] * amp[1]}}
	if F > 0 {
		simd.PackLower(out.lower, F, t.top[B:], F+B)
	}
	if B == 0 {
		return out
	}
	// All rows: those of the features, filled up to whole panels, then those of the basis.
	first := simd.Panels(F)
	panels := first + simd.Panels(B)
	size := simd.Rows * panels * f.terms
	fixed := make([]float32, width*size)
	for column := range width {
		out.fixed = append(out.fixed, fixed[column*size:(column+1)*size])
	}
	for range f.terms {
		out.varying = append(out.varying, make([]float32, simd.Rows*panels*c.knots))
	}
	for panel := range first {
		a, b, e, g := t.row(panel*simd.Rows), t.row(panel*simd.Rows+1), t.row(panel*simd.Rows+2), t.row(panel*simd.Rows+3)
		for term := range f.terms {
			to, from := fixed[(panel*f.terms+term)*simd.Rows:], term*width
			for column := range width {
				j := from + column
				four := (*[simd.Rows]float32)(to[column*size:])
				four[0], four[1], four[2], four[3] = simd.Single(a[j]), simd.Single(b[j]), simd.Single(e[j]), simd.Single(g[j])
			}
		}
	}
	for j, below := range t.below[:B] {
		to := out.fixed[j%width]
		for panel := first; panel < panels; panel++ {
			four := to[(panel*f.terms+j/width)*simd.Rows:]
			for lane, v := range below[:simd.Rows] { // zeros behind the last row
				four[lane] = simd.Single(v)
			}
			below = below[simd.Rows:]
		}
	}
	for term, varying := range out.varying {
		for knot := range c.knots {
			from := out.fixed[c.fixed+knot][term*simd.Rows:]
			for panel := range panels {
				copy(varying[(panel*c.knots+knot)*simd.Rows:], from[panel*f.terms*simd.Rows:panel*f.terms*simd.Rows+simd.Rows])
			}
		}
	}
	return out
}
