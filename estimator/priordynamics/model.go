// Package priordynamics holds the prior dynamics, to which the learned model adds: a
// difference equation of the robot with few parameters, rolled out from the measured
// state.
//
//	v = (lift(x), ū) standardised      x⁺ = x + Wᵀ ψ(v) + s∘net(v)      ψ = monomials of v up to a degree
//
// A periodic channel enters as sine and cosine and is integrated as an angle, so a
// pendulum's equation is linear in ψ even at degree 1, and a velocity's integral
// moves the position. Between the steps the state follows a parabola, see [Rollout].
//
// It resembles dynamic mode decomposition with control on lifted coordinates (Proctor,
// Brunton & Kutz 2016), but the increment of the state is regressed, not its lifting.
//
// The net is optional: it learns what the monomials leave, and is trained through
// roll-outs. Where the states are declared to be those of a rigid body, its kinematic relations
// add to the learned increment, see [Body]; where they are those of a planar chain of
// links, its equation of motion adds to it, see [Chain]; that of any other robot is of package motion.
package priordynamics

import (
	"errors"
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/motion"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

// Model is a difference equation.
type Model struct {
	Step      float64         // s, > 0
	Degree    int             // 1, 2 or 3; 0 = there is no model
	Lift      channel.Lift    // K states → L standardised coordinates
	UMean     []float64       // P
	UStd      []float64       // P, > 0
	Bound     []float64       // L+P: |v| is clamped to it, which bounds the monomials outside of the data
	Ellipsoid Ellipsoid       // (optional) L+P: bounds v together
	Weights   []float64       // N×K row-major, state units for a step
	Body      Body            // (optional) kinematic relations, which the weights add to
	Chain     Chain           // (optional) equation of motion, which the weights add to
	Motion    motion.Equation // (optional) equation of motion in place of the kinematic relations, which the weights add to

	Net      mlp.Net   // (optional) L+P → K, adds to the increment; no layers = there is none
	NetScale []float64 // K, s: state units of a step for a unit of the net's output; none without a net
}

// Terms returns N, the number of monomials: 1, every coordinate, every product
// of two (degree 2), and every product of three lifted states (degree 3: an
// input enters at most squared, which keeps their number down).
func (m *Model) Terms() int { return terms(m.Lift.Dim(), len(m.UMean), m.Degree) }

func terms(L, P, degree int) int {
	n := L + P
	t := 1 + n
	if degree >= 2 {
		t += n * (n + 1) / 2
	}
	if degree >= 3 {
		t += L * (L + 1) * (L + 2) / 6
	}
	return t
}

// MaxTerms bounds the monomials of a model.
const MaxTerms = 1024

// Check returns what contradicts itself for K states and P inputs, or nil.
func (m *Model) Check(k, p int) error {
	n := m.Lift.Dim() + p
	switch {
	case m.Degree < 1 || m.Degree > 3:
		return fmt.Errorf("degree %d is outside 1…3", m.Degree)
	case !(m.Step > 0) || math.IsInf(m.Step, 0):
		return fmt.Errorf("step %v s must be positive", m.Step)
	case len(m.UMean) != p || len(m.UStd) != p:
		return fmt.Errorf("%d and %d scalers of %d inputs", len(m.UMean), len(m.UStd), p)
	case len(m.Bound) != n:
		return fmt.Errorf("%d bounds, expected %d", len(m.Bound), n)
	case m.Terms() > MaxTerms:
		return fmt.Errorf("%d terms, at most %d", m.Terms(), MaxTerms)
	case len(m.Weights) != m.Terms()*k:
		return fmt.Errorf("%d weights, expected %d", len(m.Weights), m.Terms()*k)
	}
	if err := m.Body.Check(k); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	if err := m.Chain.Check(k, p); err != nil {
		return fmt.Errorf("chain: %w", err)
	}
	if err := m.Motion.Check(k, p); err != nil {
		return fmt.Errorf("motion: %w", err)
	}
	if !m.Motion.Empty() && !(m.Chain.Empty() && m.Body.Empty()) {
		return errors.New("motion: it stands in place of body and chain")
	}
	if err := m.checkNet(n, k); err != nil {
		return err
	}
	for _, v := range m.UStd {
		if !(v > 0) {
			return fmt.Errorf("scaler %v of an input must be positive", v)
		}
	}
	for _, v := range m.Bound {
		if !(v > 0) {
			return fmt.Errorf("bound %v must be positive", v)
		}
	}
	if err := m.Ellipsoid.check(n); err != nil {
		return err
	}
	for _, s := range [][]float64{m.UMean, m.UStd, m.Bound, m.Ellipsoid, m.Weights, m.NetScale} {
		for i, v := range s {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("number %d is %v", i, v)
			}
		}
	}
	return nil
}

// checkNet returns what contradicts itself in the net from n to k numbers, or nil.
func (m *Model) checkNet(n, k int) error {
	if !m.hasNet() {
		n, k = 0, 0
	} else if last := len(m.Net.Layers) - 1; last == 0 || m.Net.Layers[last].Act != mlp.Linear {
		return fmt.Errorf("net: %d layers, the last with activation %d: expected at least two, the last linear", last+1, m.Net.Layers[last].Act)
	} else if m.Net.In() != n || m.Net.Out() != k {
		return fmt.Errorf("net: from %d to %d numbers, expected %d to %d", m.Net.In(), m.Net.Out(), n, k)
	}
	if len(m.NetScale) != k {
		return fmt.Errorf("net_scale: %d numbers, expected %d", len(m.NetScale), k)
	}
	return nil
}

