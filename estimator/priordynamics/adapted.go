package priordynamics

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/motion"
)

// Adaptation describes the parameters θ that change a model: a bias of every state's
// increment, a gain of every input, a damping of some states, and the mass of a robot that has one, see motion.Equation.HasMass.
//
//	Δ_k(x, ū) += (b_k exp(−|t|/Fade) + d_k v_k(x)) · Rate_k · Step      ū_p → (1 + g_p) ū_p      f → f/(1 + m)
//
// θ = (b, g, d, m) has K + P + len(Damped) numbers without unit, and m. f are the accelerations by forces apart from gravity. v_k is the state's own
// standardised coordinate, t the time since the start of the roll-out. The kinematic relations read the changed increment. Nets are left
// out: θ is read from a difference of two roll-outs.
type Adaptation struct {
	Rate   []float64 // K, state units per second
	Damped []int     // states that have a coordinate of their own, see Own
	Fade   float64   // (optional) time constant of biases, s; 0 = they do not fade
}

// Parameters returns the number of parameters for a model.
func (a *Adaptation) Parameters(m *Model) int { return a.Mass(m) + m.masses() }

// Mass returns the place of the mass in θ, behind all others.
func (a *Adaptation) Mass(m *Model) int { return len(a.Rate) + len(m.UMean) + len(a.Damped) }

// masses returns how many masses a robot has: one or none.
func (m *Model) masses() int {
	if m.Motion.HasMass() {
		return 1
	}
	return 0
}

// Change is how a robot differs from a difference equation, in physical units:
//
//	Δ_k(x, ū) += (Bias_k + Damping_k x_k) Step      ū_p → (1 + Gain_p) ū_p      f → f/(1 + Mass)
type Change struct {
	Bias    []float64 // K, state units per second
	Damping []float64 // K, 1/s
	Gain    []float64 // P
	Mass    float64   // of a robot that has one, else 0
}

// NewChange returns none, of k states and p inputs.
func NewChange(k, p int) *Change {
	return &Change{make([]float64, k), make([]float64, k), make([]float64, p), 0}
}

// Set sets the change to a share of what parameters of a model are at the start of a roll-out, within the bounds of its coordinates.
func (c *Change) Set(m *Model, a *Adaptation, theta []float64, share float64) {
	K, P := len(c.Bias), len(c.Gain)
	clear(c.Damping)
	for k, r := range a.Rate {
		c.Bias[k] = share * r * theta[k]
	}
	for p := range c.Gain {
		c.Gain[p] = share * theta[K+p]
	}
	for i, k := range a.Damped {
		own := m.Own(k)
		c.Damping[k] = share * a.Rate[k] * theta[K+P+i] / m.Lift.Std[own]
		c.Bias[k] -= c.Damping[k] * m.Lift.Mean[own]
	}
	for _, v := range theta[a.Mass(m):] {
		c.Mass = share * v
	}
}

// Own returns the standardised coordinate that is state k itself, or −1.
func (m *Model) Own(k int) int {
	for l, of := range m.Lift.Of {
		if of == k && m.Lift.Kind[l] == channel.Value {
			return l
		}
	}
	return -1
}

// Adapted rolls a model out with parameters and without them, and differentiates by the
// parameters. It takes all its memory in NewAdapted and is not safe for concurrent use.
type Adapted struct {
	m       *Model
	of      Adaptation
	k, q    int
	nodes   int       // at most
	last    int       // that a Run sets
	sign    float64   // 1, or −1: against time
	unit    []float64 // K, Rate·Step
	keeps   float64   // part of a bias that is left after a step
	left    float64   // part that is left in the present step
	own     []int     // of Damped: the coordinate
	plain   []float64 // nodes × K: displacement without parameters
	moved   []float64 // the same with them
	added   []float64 // moved less plain
	by      []float64 // nodes × q × K: derivatives of moved by the parameters
	input   []float64 // P
	gained  []float64 // P
	chain   []float64 // (K+P+masses) × K: derivatives of the increment of the equation of motion by states, inputs and the mass
	motion  *motion.Work
	now     []float64 // K
	inc     []float64 // K
	v       []float64 // L+P
	slope   []float64 // L+P
	normal  []float64 // L+P
	psi     []float64 // N
	partial []float64 // (L+P) × K: derivatives of the learned increment by the coordinates
	weights []float64 // T' × (L+P) × K, see Model.derivatives
	matrix  []float64 // K × K: by state c at c·K …
}

