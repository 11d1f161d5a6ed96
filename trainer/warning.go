package trainer

import (
	"fmt"
	"math"
	"strings"
)

const (
	// onBound is how close to a bound a calibration factor lies on it, in its logarithm.
	onBound = 0.01
	// mostOnBound is the share of factors on a bound above which that is told: a channel
	// that hardly moves has its own there on good data too.
	mostOnBound = 0.1
)

// Warning says in one line what to beware of in the intervals of the model, and what to
// do about it: choices that there was no time for, and calibration that went as far as
// it may. It is empty where there is nothing to say.
func (r *Result) Warning() string {
	var parts []string
	var untried []string
	if r.Untried.Core {
		untried = append(untried, "core and basis")
	}
	if r.Untried.Temper {
		untried = append(untried, "temper")
	}
	if len(untried) > 0 {
		parts = append(parts, fmt.Sprintf("There was no time to choose %s: the careful choice was taken untried, and intervals may be too wide.", strings.Join(untried, ", and ")))
	}
	low, high, all := factorsOnBounds(r.Model.ScaleFactor)
	bound := ""
	switch {
	case float64(low+high) <= mostOnBound*float64(all):
	case high == 0:
		bound = fmt.Sprintf("lie on their lower bound, 1/%d: intervals may be too wide.", widest)
	case low == 0:
		bound = fmt.Sprintf("lie on their upper bound, %d: intervals may be too narrow.", widest)
	default:
		bound = fmt.Sprintf("lie on a bound, %d on the lower one, 1/%d, and %d on the upper one, %d: intervals may be too wide or too narrow.", low, widest, high, widest)
	}
	if bound != "" {
		parts = append(parts, fmt.Sprintf("%d of %d calibration factors ", low+high, all)+bound)
	}
	switch {
	case bound != "":
		parts = append(parts, "Give the training more time, or more data.")
	case len(untried) > 0:
		parts = append(parts, "Give the training more time.")
	}
	return strings.Join(parts, " ")
}

// factorsOnBounds counts the factors of all readouts that lie on the lower and on the
// upper bound, and all of them.
func factorsOnBounds(widen [][]float64) (low, high, all int) {
	end := math.Log(widest) - onBound
	for _, readout := range widen {
		for _, f := range readout {
			switch l := math.Log(f); {
			case l <= -end:
				low++
			case l >= end:
				high++
			}
			all++
		}
	}
	return low, high, all
}
