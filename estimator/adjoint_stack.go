package estimator

import (
	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// stackAdjoint carries adjoints of the displacements of a stack at N times back to its
// components.
type stackAdjoint struct {
	components []componentAdjoint
	first, own []float64 // N×K: by the displacements of the first component, of another
	start      []float64 // P: by the input at the start

	weights, difference []float64            // N×K, of one component; see at
	ranges              []direct.RangeFactor // N
}

// componentAdjoint adds the gradient of Σ bars·displacement of a component (bars N×K) by the
// start state to xbar (K), and passes that by the input to input.
type componentAdjoint func(xbar, bars []float64, input priordynamics.InputAdjoint)

func newStackAdjoint(p *Predictor) stackAdjoint {
	n := len(p.times) * p.m.K
	return stackAdjoint{first: make([]float64, n), own: make([]float64, n), start: make([]float64, p.m.P), ranges: make([]direct.RangeFactor, len(p.times))}
}

// tables takes the memory of at for n numbers.
func (s *stackAdjoint) tables(n int) {
	s.weights, s.difference = make([]float64, n), make([]float64, n)
}

// at returns the weights of component i at times, without its fade, and its displacements less
// those of the first; nil = weight 0. It sets ranges.
func (s *stackAdjoint) at(b *PriorDynamics, i int, times []float64) (weights, difference []float64) {
	table := b.weights[i]
	if table == nil {
		return nil, nil
	}
	K, Q := len(b.x0), len(b.knots)
	for n, t := range times {
		b.setKnots(t, false)
		s.ranges[n] = b.ranges
		b.components[0].at(b.first, nil, t)
		b.components[i].at(b.other, nil, t)
		for k := range K {
			s.weights[n*K+k] = dot(b.knots, table[k*Q:(k+1)*Q])
			s.difference[n*K+k] = b.other[k] - b.first[k]
		}
	}
	return s.weights, s.difference
}

// run adds to dst what the displacements contribute, whose adjoints are bars (N×K); of returns
// weights and differences of a component, and sets ranges, as at.
func (s *stackAdjoint) run(dst *Gradient, b *PriorDynamics, bars []float64, of func(i int) (weights, difference []float64)) {
	if len(s.components) == 0 {
		return
	}
	copy(s.first, bars)
	for i := 1; i < len(s.components); i++ {
		weights, difference := of(i)
		factor, fade := b.fade.factor[i], 0.0
		if weights == nil || factor == 0 {
			continue
		}
		ranged, K := fades(&b.spec.Stack[i]) && b.fade.ranged(), len(dst.X0)
		for n := range len(bars) / K {
			r := direct.RangeFactor{Value: 1}
			if ranged {
				r = s.ranges[n]
			}
			moved := 0.0
			for j := n * K; j < (n+1)*K; j++ {
				bar := bars[j] * weights[j]
				moved += bar * difference[j]
				s.own[j] = factor * r.Value * bar
				s.first[j] -= s.own[j]
			}
			fade += r.Value * moved
			if r.Slope != 0 {
				clear(s.start)
				s.start[r.Input] = factor * r.Slope * moved
				dst.input(s.start, r.From, r.To)
			}
		}
		s.components[i](dst.X0, s.own, dst.input)
		for k, slope := range b.fade.gradient[i] {
			dst.X0[k] += fade * slope
		}
		for p, slope := range b.fade.byInput[i] {
			s.start[p] = fade * slope
		}
		if len(s.start) > 0 {
			dst.input(s.start, 0, 0)
		}
	}
	s.components[0](dst.X0, s.first, dst.input)
}

// adjointOf returns that of a component at times.
func adjointOf(c component, times []float64) componentAdjoint {
	switch c := c.(type) {
	case *equation:
		var members []*priordynamics.Adjoint
		for _, r := range c.members {
			members = append(members, priordynamics.NewAdjoint(r))
		}
		return func(xbar, bars []float64, input priordynamics.InputAdjoint) {
			for _, a := range members {
				a.Run(xbar, times, bars, c.share, input)
			}
		}
	case directMap:
		return func(xbar, bars []float64, input priordynamics.InputAdjoint) {
			for i, t := range times {
				c.Adjoint(xbar, bars[i*len(xbar):(i+1)*len(xbar)], t, input)
			}
		}
	default:
		return c.(*velocity).adjoint(times)
	}
}

func (c *velocity) adjoint(times []float64) componentAdjoint {
	return func(xbar, bars []float64, _ priordynamics.InputAdjoint) {
		for i, t := range times {
			for k, of := range c.of {
				if of >= 0 {
					xbar[of] += t * bars[i*len(xbar)+k]
				}
			}
		}
	}
}

// batchedAdjointOf returns that of a component at all points.
func batchedAdjointOf(c batchedComponent) componentAdjoint {
	switch c := c.(type) {
	case *batchedEquation:
		var members []*priordynamics.BatchedAdjoint
		for _, r := range c.members {
			members = append(members, priordynamics.NewBatchedAdjoint(r))
		}
		return func(xbar, bars []float64, input priordynamics.InputAdjoint) {
			for _, a := range members {
				a.Run(xbar, bars, c.share, input)
			}
		}
	case *batchedDirect:
		a := direct.NewBatchedAdjoint(c.Batched)
		return func(xbar, bars []float64, input priordynamics.InputAdjoint) { a.Run(xbar, bars, input) }
	default:
		v := c.(*batchedVelocity)
		return v.adjoint(v.times)
	}
}
