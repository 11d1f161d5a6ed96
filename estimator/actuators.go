package estimator

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/actuator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/history"
)

// Actuators apply dead time and lag to the input over the horizon and before it, see package actuator. Without
// the whole history they assume that the input at the start was held before. A nil value applies none.
type Actuators struct {
	responses   []actuator.Response // P
	spec        history.Spec
	row         int // numbers of a row of history
	horizon     float64
	out, change *actuator.Output
	whole       bool      // whether the last start had the whole history
	u           []float64 // P
}

// NewActuators returns the Actuators of inputs whose commands have the responses (P), for a history of K states;
// nil if no input has a dead time or a lag.
func NewActuators(responses []actuator.Response, spec history.Spec, K int, horizon float64) *Actuators {
	if !actuator.Acts(responses) {
		return nil
	}
	P := len(responses)
	return &Actuators{responses: responses, spec: spec, row: K + P, horizon: horizon, out: actuator.NewOutput(responses), change: actuator.NewOutput(responses), u: make([]float64, P)}
}

// Start begins with the input u after a history (rows of K+P as in Query.History), and returns the acting input,
// see Acting.
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

// Acting returns the acting input for the input u of the last Start. It is valid until the next call.
func (a *Actuators) Acting(u channel.Command) channel.Signal {
	if a == nil || u == nil {
		return u
	}
	return a.out
}

// Direction begins with a change of the input of the last Start; the input before the start does not change.
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

// Changing returns the change of the acting input for the change du of the last Direction. It is valid until the
// next call.
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

// Share returns the share of a row of the plan in the acting input p, as a mean from one time to another, or at
// one time.
func (a *Actuators) Share(plan *feature.Plan, row, p int, from, to float64) float64 {
	begin, end := plan.Held(row)
	if row == 0 && !a.whole {
		begin = math.Inf(-1)
	}
	return a.responses[p].Share(begin, end, from, to)
}
