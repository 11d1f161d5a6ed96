package estimator

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// grid holds what depends on a model and the times together. Points are in order of
// time, sixteen to a block; the last block is filled up with its last point. N points
// take n places, n being a multiple of Width.
type grid struct {
	order  []int       // n: the point of each lane; −1 = a lane that fills up
	times  []float64   // n, s
	points []float64   // N, s, in order of time
	last   int         // lane of the caller's last time
	blocks []gridBlock // of Width points
	powers []float32   // [block][power][Width] of τ'
	rows   int         // rows of varying knots, of all blocks

	norm  []float64 // by number of terms: Σ_p τ'²ᵖ at the last point
	scale []float64 // K×n: (d·γ)²
	parts [model.Conditions]gridCondition
}

// gridBlock is the range of knots that vary within a block: those before are over for
// all of its points, those behind have not begun.
type gridBlock struct {
	from, to int // knots
	row      int // the first of its rows of varying knots
}

// gridCondition holds what scales the ensemble of one condition, K×n each.
type gridCondition struct {
	networkWeight []float64 // η·d·γ
	state         []float64 // σ²d² − r
	obs           []float64 // r: variance of a measurement
	scaleFactor   []float64 // calibration factor
}

func newGrid(p *Predictor, c *compiled) *grid {
	m, N := p.m, len(p.times)
	g := &grid{}
	sorted := make([]int, N)
	for i := range sorted {
		sorted[i] = i
	}
	slices.SortStableFunc(sorted, func(a, b int) int {
		switch {
		case p.times[a] < p.times[b]:
			return -1
		case p.times[a] > p.times[b]:
			return 1
		}
		return 0
	})
	n := (N + simd.Width - 1) / simd.Width * simd.Width
	source := make([]int, n) // of each lane, including those that fill up
	for i := range n {
		source[i] = sorted[min(i, N-1)]
		g.times = append(g.times, p.times[source[i]])
		if i < N {
			g.order = append(g.order, sorted[i])
			g.points = append(g.points, g.times[i])
		} else {
			g.order = append(g.order, -1)
		}
	}
	g.last = slices.Index(g.order, N-1)
	for i := 0; i < n; i += simd.Width {
		g.block(m, c, g.times[i:i+simd.Width])
	}
	for terms := range c.powers + 1 {
		sum := 0.0
		for q := range terms {
			sum += math.Pow(m.Inputs.Standard(g.times[g.last]), float64(2*q))
		}
		g.norm = append(g.norm, sum)
	}
	for k := range m.K {
		for _, t := range g.times {
			s := m.Scale[k] * gate(m, t)
			g.scale = append(g.scale, s*s)
		}
	}
	for r := range g.parts {
		g.parts[r] = newGridCondition(p, g, model.Condition(r), source)
	}
	return g
}

// gate returns γ.
func gate(m *model.Model, t float64) float64 {
	if m.Displacement {
		return t / m.Horizon
	}
	return 1
}

// block adds a block of points at the given times.
func (g *grid) block(m *model.Model, c *compiled, times []float64) {
	for q := range c.powers {
		for _, t := range times {
			g.powers = append(g.powers, simd.Single(math.Pow(m.Inputs.Standard(t), float64(q))))
		}
	}
	b := gridBlock{row: g.rows}
	if !m.Inputs.Causal {
		b.from, b.to = m.Inputs.Knots, m.Inputs.Knots
	} else {
		length := m.Horizon / float64(m.Inputs.Knots)
		for b.from < m.Inputs.Knots && float64(b.from+1)*length <= times[0] {
			b.from++
		}
		for b.to = b.from; b.to < m.Inputs.Knots && float64(b.to)*length < times[len(times)-1]; {
			b.to++
		}
	}
	g.rows += (b.to - b.from) * m.P
	g.blocks = append(g.blocks, b)
}

func newGridCondition(p *Predictor, g *grid, c model.Condition, source []int) gridCondition {
	m, K, Q := p.m, p.m.K, len(p.m.NoiseKnots)
	var out gridCondition
	for k := range K {
		for lane, i := range source {
			weights, d2 := p.noise[i*Q:(i+1)*Q], m.Scale[k]*m.Scale[k]
			noise := 0.0
			for e := range m.Members {
				noise += math.Exp(2 * dot(weights, m.Members[e].At(c.Readout()).LogSigma[k*Q:(k+1)*Q]))
			}
			noise *= d2 / float64(len(m.Members))
			state, obs := 0.0, noise
			if m.Displacement {
				obs = math.Min(m.Sensor[k], noise)
				state = noise - obs
			}
			scaleFactor := 1.0
			if table, ok := model.ForCondition(m.ScaleFactor, c); ok {
				scaleFactor = dot(weights, table[k*Q:(k+1)*Q])
			}
			out.networkWeight = append(out.networkWeight, p.networkWeight[c].value[i*K+k]*m.Scale[k]*gate(m, g.times[lane]))
			out.state, out.obs, out.scaleFactor = append(out.state, state), append(out.obs, obs), append(out.scaleFactor, scaleFactor)
		}
	}
	return out
}
