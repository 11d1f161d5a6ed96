package disturb

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Onset is the time profile of a disturbance. The zero value is present in full from the
// start.
type Onset struct {
	At   float64 // (optional) s of log time
	Over float64 // (optional) s of a linear rise; defaults to a step
}

// Share returns the present fraction at time t, s: 0 to 1.
func (o Onset) Share(t float64) float64 {
	switch {
	case t < o.At:
		return 0
	case t < o.At+o.Over:
		return (t - o.At) / o.Over
	}
	return 1
}

// onset parses AT and OVER, both optional.
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
		return o, fmt.Errorf("%q is one part too many", parts[2])
	}
	return o, nil
}

// fraction parses a number from 0 to limit.
func fraction(text string, limit float64) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v <= limit) || math.IsNaN(v) {
		return 0, fmt.Errorf("%q must be a number from 0 to %g", text, limit)
	}
	return v, nil
}
