package paper

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/feature"
)

// Known is a vector field that is known but for the values of its parameters. A parameter
// is learned as the logarithm of its ratio to the guess: it keeps the guess' sign.
type Known struct {
	F      func(dst, x, p []float64)       // sets dst (K) to dx/dt
	VJP    func(dx, dp, x, p, g []float64) // adds gᵀ ∂f/∂x to dx (K) and gᵀ ∂f/∂p to dp (Q)
	Guess  []float64                       // Q
	Spread []float64                       // Q, standard deviation of log p/guess before anything was measured; 0 = the guess is exact
}

// free returns the parameters that are learned.
func (n *Known) free() []int {
	var out []int
	for q, s := range n.Spread {
		if s > 0 {
			out = append(out, q)
		}
	}
	return out
}

// knownPart adds a known field to a tangent, in standardised states and time.
type knownPart struct {
	*Known
	in       *feature.Inputs
	free     []int     // the parameter of each of the first numbers of theta
	theta    []float64 // the flow's
	p, dp    []float64 // Q
	x, dx, g []float64 // K
}

func newKnownPart(known *Known, in *feature.Inputs, theta []float64) *knownPart {
	v := func(n int) []float64 { return make([]float64, n) }
	K, Q := len(in.Lift.Std), len(known.Guess)
	return &knownPart{Known: known, in: in, free: known.free(), theta: theta, p: v(Q), dp: v(Q), x: v(K), dx: v(K), g: v(K)}
}

// add adds the field at stageZ to f, and with sensitivity its derivatives to dfdz and its
// columns of dfdtheta.
func (n *knownPart) add(t *tangent) {
	mean, std := n.in.Lift.Mean, n.in.Lift.Std
	copy(n.p, n.Guess)
	for i, q := range n.free {
		n.p[q] *= math.Exp(n.theta[i])
	}
	for k := range n.x {
		n.x[k] = mean[k] + std[k]*t.stageZ[k]
	}
	n.F(n.g, n.x, n.p)
	for k, v := range n.g {
		t.f[k] += n.in.TimeStd / std[k] * v
	}
	if !t.sensitivity {
		return
	}
	for k := range t.K {
		clear(n.g)
		clear(n.dx)
		clear(n.dp)
		n.g[k] = n.in.TimeStd / std[k]
		n.VJP(n.dx, n.dp, n.x, n.p, n.g)
		for j, v := range n.dx {
			t.stage.dfdz[k*t.K+j] += v * std[j]
		}
		for i, q := range n.free {
			t.stage.dfdtheta[k*t.dense+i] = n.dp[q] * n.p[q]
		}
	}
}