// NewAdapted takes the memory for roll-outs of k states up to a horizon, s. A negative horizon
// is one before the start: the roll-out runs against time, and all times count backwards.
func NewAdapted(m *Model, k int, a Adaptation, horizon float64) *Adapted {
	sign := math.Copysign(1, horizon)
	horizon *= sign
	n, L, P, q := int(horizon/m.Step+1e-9)+3, m.Lift.Dim(), len(m.UMean), a.Parameters(m)
	out := &Adapted{
		m: m, of: a, k: k, q: q, nodes: n, last: n - 1, sign: sign, unit: make([]float64, k),
		plain: make([]float64, n*k), moved: make([]float64, n*k), added: make([]float64, n*k), by: make([]float64, n*q*k),
		input: make([]float64, P), gained: make([]float64, P), chain: make([]float64, k*(k+P+m.masses())), now: make([]float64, k), inc: make([]float64, k),
		v: make([]float64, L+P), slope: make([]float64, L+P), normal: make([]float64, L+P), psi: make([]float64, m.Terms()), partial: make([]float64, (L+P)*k), weights: m.derivatives(k), motion: motion.NewLoadedWork(&m.Motion, k, P, sign*m.Step), matrix: make([]float64, k*k),
	}
	for i, r := range a.Rate {
		out.unit[i] = r * m.Step
	}
	if out.keeps = 1; a.Fade > 0 {
		out.keeps = math.Exp(-m.Step / a.Fade)
	}
	for _, k := range a.Damped {
		out.own = append(out.own, m.Own(k))
	}
	return out
}

// Run rolls the model out from x0 (K) under the input u (nil without inputs) up to a
// horizon, s, with the parameters theta and without; with differentiate also their
// derivatives. With theta nil the roll-out with parameters stays that of the last Run, in which
// the inputs after their gains were the same.
func (a *Adapted) Run(x0 []float64, u channel.Signal, theta []float64, horizon float64, differentiate bool) {
	K, h := a.k, a.m.Step
	n := min(int(horizon/h+1e-9)+1, a.nodes-2)
	clear(a.plain[:K])
	if theta != nil {
		clear(a.moved[:K])
		clear(a.by[:a.q*K])
	}
	a.left = 1
	for i := range min(n+1, a.last) { // the last node is one beyond the step in which the horizon ends
		if i < n && len(a.input) > 0 {
			u.Mean(a.input, float64(i)*h, float64(i+1)*h)
		}
		a.step(a.plain[i*K:], x0, a.input, nil, nil)
		if theta == nil {
			continue
		}
		for p, v := range a.input {
			a.gained[p] = v * (1 + theta[K+p])
		}
		var by []float64
		if differentiate {
			by = a.by[i*a.q*K:]
		}
		a.step(a.moved[i*K:], x0, a.gained, theta, by)
		a.left *= a.keeps
	}
	for i, v := range a.moved[:(min(n+1, a.last)+1)*K] {
		a.added[i] = v - a.plain[i]
	}
}

// step sets the displacement of the node after x's first. theta nil = no parameters; by nil =
// no derivatives.
func (a *Adapted) step(x, x0, u, theta, by []float64) {
	m, K := a.m, a.k
	for k, d := range x[:K] {
		a.now[k] = x0[k] + d
	}
	var slope []float64
	if by != nil {
		slope = a.slope
	}
	m.Coordinates(a.v, slope, a.now, u)
	m.Monomials(a.psi, a.v)
	m.apply(a.inc, a.psi)
	if theta != nil {
		for k, unit := range a.unit {
			a.inc[k] += unit * a.left * theta[k]
		}
		for i, k := range a.of.Damped {
			a.inc[k] += a.unit[k] * theta[K+len(u)+i] * a.v[a.own[i]]
		}
	}
	if a.sign < 0 {
		for k, d := range a.inc {
			a.inc[k] = -d
		}
	}
	m.Chain.Add(a.inc, a.now, u, a.sign*m.Step)
	if at := a.of.Mass(m); at < a.q {
		mass := 0.
		if theta != nil {
			mass = theta[at]
		}
		a.motion.SetMass(mass)
	}
	a.motion.Add(a.inc, a.now, u)
	m.Body.Add(a.inc, a.now, a.sign*m.Step)
	for k, d := range a.inc {
		x[K+k] = x[k] + d
	}
	if by != nil {
		a.differentiate(by, u, theta)
	}
}

