package disturb

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Onset says when something comes, and how fast. Its zero value is there from the
// start, whole.
type Onset struct {
	At   float64 // (optional) s of log time
	Over float64 // (optional) s from nothing to the whole, evenly; defaults to at once
}

// Share returns how much of it is there at time t, s: 0 to 1.
func (o Onset) Share(t float64) float64 {
	switch {
	case t < o.At:
		return 0
	case t < o.At+o.Over:
		return (t - o.At) / o.Over
	}
	return 1
}

// onset reads AT and OVER, as far as they are there.
func onset(parts []string) (o Onset, err error) {
	for i, to := range []*float64{&o.At, &o.Over} {
		if i >= len(parts) {
			return o, nil
		}
		d, err := time.ParseDuration(parts[i])
		if err != nil || d < 0 {
			return o, fmt.Errorf("%q must be a duration that is not negative", parts[i])
		}
		*to = d.Seconds()
	}
	if len(parts) > 2 {
		return o, fmt.Errorf("%q is one thing more than there can be", parts[2])
	}
	return o, nil
}

// share reads a number from 0 to most.
func share(text string, most float64) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v <= most) || math.IsNaN(v) {
		return 0, fmt.Errorf("%q must be a number from 0 to %g", text, most)
	}
	return v, nil
}
