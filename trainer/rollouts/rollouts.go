// Package rollouts predicts by one component of a stack from many starts at once.
package rollouts

import (
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/actuator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/dynamics"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/program"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// lanes is how many starts there are at once.
const lanes = 16

// Rollouts are the displacements by a component from some starts. They are not safe for concurrent use.
type Rollouts struct {
	k         int
	machine   *program.Machine[float64]
	means     *dynamics.Means
	x, out    program.Reg
	actuators *estimator.Actuators
	input     []float64 // P
}

// Spec describes a component and what it predicts.
type Spec struct {
	Component model.Component
	Actuators []actuator.Response // (optional) P
	History   history.Spec        // of starts, for the actuators
	Times     []float64           // T, s after a start
}

// New takes the memory for predictions in a task.
func New(task window.Task, s Spec) *Rollouts {
	K, P := len(task.States), task.Inputs
	m := &model.Model{Channels: task.States, K: K, P: P, Horizon: task.Horizon, Stack: []model.Component{s.Component}, Actuators: s.Actuators}
	code, means := dynamics.CompilePrior(m, dynamics.Spec{Times: s.Times})
	by := make([]string, len(code.Inputs))
	for i, in := range code.Inputs {
		by[i] = in.Name
	}
	return &Rollouts{
		k: K, machine: program.New[float64](code, program.Options{Lanes: lanes, ByLane: by}), means: means, x: code.Inputs[0].Reg, out: code.Outputs[0].Reg,
		actuators: estimator.NewActuators(s.Actuators, s.History, K, task.Horizon), input: make([]float64, P),
	}
}

// Lanes returns how many starts there is room for.
func (r *Rollouts) Lanes() int { return lanes }

// Start sets start lane: the state x0 (K), the input u over the horizon (nil without inputs), and the history.
func (r *Rollouts) Start(lane int, x0 []float64, u channel.Command, history []float64) {
	for k, x := range x0 {
		r.machine.Set(r.x, k, 0, lane, x)
	}
	if u != nil {
		dynamics.SetMeans(r.machine, r.means, lane, u, r.actuators.Start(u, history), r.input)
	}
}

// Run predicts from all starts; what was not set since an earlier Run counts as it was.
func (r *Rollouts) Run() { r.machine.Value() }

// Displacements writes those from the start of a lane at all times to dst (T×K).
func (r *Rollouts) Displacements(dst []float64, lane int) {
	for i := range dst {
		dst[i] = r.machine.Get(r.out, i%r.k, i/r.k, lane)
	}
}