// differentiate sets the derivatives at the node after by's first, behind a step.
func (a *Adapted) differentiate(by, u, theta []float64) {
	m, K, L := a.m, a.k, a.m.Lift.Dim()
	copy(a.partial, a.weights) // ψ begins with 1
	for t, n := 1, len(a.partial); t < len(a.weights)/n; t++ {
		addScaled(a.partial, a.psi[t], a.weights[t*n:(t+1)*n])
	}
	damping := theta[K+len(u) : a.of.Mass(m)]
	for i, k := range a.of.Damped {
		a.partial[a.own[i]*K+k] += a.unit[k] * damping[i]
	}
	here, next := by[:a.q*K], by[a.q*K:2*a.q*K]
	m.Ellipsoid.Adjoint(a.partial, a.v, a.normal, next)
	clear(a.matrix)
	for l, of := range m.Lift.Of {
		addScaled(a.matrix[of*K:(of+1)*K], a.slope[l], a.partial[l*K:(l+1)*K])
	}
	clear(a.chain)
	m.Chain.Jacobian(a.chain, a.now, u, a.sign*m.Step)
	a.motion.Jacobian(a.chain, a.now, u)
	addScaled(a.matrix, a.sign, a.chain[:K*K])
	body := m.Body.linearise(a.now, a.inc, a.sign*m.Step)
	for j := range a.q {
		dx, dd := here[j*K:(j+1)*K], next[j*K:(j+1)*K]
		clear(dd)
		for c, d := range dx {
			if d != 0 {
				addScaled(dd, d, a.matrix[c*K:(c+1)*K])
			}
		}
		switch p, i := j-K, j-K-len(u); {
		case p < 0:
			dd[j] += a.unit[j] * a.left
		case i < 0:
			addScaled(dd, a.slope[L+p]*a.input[p], a.partial[(L+p)*K:(L+p+1)*K])
			addScaled(dd, a.sign*a.input[p], a.chain[(K+p)*K:(K+p+1)*K])
		case i == len(a.of.Damped):
			addScaled(dd, a.sign, a.chain[(K+len(u))*K:])
		default:
			k := a.of.Damped[i]
			dd[k] += a.unit[k] * a.v[a.own[i]]
		}
		for k := range dd {
			dd[k] *= a.sign
		}
		m.Body.tangent(&body, dd, dx)
		for k, d := range dx {
			dd[k] += d
		}
	}
}

// Nodes returns the number of nodes.
func (a *Adapted) Nodes() int { return a.nodes }

// Leave leaves out all nodes behind the last that is needed.
func (a *Adapted) Leave(last int) { a.last = min(a.last, last) }

// Parabola returns the first of three nodes around t and the weights at t of the parabola
// through them.
func (a *Adapted) Parabola(t float64) (node int, weights [3]float64) {
	node, weights, _ = a.place(t)
	return node, weights
}

// Moved returns what the parameters of the last Run add to the displacement at all nodes
// (nodes×K). It is valid until the next Run.
func (a *Adapted) Moved() []float64 { return a.added }

// AddSensitivities adds the derivatives by the parameters of the product of the displacements at
// all nodes with a matrix row (nodes×K), times scale, to dst (q), after a Run that
// differentiates.
func (a *Adapted) AddSensitivities(dst []float64, scale float64, row []float64) {
	for node := range a.nodes {
		w := row[node*a.k : (node+1)*a.k]
		by := a.by[node*a.q*a.k:]
		for j := range dst {
			s := 0.0
			for k, v := range by[j*a.k : (j+1)*a.k] {
				s += w[k] * v
			}
			dst[j] += scale * s
		}
	}
}

// place returns the first of three nodes around t and their weights: those of the parabola
// through them.
func (a *Adapted) place(t float64) (node int, w, dw [3]float64) {
	h := a.m.Step
	node = max(0, min(int(t/h+tiny), a.nodes-3))
	s := max(0, t/h-float64(node))
	return node, [3]float64{1 - s + 0.5*s*(s-1), s - s*(s-1), 0.5 * s * (s - 1)}, [3]float64{(s - 1.5) / h, (2 - 2*s) / h, (s - 0.5) / h}
}

// Place is where a time is between the nodes: the parabola through three of them.
type Place struct {
	node  int        // the first
	w, dw [3]float64 // their weights, and these by time
}

// PlaceOf returns the place of t seconds after the start. It depends on nothing but the time.
func (a *Adapted) PlaceOf(t float64) (p Place) {
	p.node, p.w, p.dw = a.place(t)
	return p
}

// At writes what the parameters of the last Run add to the displacement at t seconds after
// the start to dst (K) and, unless nil, its derivative by time per second to ddst (K).
func (a *Adapted) At(dst, ddst []float64, t float64) {
	p := a.PlaceOf(t)
	a.AtPlace(dst, ddst, &p)
}

// AtPlace is At of the time of a place.
func (a *Adapted) AtPlace(dst, ddst []float64, p *Place) {
	w, dw, K := &p.w, &p.dw, a.k
	d := a.added[p.node*K : (p.node+3)*K]
	d0, d1, d2, dst := d[:K], d[K:][:K], d[2*K:][:K], dst[:K]
	for k, v := range d0 {
		dst[k] = w[0]*v + w[1]*d1[k] + w[2]*d2[k]
	}
	for k := range ddst {
		ddst[k] = dw[0]*d0[k] + dw[1]*d1[k] + dw[2]*d2[k]
	}
}

// SensitivityAt writes the derivatives of the displacement at t seconds after the start by
// the parameters to dst (K × q), after a Run that differentiates.
func (a *Adapted) SensitivityAt(dst []float64, t float64) {
	node, w, _ := a.place(t)
	clear(dst)
	for i := range w {
		by := a.by[(node+i)*a.q*a.k:]
		for j := range a.q {
			for k, d := range by[j*a.k : (j+1)*a.k] {
				dst[k*a.q+j] += w[i] * d
			}
		}
	}
}
