package priordynamics

import (
	"context"
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Effort bounds a fit of roll-outs.
type Effort struct {
	Windows    int // that it is fitted to, spread evenly
	Iterations int // of L-BFGS

	// Multiplications of roll-outs, at most about so many: the terms of an equation times states,
	// nodes and windows, three times with the gradient. It counts work, not time: the same data
	// give the same fit on a busy machine. Defaults to mostWork.
	Work float64
}

// mostWork takes half a minute of one core, about.
const mostWork = 2e10

// Fit fits one shape: regression, then shooting, as far as it came when ctx ended.
func Fit(ctx context.Context, flights []window.Flight, task window.Task, shape Shape, e Effort) (*priordynamics.Model, error) {
	m, err := Regress(flights, task, shape)
	if err != nil {
		return nil, err
	}
	nodes := max(1, int(math.Floor(task.Horizon/shape.Step+1e-6)))
	s := gather(flights, task, shape.Step, nodes, e.Windows, &shape.Body)
	if s.N < 10 {
		s = gather(flights, task, shape.Step, nodes, e.Windows, &priordynamics.Body{})
	}
	if s.N < 10 {
		return nil, fmt.Errorf("only %d whole windows of %g s to fit the difference equation to", s.N, task.Horizon)
	}
	if e.Work == 0 {
		e.Work = mostWork
	}
	minimise(m, s, e, func() bool { return ctx.Err() != nil })
	return m, nil
}
