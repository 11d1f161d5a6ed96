package estimator

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
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
	row := m.K*m.K + 16*m.K + 2*m.Inputs.Dim() + len(m.NoiseKnots)
	for _, set := range [][]model.Member{m.Members, m.Refits} {
		for i := range set {
			e := &set[i].Map
			row += 2*e.Basis.Dim(e.Inputs()) + 2*e.Features() + 2*e.F + width(&e.Core) + width(&e.Head)
		}
	}
	nodes := 0
	for i := range m.Stack {
		for j := range m.Stack[i].Members {
			r := &m.Stack[i].Members[j]
			nodes += int(m.Horizon/r.Step+3) * (2*m.K + 2*r.Lift.Dim() + m.P)
		}
	}
	if bytes := 8 * (row*times + nodes); bytes > maxMemory {
		return fmt.Errorf("predictions at %d times need %d MB of memory, at most %d MB are allowed: set fewer points, or train a smaller model", times, bytes>>20, maxMemory>>20)
	}
	return nil
}

// width returns how many numbers a row takes on a net's tape.
func width(n *mlp.Net) int {
	s := 0
	for i := range n.Layers {
		s += 3 * n.Layers[i].Out
	}
	return s
}

// checkTimes returns the times to predict at, the model's own for nil; an error if
// the model cannot predict there, or not in the memory that a robot has.
func checkTimes(m *model.Model, times []float64) ([]float64, error) {
	if times == nil {
		times = make([]float64, m.Points)
		for i := range times {
			times[i] = m.Horizon * float64(i+1) / float64(m.Points)
		}
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
