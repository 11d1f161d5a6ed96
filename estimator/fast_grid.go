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
	places
	nodes   *places     // where variances are evaluated: places, or those of an interpolation
	between []nodeBlock // of an interpolation: by block of points; none = variances are evaluated at all points
	weights []float32   // of an interpolation: by block [node][Width]
	order   []int       // n: the point of each lane; −1 = a lane that fills up
	points  []float64   // N, s, in order of time

	norm  []float64 // by number of terms: Σ_p τ'²ᵖ at the last point
	scale []float64 // K×n: (d·γ)²
	parts [model.Conditions]gridCondition
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
	g.nodes = &g.places
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
	g.fill(m, c)
	if c.interpolates {
		g.interpolate(m, c)
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
			obs, _ := p.intervals.sensor(k, noise)
			scaleFactor := 1.0
			if table, ok := model.ForCondition(m.ScaleFactor, c); ok {
				scaleFactor = dot(weights, table[k*Q:(k+1)*Q])
			}
			out.networkWeight = append(out.networkWeight, p.networkWeight[c].value[i*K+k]*m.Scale[k]*gate(m, g.times[lane]))
			out.state, out.obs, out.scaleFactor = append(out.state, noise-obs), append(out.obs, obs), append(out.scaleFactor, scaleFactor)
		}
	}
	return out
}