// Coordinates writes the standardised coordinates of state x (K) and mean input u (P), bounded each and together, to v (L+P) and, unless
// nil, the derivatives of them by their channels to slope (L+P): 0 where a coordinate is clamped. Where the ellipsoid bounds them,
// its tangent or adjoint is missing in these.
func (m *Model) Coordinates(v, slope, x, u []float64) {
	L := m.Lift.Dim()
	if slope != nil {
		m.Lift.Derivative(slope[:L], x)
		for p, std := range m.UStd {
			slope[L+p] = 1 / std
		}
	}
	m.Bounded(v, slope, x, u)
	if len(m.Ellipsoid) == 0 {
		return
	}
	if s := m.Ellipsoid.enter(v); s < 1 {
		for i := range slope {
			slope[i] *= s
		}
	}
}

// Bounded writes the coordinates of Coordinates, as far as each is bounded by itself, and sets the slope of those that are clamped to 0.
func (m *Model) Bounded(v, slope, x, u []float64) {
	L := m.Lift.Dim()
	m.Lift.Apply(v[:L], x)
	for p, c := range u {
		v[L+p] = (c - m.UMean[p]) / m.UStd[p]
	}
	for i, b := range m.Bound {
		if v[i] > b || v[i] < -b {
			v[i] = math.Copysign(b, v[i])
			if slope != nil {
				slope[i] = 0
			}
		}
	}
}

// BoundedInput sets the coordinates v (L+P) of mean input u (P), as Bounded.
func (m *Model) BoundedInput(v, u []float64) {
	L := len(v) - len(u)
	for p, c := range u {
		b := m.Bound[L+p]
		v[L+p] = max(-b, min((c-m.UMean[p])/m.UStd[p], b))
	}
}

// apply writes Wᵀ·psi to dst (K).
func (m *Model) apply(dst, psi []float64) {
	clear(dst)
	k, j := len(dst), 0
	for ; j+4 <= len(psi); j += 4 { // the same sums, with a quarter of the loads
		w, c := m.Weights[j*k:(j+4)*k], (*[4]float64)(psi[j:])
		w0, w1, w2, w3 := w[:k], w[k:2*k], w[2*k:3*k], w[3*k:]
		for i, d := range dst {
			d += w0[i] * c[0]
			d += w1[i] * c[1]
			d += w2[i] * c[2]
			d += w3[i] * c[3]
			dst[i] = d
		}
	}
	for ; j < len(psi); j++ {
		for i, w := range m.Weights[j*k : (j+1)*k] {
			dst[i] += w * psi[j]
		}
	}
}

// Monomials writes ψ(v) to psi (N).
func (m *Model) Monomials(psi, v []float64) {
	psi[0] = 1
	o := 1 + copy(psi[1:], v)
	if m.Degree >= 2 {
		for i, a := range v {
			for _, b := range v[i:] {
				psi[o] = a * b
				o++
			}
		}
	}
	if m.Degree >= 3 {
		x := v[:m.Lift.Dim()]
		for i, a := range x {
			for j := i; j < len(x); j++ {
				ab := a * x[j]
				for _, c := range x[j:] {
					psi[o] = ab * c
					o++
				}
			}
		}
	}
}

// JVP writes ∂ψ/∂v · dv to dpsi (N).
func (m *Model) JVP(dpsi, v, dv []float64) {
	dpsi[0] = 0
	o := 1 + copy(dpsi[1:], dv)
	if m.Degree >= 2 {
		for i, a := range v {
			for j := i; j < len(v); j++ {
				dpsi[o] = dv[i]*v[j] + a*dv[j]
				o++
			}
		}
	}
	if m.Degree >= 3 {
		x := v[:m.Lift.Dim()]
		for i, a := range x {
			for j := i; j < len(x); j++ {
				ab, dab := a*x[j], dv[i]*x[j]+a*dv[j]
				for k := j; k < len(x); k++ {
					dpsi[o] = dab*x[k] + ab*dv[k]
					o++
				}
			}
		}
	}
}

// Adjoint adds ∂(psibar·ψ)/∂v to vbar (L+P).
func (m *Model) Adjoint(vbar, v, psibar []float64) {
	for i := range v {
		vbar[i] += psibar[1+i]
	}
	o := 1 + len(v)
	if m.Degree >= 2 {
		for i, a := range v {
			for j := i; j < len(v); j++ {
				vbar[i] += psibar[o] * v[j]
				vbar[j] += psibar[o] * a
				o++
			}
		}
	}
	if m.Degree >= 3 {
		x := v[:m.Lift.Dim()]
		for i, a := range x {
			for j := i; j < len(x); j++ {
				for k := j; k < len(x); k++ {
					p := psibar[o]
					vbar[i] += p * x[j] * x[k]
					vbar[j] += p * a * x[k]
					vbar[k] += p * a * x[j]
					o++
				}
			}
		}
	}
}
