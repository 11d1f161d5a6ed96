package estimator

import (
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// exactWork is the memory for a member with the exact kernel.
type exactWork struct {
	points []feature.ExactPoint // N, the conditioned observations, of one channel at a time
	k, dk  []float64            // N
}

func newExactWork(e *model.Member) *exactWork {
	n := 0
	for i := range e.Posterior {
		n = max(n, e.Posterior[i].Exact.N)
	}
	return &exactWork{points: make([]feature.ExactPoint, n), k: make([]float64, n), dk: make([]float64, n)}
}

// channel writes the posterior's part of channel k. A variance is the prior's minus what
// the observations explain. Rounding can make it negative near an observation; its lower
// bound is 10⁻¹² of the prior's, the resolution of double precision.
func (x *exactWork) channel(p *Predictor, w *memberWork, post *model.Posterior, k int, derivative, variance bool) {
	m, e, K := &w.e.Map, w.eval, p.m.K
	data, Q := post.Exact, m.Basis.Dim(m.Inputs())
	for j := range data.N {
		x.points[j] = feature.ExactPoint{Z: data.Z[k][j*m.D : (j+1)*m.D], Gate: data.Gate[j], B: data.B[j*Q : (j+1)*Q]}
	}
	for i := range p.times {
		at := m.Exact(e, i, k)
		for j := range data.N {
			x.k[j], x.dk[j] = m.Covariance(k, &at, &x.points[j])
		}
		kk, dk := x.k[:data.N], x.dk[:data.N]
		p.mean[i*K+k] = dot(kk, post.Weights[k])
		if derivative {
			p.dmean[i*K+k] = dot(dk, post.Weights[k])
		}
		if !variance {
			continue
		}
		prior, dprior := m.PriorVariance(k, &at)
		p.v[i*K+k] = explained(prior, squares(post.InverseFactor[k], kk))
		if derivative {
			p.dv[i*K+k] = explained(dprior, squares(post.InverseFactor[k], dk))
		}
		if i == len(p.times)-1 {
			p.ratio += p.v[i*K+k] / prior
		}
	}
}

// explained returns prior − known, at least the resolution of the difference.
func explained(prior, known float64) float64 {
	return max(prior-known, 1e-12*prior)
}
