package window

import (
	"fmt"
	"math"
)

// minHorizons is how much data a training needs, in horizons that do not overlap.
const minHorizons = 8

// Enough returns nil if flights, cut into windows of a horizon, s, are enough to train on,
// else an error with what is missing and the remedy. They are left of so many recorded
// seconds, of which a share is held out; shorter returns a horizon that they are enough
// for, 0 if there is none.
func Enough(flights []Flight, windows []Window, recorded, horizon, share float64, shorter func() float64) error {
	if dt := StateInterval(flights); horizon < 0.99*dt {
		return fmt.Errorf("a horizon of %.3g s is shorter than the time from one sample to the next, %.3g s: nothing was measured within it; choose a --horizon of %.2gs or more", horizon, dt, 10*dt)
	}
	longest, usable := Longest(flights), 0.0
	for i := range flights {
		if d := flights[i].Duration(); d >= horizon {
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
