package estimator

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// mostMemory is what New takes at most, bytes. A file of a few kilobytes, within
// all limits of the format, can ask for far more than any robot has.
const mostMemory = 1 << 30

// affordable returns an error if the memory for predictions at the given number
// of times, or at those of a self-check, is beyond mostMemory.
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
	for _, r := range []*priordynamics.Model{&m.PriorDynamics, &m.Secondary} {
		if r.Degree > 0 {
			nodes += int(m.Horizon/r.Step+3) * (2*m.K + 2*r.Lift.Dim() + m.P)
		}
	}
	if bytes := 8 * (row*times + nodes); bytes > mostMemory {
		return fmt.Errorf("predictions at %d times need %d MB of memory, at most %d are taken: ask for fewer points, or train a smaller model", times, bytes>>20, mostMemory>>20)
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
