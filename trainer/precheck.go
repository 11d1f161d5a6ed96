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

// Precheck returns, in a second, the reason why training with these settings would refuse the data: no window of
// the horizon after the hold-out, too few windows, a state that never moves, no state or input that a prediction
// could depend on, or too little data for the simplest model. nil if training would begin.
func Precheck(d *Data, cfg Config) *Problem {
	H, task := cfg.Horizon.Seconds(), d.task(cfg.Horizon)
	known, windows := parted(d, cfg, H)
	kind, err := datacheck.Short, window.Enough(known, windows, window.Duration(d.Flights), H, cfg.Holdout, func() float64 { return shorter(d, cfg) })
	if err == nil {
		kind, err = datacheck.Unexcited, dependent(task)
	}
	if err == nil {
		kind = datacheck.Constant
		_, err = rows.NewFrame(d.Channels, known, windows, rows.Settings{Horizon: H, Knots: cfg.Knots, NoiseKnots: noiseKnots})
	}
	if err == nil {
		kind = datacheck.Short
		_, err = baseline.Linear(known, task)
	}
	if err == nil {
		return nil
	}
	return &Problem{Problem: datacheck.Problem{Kind: kind, Index: -1, Severity: datacheck.Stop, Text: err.Error()}}
}

// parted returns what is left beside the hold-out, with the windows of a horizon in it.
func parted(d *Data, cfg Config, H float64) ([]window.Flight, []window.Window) {
	known := window.HoldOut(d.Flights, cfg.Holdout, H, cfg.Seed).Train
	return known, window.Cut(known, H, cfg.stride(H))
}

// shorter returns the longest round horizon below that of the settings for which there
// is enough data, s; 0 if there is none. It is found by trying, for the shorter the
// horizon the more is held out.
func shorter(d *Data, cfg Config) float64 {
	none := func() float64 { return 0 }
	H, dt := cfg.Horizon.Seconds(), window.Interval(d.Flights)
	for power := math.Floor(math.Log10(H)); dt > 0 && math.Pow(10, power+1) > dt; power-- {
		for _, digits := range []float64{70, 50, 30, 20, 15, 10} {
			try := digits / math.Pow(10, 1-power)
			if try >= H || try < 2*dt {
				continue
			}
			known, windows := parted(d, cfg, try)
			if window.Enough(known, windows, window.Duration(d.Flights), try, cfg.Holdout, none) == nil {
				return try
			}
		}
	}
	return 0
}

// dependent returns an error if the dynamics would be a function of nothing: no
// state that counts and no input.
func dependent(task window.Task) error {
	lift := channel.NewLift(task.States)
	if task.Inputs > 0 || lift.Dim() > 0 {
		return nil
	}
	return fmt.Errorf("every state is invariant (%s) and there is no input, so the motion depends on nothing; remove invariant from states whose value matters, or add a velocity or an input", strings.Join(channel.Names(task.States), ", "))
}
