package matching

import (
	"slices"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/objective"
)

// Shape holds the sizes of smoother and dynamics.
type Shape struct {
	Inputs, States int
	Core           []int          // widths
	Act, CoreEnd   mlp.Activation // of the core; of its last layer
	D, F           int            // smoother features and random features of a channel
	Exact          bool           // the exact kernel instead of random features
	Basis          feature.Basis
	Gated          bool // the prediction starts at the state that it is asked from
	ZeroMean       bool // no learned prior mean
	DynamicsInputs int
	Dynamics       []int // widths of the hidden layers
	DynAct         mlp.Activation
	NoiseKnots     int
}

// Draw returns the parameters that training starts from. The noise is zero.
func (s *Shape) Draw(rng mlp.Normal) *objective.Params {
	acts := slices.Repeat([]mlp.Activation{s.Act}, len(s.Core))
	acts[len(acts)-1] = s.CoreEnd
	F := s.F
	if s.Exact {
		F = 0
	}
	m := feature.NewMap(s.Inputs, s.States, s.D, F, s.Core, acts, s.Basis, s.Gated)
	m.Core.Glorot(rng)
	m.Head.Glorot(rng)
	if s.ZeroMean {
		ClearMean(&m)
	}
	m.DrawOmega(rng)
	return objective.Bind(m, NewNet(s.DynamicsInputs, s.Dynamics, 2*s.States, s.DynAct, rng), s.NoiseKnots)
}

// NewNet draws a net with hidden layers of the given widths and activation, and a linear
// last layer.
func NewNet(in int, hidden []int, out int, act mlp.Activation, rng mlp.Normal) mlp.Net {
	acts := append(slices.Repeat([]mlp.Activation{act}, len(hidden)), mlp.Linear)
	net := mlp.New(slices.Concat([]int{in}, hidden, []int{out}), acts)
	net.Glorot(rng)
	return net
}

// ClearMean sets the head's columns of the prior mean to zero.
func ClearMean(m *feature.Map) {
	h := &m.Head.Layers[0]
	for r := range h.In {
		clear(h.W[r*h.Out : r*h.Out+m.K])
	}
	clear(h.B[:m.K])
}
