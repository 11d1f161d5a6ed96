package trainer

import (
	"fmt"
	"math"
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
	H := cfg.Horizon.Seconds()
	states := channel.Select(d.Channels, channel.State)
	P := len(d.Channels) - len(states)
	known, windows := parted(d, cfg, H)
	kind, err := datacheck.Short, enough(known, windows, seconds(d.Flights), H, cfg.Holdout, func() float64 { return shorter(d, cfg) })
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

// parted returns what is left beside the hold-out, with the windows of a horizon in it.
func parted(d *Data, cfg Config, H float64) ([]window.Flight, []window.Window) {
	stride := cfg.Stride.Seconds()
	if stride == 0 {
		stride = H / 50
	}
	known := split(d.Flights, cfg.Holdout, H, cfg.Seed).Train
	return known, window.Cut(known, H, stride)
}

// shorter returns the longest round horizon below that of the settings for which there
// is enough data, s; 0 if there is none. It is found by trying, for the shorter the
// horizon the more is held out.
func shorter(d *Data, cfg Config) float64 {
	none := func() float64 { return 0 }
	H, dt := cfg.Horizon.Seconds(), interval(d.Flights)
	for power := math.Floor(math.Log10(H)); dt > 0 && math.Pow(10, power+1) > dt; power-- {
		for _, digits := range []float64{70, 50, 30, 20, 15, 10} {
			try := digits / math.Pow(10, 1-power)
			if try >= H || try < 2*dt {
				continue
			}
			known, windows := parted(d, cfg, try)
			if enough(known, windows, seconds(d.Flights), try, cfg.Holdout, none) == nil {
				return try
			}
		}
	}
	return 0
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
