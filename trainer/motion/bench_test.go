package motion

import (
	"testing"

	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/priordynamics/paths"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// BenchmarkGather sets up the normal equations of a multirotor's parameters, of 64 windows of 25 steps.
func BenchmarkGather(b *testing.B) {
	i := 3
	flights := robots[i].fly(1, 0.01)
	task := window.Task{States: robots[i].states, Inputs: len(robots[i].inputs), Horizon: 0.5}
	e := Propose(task.States, robots[i].inputs, &priordynamics.Body{})[0]
	e.Bound = bounds(flights, len(task.States), task.Inputs, &e)
	f := newProblem(&e, paths.Gather(&priordynamics.Body{}, flights, task, 0.02, 25, few), noises(flights, len(task.States)))
	f.theta = make([]float64, f.m)
	msq, _ := f.errors(f.theta, f.delta)
	for b.Loop() {
		f.gather(f.theta, f.delta, msq)
	}
}
