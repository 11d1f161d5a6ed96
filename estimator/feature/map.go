package feature

import (
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

// Map is the smoother's feature map with its parameters: a core shared by all
// channels, one linear head for the prior means and the features of all of them,
// and the frequencies.
type Map struct {
	K, D, F int
	Core    mlp.Net
	Head    mlp.Net   // one linear layer, core → K means, then K×D features
	Omega   []float64 // F/2×D, row-major; empty for the exact kernel
	LogAmp  []float64 // K×2: a1 of the random features, a2 of the basis (log amplitudes)
	Basis   Basis
	Gated   bool
}

// NewMap returns a map with zero parameters.
func NewMap(inputs, k, d, f int, core []int, acts []mlp.Activation, basis Basis, gated bool) Map {
	widths := append([]int{inputs}, core...)
	out := widths[len(widths)-1]
	return Map{
		K: k, D: d, F: f,
		Core:   mlp.New(widths, acts),
		Head:   mlp.New([]int{out, k + k*d}, []mlp.Activation{mlp.Linear}),
		Omega:  make([]float64, f/2*d),
		LogAmp: make([]float64, 2*k),
		Basis:  basis, Gated: gated,
	}
}

// Inputs returns I, the width of S.
func (m *Map) Inputs() int { return m.Core.In() }

// Features returns the number of features of a channel, random ones and basis.
func (m *Map) Features() int { return m.F + m.Basis.Dim(m.Inputs()) }

// DrawOmega fills Omega with N(0,1).
func (m *Map) DrawOmega(src mlp.Normal) {
	for i := range m.Omega {
		m.Omega[i] = src.NormFloat64()
	}
}

// Eval is the memory of one evaluation of a Map on up to a given number of rows.
type Eval struct {
	Core, Head *mlp.Tape
	Rows       *Rows
}

// NewEval takes the memory for rows rows, with tangents.
func NewEval(m *Map, rows int) *Eval {
	return &Eval{Core: mlp.NewTape(&m.Core, rows, true), Head: mlp.NewTape(&m.Head, rows, true)}
}

// Forward evaluates core and head on the rows, with the tangent if asked for.
// Rows stay referenced by the Eval until the next call.
func (m *Map) Forward(e *Eval, rows *Rows, tangent bool) {
	e.Rows = rows
	var ds, dh []float64
	if tangent {
		ds = rows.DS
	}
	m.Core.Forward(e.Core, rows.N, rows.S, ds)
	if tangent {
		dh = e.Core.DOut()
	}
	m.Head.Forward(e.Head, rows.N, e.Core.Out(), dh)
}

// Mu returns the learned part of the prior mean of channel k at row i and, if
// the tangent was evaluated, its derivative: gate·net and its product rule.
func (m *Map) Mu(e *Eval, i, k int) (mu, dmu float64) {
	o := i*m.Head.Out() + k
	v := e.Head.Out()[o]
	mu = e.Rows.Gate[i] * v
	if e.Core.DX != nil {
		dmu = e.Rows.DGate[i]*v + e.Rows.Gate[i]*e.Head.DOut()[o]
	}
	return mu, dmu
}

// Z returns the smoother features of channel k at row i (D) and their
// derivative, as views.
func (m *Map) Z(e *Eval, i, k int) (z, dz []float64) {
	o := i*m.Head.Out() + m.K + k*m.D
	z = e.Head.Out()[o : o+m.D]
	if e.Core.DX != nil {
		dz = e.Head.DOut()[o : o+m.D]
	}
	return z, dz
}
