package estimator

import (
	"fmt"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// maxMemory is the most that New allocates, bytes. A file of a few kilobytes, within
// all limits of the format, can ask for far more than a robot has.
const maxMemory = 1 << 30

// affordable returns an error if the memory for predictions at the given number
// of times, or at those of a self-check, is beyond maxMemory.
func affordable(m *model.Model, times int) error {
	for i := range m.Checks {
		times = max(times, len(m.Checks[i].Times))
	}
	if bytes := plainMemory(m, times); bytes > maxMemory {
		return fmt.Errorf("predictions at %d times need %d MB of memory, at most %d MB are allowed: set fewer points, or train a smaller model", times, bytes>>20, maxMemory>>20)
	}
	return nil
}

// Memory returns approximately how many bytes the Fasts of one model allocate, one Fast for each of the given
// numbers of times. They share the data that depend on the model alone.
func Memory(m *model.Model, times ...int) int64 {
	bytes := compiledMemory(m)
	for _, n := range times {
		bytes += plainMemory(m, n)
		if fast := fastMemory(m, n); fast <= maxMemory { // else the Predictor evaluates these times
			bytes += fast
		}
	}
	return bytes
}

// plainMemory returns about how many bytes a Predictor at so many times allocates.
func plainMemory(m *model.Model, times int) int64 {
	row := m.K*m.K + 16*m.K + 2*m.Inputs.Dim() + len(m.NoiseKnots)
	for member := range m.All() {
		e := &member.Map
		row += 2*e.Basis.Dim(e.Inputs()) + 2*e.Features() + 2*e.F + 3*(units(&e.Core)+units(&e.Head))
	}
	nodes := int64(0)
	for i := range m.Stack {
		for j := range m.Stack[i].Members {
			r := &m.Stack[i].Members[j]
			nodes += int64(m.Horizon/r.Step+3) * int64(2*m.K+2*r.Lift.Dim()+m.P)
		}
	}
	return 8 * (int64(row)*int64(times) + nodes)
}

// fastMemory returns about how many bytes a Fast at so many times allocates, beside those of
// its Predictor and those of what depends on the model alone.
func fastMemory(m *model.Model, times int) int64 {
	K, L, powers, members := m.K, m.Inputs.Lift.Dim(), 2, 0
	for member := range m.All() {
		e := &member.Map
		powers = max(powers, e.Basis.Terms)
		members += K*(2+e.D) + e.F - e.Head.Out() + units(&e.Core) + units(&e.Head)
	}
	row := members + K*L + 24*K + (powers+K)*(1+m.Inputs.Knots*m.P) // in pairs of single numbers
	fixed := int64(0)
	for i := range m.Stack {
		row += 8 * K
		for j := range m.Stack[i].Members {
			e := &m.Stack[i].Members[j]
			own := 3*K + e.Lift.Dim() + m.P + e.Terms()
			row += 2*own + 8
			fixed += int64(m.Horizon/e.Step+4) * int64(own+K*(e.Lift.Dim()+K+2*m.P)+(K+simd.Rows)*(2*K+m.P+2*simd.Width))
		}
		if m.Stack[i].Kind == model.Direct {
			fixed += m.Stack[i].Direct.BatchedSize(times + 2*simd.Width)
		}
	}
	row += mostNodes / 2 // weights of an interpolation
	fixed += int64(mostNodes * K * (K + simd.Rows) / 2)
	return 8 * (fixed + int64(row)*int64(times+2*simd.Width+mostNodes))
}

// compiledMemory returns about how many bytes the compiled form of a model has: its nets in
// both directions, and the factor of each channel, in single precision; and once, in double
// precision, the matrix that such a factor is made from.
func compiledMemory(m *model.Model) int64 {
	singles, doubles := int64(0), int64(0)
	for member := range m.All() {
		e := &member.Map
		for _, l := range slices.Concat(e.Core.Layers, e.Head.Layers) {
			singles += 2 * int64(len(l.W))
		}
		if F, B := int64(e.F), int64(e.Features()-e.F); member.GivesVariance() {
			singles += int64(len(member.Posterior)*m.K) * (F*F/2 + 2*B*(F+B))
			doubles = max(doubles, (F+B)*(F+B))
		}
	}
	return 4*singles + 8*doubles
}

// units returns the number of outputs of all layers of a net.
func units(n *mlp.Net) (sum int) {
	for i := range n.Layers {
		sum += n.Layers[i].Out
	}
	return sum
}

// checkTimes returns the times to predict at, the model's own for nil; an error if
// the model cannot predict there, or not in the memory that a robot has.
func checkTimes(m *model.Model, times []float64) ([]float64, error) {
	if times == nil {
		times = m.EqualTimes(m.Points)
	}
	if len(times) == 0 {
		return nil, fmt.Errorf("no times to predict at")
	}
	for i, t := range times {
		if !finite(t) {
			return nil, fmt.Errorf("time %d is %g s; times must be finite", i, t)
		}
		if !(t > 0 && t <= m.Horizon*(1+1e-9)) && m.Displacement {
			return nil, fmt.Errorf("time %d is %g s, outside the model's horizon (0, %g] s", i, t, m.Horizon)
		}
	}
	return times, affordable(m, len(times))
}
