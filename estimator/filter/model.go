package filter

import (
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// Of returns the filter with the parameters of a model, for its states (K). nil and no error without parameters. The error
// is that of New.
func Of(spec *model.Filter, states []channel.Channel, inputs int) (*Filter, error) {
	if spec == nil {
		return nil, nil
	}
	c := Config{Start: spec.Start, MaxGap: spec.Gap, Settled: make([]float64, len(states)), Sensors: make([]bool, len(states))}
	add, chains := make([]float64, len(states)), make([]Chain, 0, len(spec.Chains))
	for k, s := range states {
		c.Sensors[k] = !s.Estimated
		add[k] = free * spec.Start[k]
		c.Channels = append(c.Channels, Channel{Period: s.Period, R: spec.R[k]})
	}
	for _, ch := range spec.Chains {
		add[ch.Position], add[ch.Rate] = 0, 0
		chains = append(chains, Chain{ch.Position, ch.Rate, ch.Q})
		c.Settled[ch.Rate] = ch.Settled
	}
	if c.Process = (&Kinematic{K: len(states), Chains: chains, Free: add}); spec.Equation.Degree > 0 {
		l := NewLearned(&spec.Equation, len(states), inputs)
		l.Chains, l.Free = chains, add
		c.Process = l
	}
	if a := channel.NamedAttitude(states); a != nil {
		c.Attitude = &Attitude{Roll: a[0], Pitch: a[1], Yaw: a[2]}
		for i, ch := range chains {
			if ch.Position != a[1] {
				continue
			}
			c.Attitude.Follows = append(c.Attitude.Follows, ch.Rate)
			if c.Process.Dim() > len(states) { // its acceleration
				c.Attitude.Follows = append(c.Attitude.Follows, len(states)+i)
			}
		}
	}
	return New(c, inputs)
}

// free is what a step adds to a channel that no chain moves, as a part of its variance at the start: so much that its
// estimate is the measurement.
const free = 1
