package estimator

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/actuator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/history"
)

// Actuators make what acts of the input over a horizon and of that before it, see package actuator. Without the whole history the
// input at the start was held before. A nil value is of inputs that act at once.
type Actuators struct {
	responses   []actuator.Response // P
	spec        history.Spec
	row         int // numbers of a row of history
	horizon     float64
	out, change *actuator.Output
	whole       bool      // whether the last start had the whole history
	u           []float64 // P
}

// NewActuators returns those of inputs with responses (P) to the commands that a history of K states has; nil where none acts late.
func NewActuators(responses []actuator.Response, spec history.Spec, K int, horizon float64) *Actuators {
	if !actuator.Acts(responses) {
		return nil
	}
	P := len(responses)
	return &Actuators{responses: responses, spec: spec, row: K + P, horizon: horizon, out: actuator.NewOutput(responses), change: actuator.NewOutput(responses), u: make([]float64, P)}
}

// Start begins with the input u after a history (rows of K+P as in Query.History), and returns what acts of it, see Acting.
func (a *Actuators) Start(u channel.Command, history []float64) channel.Signal {
	if a == nil || u == nil {
		return u
	}
	P := len(a.u)
	a.out.Clear()
	if a.whole = a.spec.Rows() > 0 && len(history) >= a.spec.Rows()*a.row; a.whole {
		for j := a.spec.Rows() - 1; j >= 0; j-- {
			a.out.Hold(-a.spec.Edges[j], history[(j+1)*a.row-P:(j+1)*a.row])
		}
	}
	a.follow(a.out, u)
	return a.out
}

// Acting returns what acts of the input u of the last Start, until the next one.
func (a *Actuators) Acting(u channel.Command) channel.Signal {
	if a == nil || u == nil {
		return u
	}
	return a.out
}

// Direction begins with a change of the input that the last Start had; that before it does not change.
func (a *Actuators) Direction(du channel.Command) {
	if a == nil || du == nil {
		return
	}
	a.change.Clear()
	if clear(a.u); a.whole {
		a.change.Hold(-a.spec.Reach(), a.u)
	}
	a.follow(a.change, du)
}

// Changing returns what acts of the change du of the last Direction, until the next one.
func (a *Actuators) Changing(du channel.Command) channel.Signal {
	if a == nil || du == nil {
		return du
	}
	return a.change
}

// follow adds the steps of a command over the horizon.
func (a *Actuators) follow(out *actuator.Output, u channel.Command) {
	for t := 0.; t == 0 || t < a.horizon; t = u.Next(t) {
		u.At(a.u, t)
		out.Hold(t, a.u)
	}
}

// Add adds the gradient of a number by the mean output from one time to another, or by the output then, to that by the commands: bar
// (P). It counts from the last Start on.
func (a *Actuators) Add(bar []float64, from, to float64) { a.out.Add(bar, from, to) }

// Gradient adds the gradient by the plan of the last Start (rows×P) to dst, after all of Add.
func (a *Actuators) Gradient(dst []float64) {
	if a == nil {
		return
	}
	by := a.out.Gradient()
	if a.whole {
		by = by[a.spec.Rows()*len(a.u):]
	}
	for i, v := range by[:min(len(by), len(dst))] {
		dst[i] += v
	}
}

// Share returns how much of what acts of input p from a to b, or at a, is due to a row of the plan.
func (a *Actuators) Share(plan *feature.Plan, row, p int, from, to float64) float64 {
	begin, end := plan.Held(row)
	if row == 0 && !a.whole {
		begin = math.Inf(-1)
	}
	return a.responses[p].Share(begin, end, from, to)
}
