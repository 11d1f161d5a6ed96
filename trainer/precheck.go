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
	H, task := cfg.Horizon.Seconds(), d.task(cfg.Horizon)
	known, windows := parted(d, cfg, H)
	kind, err := datacheck.Short, enough(known, windows, window.Duration(d.Flights), H, cfg.Holdout, func() float64 { return shorter(d, cfg) })
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
			if enough(known, windows, window.Duration(d.Flights), try, cfg.Holdout, none) == nil {
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
	return fmt.Errorf("every state is invariant (%s) and there is no input: nothing is left that the motion could depend on; take away invariant where the value matters, or add a velocity or an input", strings.Join(channel.Names(task.States), ", "))
}

// minHorizons is how much data a training needs, in horizons that do not overlap.
const minHorizons = 8

// enough returns an error that says what is missing, or nil, of what is left for training of
// so many seconds. share of what is recorded is held out; shorter finds a horizon that there
// is enough for, 0 if none is.
func enough(flights []window.Flight, windows []window.Window, recorded, horizon, share float64, shorter func() float64) error {
	if dt := window.Interval(flights); horizon < 0.99*dt {
		return fmt.Errorf("a horizon of %.3g s is shorter than the time from one sample to the next, %.3g s: nothing was measured within it; choose a --horizon of %.2gs or more", horizon, dt, 10*dt)
	}
	longest, usable := 0.0, 0.0
	for i := range flights {
		d := flights[i].Duration()
		longest = math.Max(longest, d)
		if d >= horizon {
			usable += d
		}
	}
	if len(windows) == 0 {
		if longest >= horizon {
			return fmt.Errorf("no window of %g s can start, though stretches of %.3g s are whole: at no sample with %g s to come is every state and input measured; import them on common times, or give what is rarely measured the role aux", horizon, longest, horizon)
		}
		return fmt.Errorf("no window of %g s fits: the longest stretch without a gap or excluded data lasts %.3g s; record longer%s", horizon, longest, orShorter(shorter()))
	}
	if usable < minHorizons*horizon {
		left := ""
		if share > 0 {
			left = " left for training"
		}
		// Where more is recorded more is held out, and beside it a stretch may be too short.
		more := math.Max((minHorizons+1)*horizon/(1-share)-recorded, (minHorizons*horizon-usable)/(1-share))
		more = math.Ceil(4*more/horizon) * horizon / 4
		return fmt.Errorf("%.3g s of usable data%s are fewer than %d horizons of %g s: record at least %.3g s more%s", usable, left, minHorizons, horizon, more, orShorter(shorter()))
	}
	return nil
}

// orShorter is advice to choose a horizon.
func orShorter(horizon float64) string {
	if horizon == 0 {
		return ""
	}
	return fmt.Sprintf(", or choose --horizon %gs or shorter", horizon)
}
