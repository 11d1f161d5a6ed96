package paper

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/numeric/ode"
)

// Rollout integrates the fit's dynamics with one ε for the whole trajectory,
//
//	dx/dt = f(x) + ε·sD(x)
//
// and writes the state at times (rising) after x0 to dst (len(times)×K, raw units).
// eps (K) is a draw from N(0, I). ok is false where it does not stay finite.
func (f *Fit) Rollout(dst, eps, x0, times []float64) (ok bool) {
	net, in := &f.Params.Dynamics, f.Inputs
	K := len(eps)
	tape := mlp.NewTape(net, 1, false)
	at := make([]float64, len(times))
	for i, t := range times {
		at[i] = in.Standard(t)
	}
	z0 := make([]float64, K)
	in.Lift.Apply(z0, x0)
	d := ode.NewDopri5(K, ode.Config{RTol: 1e-6})
	if !d.Solve(dst, func(dz []float64, _ float64, z []float64) {
		net.Forward(tape, 1, z, nil)
		out := tape.Out()
		for k := range dz {
			s := out[K+k]
			dz[k] = out[k] + eps[k]*(math.Max(s, 0)+math.Log1p(math.Exp(-math.Abs(s))))
		}
	}, z0, in.Standard(0), at) {
		return false
	}
	for i := range dst {
		dst[i] = in.Lift.Mean[i%K] + in.Lift.Std[i%K]*dst[i]
	}
	return true
}
