package paper

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/trainer/posterior"
)

// posteriors are the conditioned posteriors of all channels of a fit with random
// features.
type posteriors struct {
	sums []*posterior.Sum
}

// rowsAtOnce is how many rows are conditioned or predicted at a time.
const rowsAtOnce = 256

// condition returns the posterior given all rows of the batch; nil where it
// cannot be computed.
func (f *Fit) condition() *posteriors {
	p, b := f.Params, f.batch
	K, N := p.Map.K, b.Obs.N
	eval := feature.NewEval(&p.Map, N)
	p.Map.Forward(eval, b.Obs, false)
	out := &posteriors{}
	phi := feature.NewPhi(&p.Map, N)
	for k := range K {
		p.Map.RandomFeatures(phi, eval, k)
		r, prec := f.residuals(eval, k)
		s := posterior.NewSum(p.Map.Features(), max(N, rowsAtOnce))
		s.Reset()
		s.Add(phi.Phi, N, r, prec)
		if !s.Solve() {
			return nil
		}
		out.sums = append(out.sums, s)
	}
	return out
}

// residuals returns what the prior mean leaves of the observations of channel k, and
// their precisions; 0 where nothing was measured.
func (f *Fit) residuals(eval *feature.Eval, k int) (r, prec []float64) {
	p, b := f.Params, f.batch
	K, N := p.Map.K, b.Obs.N
	r, prec = make([]float64, N), make([]float64, N)
	for i := range N {
		y := b.Y[i*K+k]
		if math.IsNaN(y) {
			continue
		}
		mu, _ := p.Map.Mu(eval, i, k)
		r[i] = y - mu
		ls := 0.0
		for q := range noiseKnots {
			ls += b.Noise[i*noiseKnots+q] * p.LogSigma[k*noiseKnots+q]
		}
		prec[i] = math.Exp(-2 * ls)
	}
	return r, prec
}
