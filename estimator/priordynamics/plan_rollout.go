package priordynamics

import (
	"math"
	"slices"

	"github.com/tphakala/simd/f32"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/numeric/panelnet"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// PlanRollout rolls a model out from one start under sixteen plans at once: the formulas of
// Rollout.At in single precision. Kinematic relations and chains are evaluated plan by plan.
type PlanRollout struct {
	m     *Model
	unit  simd.Unit
	k     int
	plans *Plans
	steps []PlanMatrix // of each step: the coordinates of its mean input
	times []planTime

	x0     []float64 // K
	offset []float32 // panels, L+P: the coordinates at x0 that no sine or cosine is in
	slope  []float32 // panels, L+P × K: of the coordinates by the displacement
	turns  []float32 // panels, L+P × 2·angles: by cosines and sines
	angles []angle
	omega  []float32 // angles × (K+1), half turns by displacement and one
	weight []float32 // panels, K × (N−1): of all monomials but the one
	one    []float32 // panels, K: of that
	net    []panelnet.Layer

	at       []float32 // [node][K+1][Width]: displacement, and one
	state    []float32 // the same of one
	trig     []float32 // [2·angles][Width]
	psi      []float32 // [N−1, padded][Width], coordinates first
	raw      []float32 // [P][Width], coordinates of the inputs, unbounded
	delta    [2][]float32
	out      [][]float32 // of each layer
	none     []float32   // weights of features that no mean is read of
	parts    []simd.Part
	now, inc []float64 // K
	input    []float64 // P
	unread   [simd.Width]float32
}

// planTime is where a time is in a roll-out.
type planTime struct {
	node           int
	part           float64 // of the step behind the node
	means          PlanMatrix
	asStep, asLast bool // the mean input is that of the whole step; that of the time before
}

// angle is a state whose sine or cosine is a coordinate.
type angle struct {
	of    int
	omega float64
}

// NewPlanRollout takes the memory for k states at times up to a horizon, s.
func NewPlanRollout(m *Model, k int, horizon float64, times []float64, plans *Plans, unit simd.Unit) *PlanRollout {
	L, P, n, N := m.Lift.Dim(), len(m.UMean), max(1, int(horizon/m.Step+1e-9)), m.Terms()
	r := &PlanRollout{
		m: m, unit: unit, k: k, plans: plans, x0: make([]float64, k), offset: make([]float32, simd.Padded(L+P)),
		weight: simd.Packed(k, N-1, func(k0, j int) float64 { return m.Weights[(1+j)*k+k0] }), one: simd.Packed(k, 1, func(k0, _ int) float64 { return m.Weights[k0] }),
		at: make([]float32, (n+1)*(k+1)*simd.Width), state: make([]float32, (k+1)*simd.Width), psi: make([]float32, simd.Padded(max(N-1, L+P))*simd.Width), raw: make([]float32, P*simd.Width),
		parts: make([]simd.Part, 0, 4), now: make([]float64, k), inc: make([]float64, k), input: make([]float64, P),
	}
	for i := range n {
		r.steps = append(r.steps, r.inputs(float64(i)*m.Step, float64(i+1)*m.Step))
		r.ones(r.at[i*(k+1)*simd.Width:])
	}
	r.ones(r.at[n*(k+1)*simd.Width:])
	r.ones(r.state)
	for i := range r.delta {
		r.delta[i] = make([]float32, simd.Padded(k)*simd.Width)
	}
	for _, t := range times {
		r.times = append(r.times, r.place(t))
	}
	r.lift()
	if m.hasNet() {
		for i := range m.Net.Layers {
			l := &m.Net.Layers[i]
			r.net = append(r.net, panelnet.New(l, 0, l.Out))
			r.out = append(r.out, make([]float32, simd.Padded(l.Out)*simd.Width))
		}
	}
	return r
}

func (r *PlanRollout) ones(x []float32) {
	for lane := range simd.Width {
		x[r.k*simd.Width+lane] = 1
	}
}

// inputs returns the matrix of the coordinates of a mean input.
func (r *PlanRollout) inputs(from, to float64) PlanMatrix {
	return r.plans.Means(r.m.Lift.Dim(), r.m.UMean, r.m.UStd, Span{from, to, 1})
}

// place returns where a time is, one after the other.
func (r *PlanRollout) place(t float64) planTime {
	node := max(0, min(int(t/r.m.Step+tiny), len(r.steps)))
	at := planTime{node: node, part: t/r.m.Step - float64(node)}
	if at.part <= atNode {
		at.part = 0
		return at
	}
	start := float64(node) * r.m.Step
	if at.part < tiny {
		t = start
	}
	at.means = r.inputs(start, t)
	at.asStep = node < len(r.steps) && at.means.like(&r.steps[node])
	if i := len(r.times) - 1; i >= 0 {
		at.asLast = r.times[i].part > 0 && r.times[i].node == node && at.means.like(&r.times[i].means)
	}
	return at
}

// like reports whether two matrices are the same but for rounding.
func (m *PlanMatrix) like(o *PlanMatrix) bool {
	return slices.EqualFunc(m.panels, o.panels, func(a, b float32) bool { return math.Abs(float64(a-b)) <= 3e-7*math.Abs(float64(a)) })
}

// lift sets slope, turns and the angles.
func (r *PlanRollout) lift() {
	lift, rows := &r.m.Lift, r.m.Lift.Dim()+len(r.m.UMean)
	at := make([]int, rows) // column of turns
	for l := range rows {
		if at[l] = -1; l >= lift.Dim() || lift.Kind[l] == channel.Value {
			continue
		}
		a := angle{lift.Of[l], lift.Omega[l]}
		if at[l] = slices.Index(r.angles, a); at[l] < 0 {
			at[l] = len(r.angles)
			r.angles = append(r.angles, a)
		}
	}
	n := len(r.angles)
	r.slope = simd.Packed(rows, r.k, func(l, k int) float64 {
		if l < lift.Dim() && at[l] < 0 && lift.Of[l] == k {
			return 1 / lift.Std[l]
		}
		return 0
	})
	r.turns = simd.Packed(rows, 2*n, func(l, c int) float64 {
		if at[l] >= 0 && c%n == at[l] && (c >= n) == (lift.Kind[l] == channel.Sine) {
			return 1 / lift.Std[l]
		}
		return 0
	})
	r.omega, r.trig, r.none = make([]float32, n*(r.k+1)), make([]float32, 2*n*simd.Width), make([]float32, 2*n)
	for i, a := range r.angles {
		r.omega[i*(r.k+1)+a.of] = simd.Single(a.omega / math.Pi)
	}
}

// Start sets the start state x0 (K).
func (r *PlanRollout) Start(x0 []float64) {
	copy(r.x0, x0)
	lift := &r.m.Lift
	for l, k := range lift.Of {
		v := 0.0
		if lift.Kind[l] == channel.Value {
			v = x0[k]
		}
		r.offset[l] = simd.Single((v - lift.Mean[l]) / lift.Std[l])
	}
	for i, a := range r.angles {
		r.omega[i*(r.k+1)+r.k] = simd.Single(math.Mod(a.omega*x0[a.of]/math.Pi, 2))
	}
}

// Add rolls out under the plans and adds the displacements, times a factor, to dst
// ([time][K][Width], of so many numbers a time).
func (r *PlanRollout) Add(dst []float32, size int, factor float32) {
	n, row := r.k*simd.Width, (r.k+1)*simd.Width
	for i := range r.steps {
		here, next := r.at[i*row:(i+1)*row], r.at[(i+1)*row:]
		r.increment(r.delta[0], here, &r.steps[i])
		f32.Add(next[:n], here[:n], r.delta[0][:n])
	}
	first, second := r.delta[0][:n], r.delta[1][:n]
	for i := range r.times {
		t, to := &r.times[i], dst[i*size:i*size+n]
		here := r.at[t.node*row : (t.node+1)*row]
		f32.AddScaled(to, factor, here[:n])
		if t.part == 0 {
			continue
		}
		if !t.asLast {
			if t.asStep {
				copy(r.state, r.at[(t.node+1)*row:])
				f32.Sub(first, r.state[:n], here[:n])
			} else {
				r.increment(r.delta[0], here, &t.means)
				f32.Add(r.state[:n], here[:n], first)
			}
			r.increment(r.delta[1], r.state, &t.means)
		}
		curve := 0.5 * t.part * (t.part - 1)
		f32.AddScaled(to, factor*simd.Single(t.part-curve), first)
		f32.AddScaled(to, factor*simd.Single(curve), second)
	}
}

// increment writes the increments of a step from states x under mean inputs to dst.
func (r *PlanRollout) increment(dst, x []float32, means *PlanMatrix) {
	m, L, V := r.m, r.m.Lift.Dim(), len(r.m.Bound)
	ones := x[r.k*simd.Width:]
	parts := append(r.parts[:0], simd.Part{L: r.offset, X: ones, K: 1}, simd.Part{L: r.slope, X: x, K: r.k}, r.plans.Part(means))
	if n := len(r.angles); n > 0 {
		r.unit.RandomFeatures(r.trig, r.unread[:], r.omega, r.none, x, r.k+1)
		parts = append(parts, simd.Part{L: r.turns, X: r.trig, K: 2 * n})
	}
	r.unit.Product(r.psi, simd.Panels(V), parts)
	copy(r.raw, r.psi[L*simd.Width:])
	for i, b := range m.Bound {
		v := r.psi[i*simd.Width : (i+1)*simd.Width]
		f32.Clamp(v, v, float32(-b), float32(b))
	}
	r.monomials(L, V)
	r.unit.Product(dst, simd.Panels(r.k), append(r.parts[:0], simd.Part{L: r.one, X: ones, K: 1}, simd.Part{L: r.weight, X: r.psi, K: m.Terms() - 1}))
	y := r.psi
	for l := range r.net {
		r.net[l].Forward(r.unit, r.parts, ones, y, r.out[l])
		y = r.out[l]
	}
	for k, scale := range m.NetScale {
		f32.AddScaled(dst[k*simd.Width:(k+1)*simd.Width], float32(scale), y[k*simd.Width:(k+1)*simd.Width])
	}
	if !m.Chain.Empty() || !m.Body.Empty() {
		r.relations(dst, x)
	}
}

// monomials sets psi from its coordinates, the order of Model.Monomials.
func (r *PlanRollout) monomials(L, V int) {
	at := V
	// multiply appends the products of row i with those from … to.
	multiply := func(i, from, to int) {
		dst := r.psi[at*simd.Width : (at+to-from)*simd.Width]
		clear(dst)
		r.unit.AddScaled(dst, r.psi[i*simd.Width:], r.psi[from*simd.Width:to*simd.Width])
		at += to - from
	}
	for i := 0; i < V && r.m.Degree > 1; i++ {
		multiply(i, i, V)
	}
	pair := V
	for i := 0; i < L && r.m.Degree > 2; i++ {
		for j := i; j < L; j++ {
			multiply(pair+j-i, j, L)
		}
		pair += V - i
	}
}

// relations adds those of chain and body to increments at states x, plan by plan.
func (r *PlanRollout) relations(dst, x []float32) {
	for lane := range simd.Width {
		for k := range r.inc {
			r.now[k], r.inc[k] = r.x0[k]+float64(x[k*simd.Width+lane]), float64(dst[k*simd.Width+lane])
		}
		for p, std := range r.m.UStd {
			r.input[p] = r.m.UMean[p] + std*float64(r.raw[p*simd.Width+lane])
		}
		r.m.Chain.Add(r.inc, r.now, r.input, r.m.Step)
		r.m.Body.Add(r.inc, r.now, r.m.Step)
		for k, d := range r.inc {
			dst[k*simd.Width+lane] = simd.Single(d)
		}
	}
}
