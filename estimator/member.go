package estimator

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// memberWork is the memory of one member.
type memberWork struct {
	e        *model.Member
	variance bool // whether it gives one
	eval     *feature.Eval
	phi      *feature.Phi
	exact    *exactWork
}

func newMember(e *model.Member, rows int) memberWork {
	w := memberWork{e: e, variance: e.GivesVariance(), eval: feature.NewEval(&e.Map, rows)}
	if x := e.Posterior[0].Exact; x != nil {
		w.exact = newExactWork(e)
	} else {
		w.phi = feature.NewPhi(&e.Map, rows)
	}
	return w
}

// evaluate writes mean (without prior dynamics), v and, if asked for, their derivatives by
// time of one member.
func (p *Predictor) evaluate(w *memberWork, readout Readout, derivative, variance bool) {
	e := &w.e.Map
	for i, t := range p.times {
		p.rows.Fill(i, &p.m.Inputs, e.Gated, e.Basis, t)
	}
	p.posterior(w, readout, derivative, variance)
}

// posterior writes mean, v and their derivatives of one member at the filled rows,
// along the tangent of these.
func (p *Predictor) posterior(w *memberWork, readout Readout, derivative, variance bool) {
	e, K := &w.e.Map, p.m.K
	e.Forward(w.eval, p.rows, derivative)
	post := w.e.At(readout)
	for k := range K {
		if w.exact != nil {
			w.exact.channel(p, w, post, k, derivative, variance)
		} else {
			p.random(w, post, k, derivative, variance)
		}
		for i := range p.times {
			mu, dmu := e.Mu(w.eval, i, k)
			p.mean[i*K+k] += mu
			if derivative {
				p.dmean[i*K+k] += dmu
			}
		}
	}
}

// random writes the posterior's part of channel k, with random features.
func (p *Predictor) random(w *memberWork, post *model.Posterior, k int, derivative, variance bool) {
	e, K := &w.e.Map, p.m.K
	e.RandomFeatures(w.phi, w.eval, k)
	F := e.Features()
	weights := post.Weights[k]
	for i := range p.times {
		phi, dphi := w.phi.Phi[i*F:(i+1)*F], w.phi.DPhi[i*F:(i+1)*F]
		p.mean[i*K+k] = dot(phi, weights)
		if derivative {
			p.dmean[i*K+k] = dot(dphi, weights)
		}
		if !variance {
			continue
		}
		p.v[i*K+k] = squares(post.InverseFactor[k], phi)
		if derivative {
			p.dv[i*K+k] = squares(post.InverseFactor[k], dphi)
		}
		if i == len(p.times)-1 {
			p.ratio += p.v[i*K+k] / math.Max(dot(phi, phi), 1e-300)
		}
	}
}

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
