package estimation

import (
	"math"

	fitted "github.com/dgm-robotics/dgm/estimator/priordynamics"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// enough is the part of its error that a filter must leave at most where all states are measured.
const enough = 0.9

// exact is the standard deviation of a sensor, over the rms of what it measures, up to which no filter makes its measurements better.
const exact = 1e-3

// noisy reports whether a sensor of a filter is worth filtering.
func noisy(spec *model.Filter) bool {
	for _, c := range spec.Chains {
		for _, k := range []int{c.Position, c.Rate} {
			if spec.R[k] > exact*exact*spec.Start[k] {
				return true
			}
		}
	}
	return false
}

// Helps compares predictions from what a filter makes of flights, all of whose states are measured, with those from the
// measurements: by difference equations, each regressed on one part of each flight, smoothed and measured, and rolled out
// on the rest. It returns the error with the filter over that without, and whether that is worth a filter: where sensors are
// exact it is not.
func Helps(flights []window.Flight, spec *model.Filter, task window.Task) (ratio float64, helps bool, err error) {
	fit, judge := parts(flights)
	if !noisy(spec) || len(window.Cut(judge, task.Horizon, task.Horizon/5)) == 0 {
		return 1, false, nil
	}
	smoothedFit, err := smooth(fit, spec, task.States)
	if err != nil {
		return 1, false, err
	}
	filtered, _, err := Apply(judge, spec, task.States)
	if err != nil || len(window.Cut(filtered, task.Horizon, task.Horizon/5)) == 0 {
		return 1, false, err
	}
	var models []*fitted.Model
	var starts [][]window.Flight
	for i, data := range [][]window.Flight{fit, smoothedFit} {
		for _, shape := range shapes(data, task) {
			if e, err := priordynamics.Regress(data, task, shape); err == nil && e.Check(len(task.States), task.Inputs) == nil {
				models, starts = append(models, e), append(starts, [][]window.Flight{judge, filtered}[i])
			}
		}
	}
	best := [2]float64{math.Inf(1), math.Inf(1)}
	for i, v := range priordynamics.Compare(models, starts, task) {
		with := 0
		if &starts[i][0] == &filtered[0] {
			with = 1
		}
		best[with] = math.Min(best[with], v)
	}
	ratio = best[1] / best[0]
	return ratio, ratio < enough, nil
}
