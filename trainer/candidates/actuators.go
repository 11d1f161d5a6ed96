package candidates

import (
	"context"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/actuator"
	"github.com/dgm-robotics/dgm/trainer/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// contradicted is the share of the error with a dead time and a lag that an equation without them may have at most, for the flights to
// contradict them.
const contradicted = 0.97

// confirmActuators lets inputs act at once whose dead time and lag make a linear equation worse on blocks of time that it was not fitted to:
// where the equation of a regression does not describe the robot, a late input makes up for what it lacks. Inputs of the same response are judged together.
func (p *Prior) confirmActuators(ctx context.Context, known []window.Flight) {
	if !actuator.Acts(p.set.Actuators) {
		return
	}
	with := p.linearError(ctx, known, p.set.Actuators)
	for _, of := range distinct(p.set.Actuators) {
		without := slices.Clone(p.set.Actuators)
		for i, r := range without {
			if r == of {
				without[i] = actuator.Response{}
			}
		}
		if ctx.Err() != nil {
			return
		}
		if e := p.linearError(ctx, known, without); e < contradicted*with {
			with, p.set.Actuators = e, without
		}
	}
	if !actuator.Acts(p.set.Actuators) {
		p.set.Actuators = nil
	}
}

func (p *Prior) linearError(ctx context.Context, flights []window.Flight, responses []actuator.Response) float64 {
	return priordynamics.LinearError(ctx, window.Acting(flights, responses), p.task, p.body)
}

// distinct returns the responses of inputs that do not act at once, each once.
func distinct(responses []actuator.Response) (out []actuator.Response) {
	for _, r := range responses {
		if r != (actuator.Response{}) && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}
