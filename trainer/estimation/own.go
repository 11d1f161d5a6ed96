package estimation

import (
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Own returns flights, which Apply returned, as a filter estimates them whose equation of motion was matched to others alone,
// train: as the robot will estimate motions that the filter has not seen. Noises stay those of all, a few numbers. Where the
// filter has no equation, or the others do not determine one, the flights stay as they are.
func Own(held, train []window.Flight, spec *model.Filter, task window.Task) ([]window.Flight, error) {
	if spec == nil || spec.Equation.Degree == 0 || len(held) == 0 || len(train) == 0 {
		return held, nil
	}
	var others []window.Flight
	for i := range train {
		others = append(others, train[i].Measured())
	}
	states, err := smooth(others, spec, task.States)
	if err != nil {
		return nil, err
	}
	return estimated(held, equationOf(spec, states, task), task.States)
}

// estimated returns flights as a filter estimates them, each from the beginning of the flight that it is a part of.
func estimated(flights []window.Flight, spec *model.Filter, states []channel.Channel) (out []window.Flight, err error) {
	filtered := map[*window.Flight]*window.Flight{}
	for i := range flights {
		whole, first := flights[i].Past(0)
		if filtered[whole] == nil {
			again, _, err := Apply([]window.Flight{whole.Measured()}, spec, states)
			if err != nil {
				return nil, err
			}
			again[0].Target = whole.Target
			filtered[whole] = &again[0]
		}
		out = append(out, filtered[whole].Following(first, first+flights[i].N()))
	}
	return out, nil
}
