package queries

import (
	"math"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/internal/prediction"
	"github.com/dgm-robotics/dgm/estimator/numeric/ode"
)

// sampler draws trajectories of the learned vector field: dx/dt = f(x, u) + ε·sD(x,
// u), ε standard normal for each channel, once for a trajectory. It is solved by
// the classical Runge-Kutta method in steps of a fiftieth of the horizon at most; a
// step ends at each time that is asked for and where the input changes.
type sampler struct {
	model  *model.Model
	solver *ode.RK4
	slope  ode.Func // under input u, with eps

	eps, x, sD []float64
	u          []float64
}

// stepsPerHorizon bounds the length of a step.
const stepsPerHorizon = 50

func newSampler(d *prediction.Dynamics, m *model.Model) *sampler {
	s := &sampler{model: m, solver: ode.NewRK4(m.K), eps: make([]float64, m.K), x: make([]float64, m.K), sD: make([]float64, m.K)}
	s.slope = func(dst []float64, _ float64, x []float64) {
		d.At(dst, s.sD, x, s.u)
		for k := range dst {
			dst[k] += s.eps[k] * s.sD[k]
		}
	}
	return s
}

// draw writes a trajectory at the times (T×K) to dst. held is the input without a
// plan. ok is false where it does not stay finite.
func (s *sampler) draw(dst, times []float64, q *estimator.Query, held []float64, seed, question, number uint64) (ok bool) {
	m := s.model
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
	t, finite := 0., true
	for i, until := range times {
		for t < until {
			h := min(most, until-t)
			s.u = held
			if !math.IsInf(block, 1) {
				row := int(t/block + 1e-9)
				h = min(h, float64(row+1)*block-t)
				s.u = q.Plan[min(row, len(q.Plan)/m.P-1)*m.P:][:m.P]
			}
			if t+h >= until-1e-12*m.Horizon {
				h, t = until-t, until
			} else {
				t += h
			}
			finite = s.solver.Advance(s.slope, s.x, 0, h, 1)
		}
		copy(dst[i*m.K:(i+1)*m.K], s.x)
	}
	return finite
}
