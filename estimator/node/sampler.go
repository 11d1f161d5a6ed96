package node

import (
	"math"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator"
)

// sampler draws trajectories of the learned vector field: dx/dt = f(x, u) + ε·sD(x,
// u), ε standard normal for each channel, once for a trajectory. It is solved by
// the classical Runge-Kutta method in steps of a fiftieth of the horizon at most,
// beginning anew at the times that are asked for and where the input changes.
type sampler struct {
	d              *dynamics
	eps            []float64
	x, y, f, sD    []float64
	k1, k2, k3, k4 []float64
}

// stepsPerHorizon bounds the length of a step.
const stepsPerHorizon = 50

func newSampler(d *dynamics) *sampler {
	s := &sampler{d: d}
	for _, v := range []*[]float64{&s.eps, &s.x, &s.y, &s.f, &s.sD, &s.k1, &s.k2, &s.k3, &s.k4} {
		*v = make([]float64, d.m.K)
	}
	return s
}

// draw writes a trajectory at the times (T×K) to dst. held is the input without a
// plan. ok is false where it does not stay finite.
func (s *sampler) draw(dst, times []float64, q *estimator.Query, held []float64, seed, question, number uint64) (ok bool) {
	m := s.d.m
	rng := rand.New(rand.NewPCG(seed, question<<32|number))
	for k := range s.eps {
		s.eps[k] = rng.NormFloat64()
	}
	copy(s.x, q.X0)
	most := m.Horizon / stepsPerHorizon
	block := math.Inf(1)
	if m.P > 0 && len(q.Plan) > 0 {
		block = m.Horizon / float64(len(q.Plan)/m.P)
	}
	t := 0.
	for i, until := range times {
		for t < until {
			h := min(most, until-t)
			u := held
			if !math.IsInf(block, 1) {
				row := int(t/block + 1e-9)
				h = min(h, float64(row+1)*block-t)
				u = q.Plan[min(row, len(q.Plan)/m.P-1)*m.P:][:m.P]
			}
			if t+h >= until-1e-12*m.Horizon {
				h, t = until-t, until
			} else {
				t += h
			}
			s.step(h, u)
		}
		copy(dst[i*m.K:(i+1)*m.K], s.x)
	}
	for _, v := range s.x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// step goes on by h under input u.
func (s *sampler) step(h float64, u []float64) {
	slope := func(dst []float64, x []float64) {
		s.d.at(s.f, s.sD, x, u)
		for k := range dst {
			dst[k] = s.f[k] + s.eps[k]*s.sD[k]
		}
	}
	ahead := func(k []float64, h float64) []float64 {
		for i := range s.y {
			s.y[i] = s.x[i] + h*k[i]
		}
		return s.y
	}
	slope(s.k1, s.x)
	slope(s.k2, ahead(s.k1, h/2))
	slope(s.k3, ahead(s.k2, h/2))
	slope(s.k4, ahead(s.k3, h))
	for i := range s.x {
		s.x[i] += h / 6 * (s.k1[i] + 2*s.k2[i] + 2*s.k3[i] + s.k4[i])
	}
}
