package trainer

import (
	"fmt"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/trainer/baseline"
	"github.com/dgm-robotics/dgm/trainer/datacheck"
	"github.com/dgm-robotics/dgm/trainer/rows"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Precheck returns, in a second, what training with these settings would refuse the
// data for: no window of the horizon in what is left after the hold-out, too few of
// them, a state that never moves, nothing that a prediction could depend on, too
// little for the simplest model. nil if it would begin.
func Precheck(d *Data, cfg Config) *Problem {
	H, stride := cfg.Horizon.Seconds(), cfg.Stride.Seconds()
	if stride == 0 {
		stride = H / 50
	}
	states := channel.Select(d.Channels, channel.State)
	P := len(d.Channels) - len(states)
	known := split(d.Flights, cfg.Holdout, H, cfg.Seed).Train
	windows := window.Cut(known, H, stride)
	kind, err := datacheck.Short, enough(known, windows, H)
	if err == nil {
		kind, err = datacheck.Unexcited, dependent(states, P)
	}
	if err == nil {
		kind = datacheck.Constant
		_, err = rows.NewFrame(d.Channels, known, windows, rows.Settings{Horizon: H, Knots: cfg.Knots, NoiseKnots: noiseKnots})
	}
	if err == nil {
		kind = datacheck.Short
		_, err = baseline.Linear(known, states, P, H)
	}
	if err == nil {
		return nil
	}
	return &Problem{Problem: datacheck.Problem{Kind: kind, Index: -1, Severity: datacheck.Stop, Text: err.Error()}}
}

// dependent returns an error if the dynamics would be a function of nothing: no
// state that counts and no input.
func dependent(states []channel.Channel, inputs int) error {
	lift := channel.NewLift(states)
	if inputs > 0 || lift.Dim() > 0 {
		return nil
	}
	return fmt.Errorf("every state is invariant (%s) and there is no input: nothing is left that the motion could depend on; take away invariant where the value matters, or add a velocity or an input", strings.Join(channel.Names(states), ", "))
}
