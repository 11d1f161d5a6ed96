package planning

import (
	"math"
	"math/rand/v2"
)

// Batch predicts means (N×T×K) of N plans (N×R×P) from a state x (K).
type Batch func(mean []float64, x, plans []float64) (ok bool)

// MPPI plans by draws around the last plan that are averaged by their cost (model predictive
// path integral control; Williams et al. 2017, Information theoretic MPC). It is not safe for
// concurrent use.
type MPPI struct {
	Plan []float64 // R×P, the last plan

	cfg         Config
	batch       Batch
	spread      []float64 // P, standard deviation of a draw
	temperature float64
	rng         *rand.Rand
	plans       []float64 // N×R×P
	mean        []float64 // N×T×K
	cost        []float64 // N
	judge       *Planner  // its cost
}

// NewMPPI takes all memory for so many draws; spread (P) is their standard deviation and
// temperature that of the weights, of the range of the costs.
func NewMPPI(c Config, b Batch, draws int, spread []float64, temperature float64, seed uint64) *MPPI {
	n := c.R * c.P
	m := &MPPI{
		cfg: c, batch: b, spread: spread, temperature: temperature, rng: rand.New(rand.NewPCG(seed, 1)),
		Plan: make([]float64, n), plans: make([]float64, draws*n), mean: make([]float64, draws*c.T*c.K), cost: make([]float64, draws),
		judge: &Planner{cfg: c},
	}
	for i := range m.Plan {
		m.Plan[i] = c.Rest[i%c.P]
	}
	return m
}

// Advance moves the plan on by a share of a row, after its first has been applied for as long.
func (m *MPPI) Advance(share float64) { advance(m.Plan, m.cfg.P, share) }

// Improve improves the plan from a state x (K) towards a reference (T×K). ok is false if a
// prediction is not finite; the plan is then as it was.
func (m *MPPI) Improve(x, reference []float64) (ok bool) {
	c, n := &m.cfg, len(m.Plan)
	for i := range m.plans {
		a, d := i%c.P, 0.0
		if i >= n { // the first draw is the plan itself
			// A draw keeps most of its row before: rows are short against the plant.
			d = m.spread[a] * m.rng.NormFloat64() * math.Sqrt(1-keep*keep)
			if i%n >= c.P {
				d += keep * (m.plans[i-c.P] - m.Plan[i%n-c.P])
			} else {
				d /= math.Sqrt(1 - keep*keep)
			}
		}
		m.plans[i] = min(max(m.Plan[i%n]+d, c.Low[a]), c.High[a])
	}
	if !m.batch(m.mean, x, m.plans) {
		return false
	}
	least, most, size := math.Inf(1), math.Inf(-1), c.T*c.K
	zeros := Prediction{Std: make([]float64, size)}
	for i := range m.cost {
		zeros.Mean = m.mean[i*size : (i+1)*size]
		m.cost[i] = m.judge.cost(&zeros, m.plans[i*n:(i+1)*n], x, reference)
		least, most = min(least, m.cost[i]), max(most, m.cost[i])
	}
	sum := 0.0
	clear(m.Plan)
	for i, v := range m.cost {
		w := math.Exp(-(v - least) / (m.temperature*(most-least) + 1e-12))
		sum += w
		for j := range m.Plan {
			m.Plan[j] += w * m.plans[i*n+j]
		}
	}
	for j := range m.Plan {
		m.Plan[j] /= sum
	}
	return true
}

// keep is the correlation of the draws of two rows that follow each other.
const keep = 0.8
