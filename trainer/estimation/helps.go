package estimation

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/score"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// enough is the part of the CRPS that a filter must leave at most where all states are measured.
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
// measurements, by the CRPS of what each fold leaves out: of difference equations that are regressed on the rest of the
// flights, smoothed or as measured, with the errors in the other folds as their spread. It returns the CRPS with the filter
// over that without, and whether that is worth a filter: where sensors are exact it is not.
func Helps(flights []window.Flight, spec *model.Filter, task window.Task) (ratio float64, helps bool, err error) {
	if !noisy(spec) {
		return 1, false, nil
	}
	var plain, filtered [][][][]float64 // fold, shape, horizon and state: errors
	for _, fold := range window.Folds(flights, task.Horizon, crossings) {
		states, err := smooth(fold.Train, spec, task.States)
		if err != nil {
			return 1, false, err
		}
		held, err := estimated(fold.Held, equationOf(spec, states, task), task.States)
		if err != nil {
			return 1, false, err
		}
		plain, filtered = append(plain, errorsOf(fold.Train, fold.Held, task)), append(filtered, errorsOf(states, held, task))
	}
	if len(plain) == 0 {
		return 1, false, nil
	}
	with, without := bestCRPS(filtered), bestCRPS(plain)
	if math.IsInf(with, 1) || math.IsInf(without, 1) {
		return 1, false, nil
	}
	ratio = math.Exp(with - without)
	return ratio, ratio < enough, nil
}

// errorsOf returns the errors in held flights of an equation of each shape (nil = none is determined) that is regressed on others.
func errorsOf(train, held []window.Flight, task window.Task) (out [][][]float64) {
	for _, shape := range shapes(train, task) {
		if e := regress([][]window.Flight{train}, task, shape); e != nil {
			out = append(out, priordynamics.Errors(e[0], held, task))
		} else {
			out = append(out, nil)
		}
	}
	return out
}

// bestCRPS returns the log of the CRPS, a geometric mean over horizons and states, of the shape that has the least over all folds; +∞
// where none has one.
func bestCRPS(folds [][][][]float64) float64 {
	best := math.Inf(1)
	for shape := range folds[0] {
		var all [][][]float64 // of each fold
		for i := range folds {
			if shape < len(folds[i]) && folds[i][shape] != nil {
				all = append(all, folds[i][shape])
			}
		}
		if len(all) == len(folds) {
			best = math.Min(best, logCRPS(all))
		}
	}
	return best
}

// logCRPS returns that of errors by fold, horizon and state: the spread is that of the other folds.
func logCRPS(folds [][][]float64) float64 {
	var logs []float64
	for cell := range folds[0] {
		sum, n := 0., 0
		for i := range folds {
			square, others := 0., 0
			for j := range folds {
				if j != i || len(folds) == 1 {
					for _, e := range folds[j][cell] {
						square, others = square+e*e, others+1
					}
				}
			}
			spread := math.Sqrt(square/float64(max(1, others))) + math.SmallestNonzeroFloat32
			for _, e := range folds[i][cell] {
				sum, n = sum+score.CRPS(e, 0, spread), n+1
			}
		}
		if n > 0 {
			logs = append(logs, math.Log(sum/float64(n)+math.SmallestNonzeroFloat32))
		}
	}
	if v := stat.Mean(logs, nil); !math.IsNaN(v) {
		return v
	}
	return math.Inf(1)
}
