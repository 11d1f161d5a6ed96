package paper

import (
	"math"
)

// Known is a vector field that is known but for the values of its parameters. The
// caller hands it over as a value.
//
// A parameter is learned as the logarithm of what it is over the guess: it keeps the
// guess' sign, and a prior says by how much a guess may be wrong.
type Known struct {
	F      func(dst, x, p []float64)       // sets dst (K) to dx/dt
	VJP    func(dx, dp, x, p, g []float64) // adds gᵀ ∂f/∂x to dx (K) and gᵀ ∂f/∂p to dp (Q)
	Guess  []float64                       // Q
	Spread []float64                       // Q, standard deviation of log p/guess before anything was measured; 0 = the guess is right
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
	of        []int     // the parameter of each of the first numbers of theta
	theta     []float64 // the flow's
	time      float64   // s for one unit of standardised time
	shift, by []float64 // K: x = shift + by·z
	p, dp     []float64 // Q
	x, dx, g  []float64 // K
}

// add adds the field at zs to f, and with sensitivity its derivatives to fz and its
// columns of F.
func (n *knownPart) add(t *tangent) {
	copy(n.p, n.Guess)
	for i, q := range n.of {
		n.p[q] *= math.Exp(n.theta[i])
	}
	for k := range n.x {
		n.x[k] = n.shift[k] + n.by[k]*t.zs[k]
	}
	n.F(n.g, n.x, n.p)
	for k, v := range n.g {
		t.f[k] += n.time / n.by[k] * v
	}
	if !t.sensitivity {
		return
	}
	for k := range t.K {
		clear(n.g)
		clear(n.dx)
		clear(n.dp)
		n.g[k] = n.time / n.by[k]
		n.VJP(n.dx, n.dp, n.x, n.p, n.g)
		for j, v := range n.dx {
			t.at.fz[k*t.K+j] += v * n.by[j]
		}
		for i, q := range n.of {
			t.at.F[k*t.dense+i] = n.dp[q] * n.p[q]
		}
	}
}
