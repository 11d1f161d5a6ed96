package estimation

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/dgm-robotics/dgm/estimator/channel"
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

// Choice is what Choose returns.
type Choice struct {
	Filter *model.Filter // nil = none
	Ratio  float64       // that of Helps, 0 where it was not asked
	Unlike []Pair        // left as measured: the position does not move as its measured rate says
}

// Choose returns the filter that flights are worth: of all pairs of a position and its rate, measured ones too, if all is set or sensors
// measure a pair apart, less those that are unlike; else of the pairs whose rate nothing measures; where there is none, of all pairs if Helps
// says so, or none.
func Choose(flights []window.Flight, task window.Task, all bool) (c Choice, err error) {
	pairs := slices.DeleteFunc(Pairs(task.States, true), func(p Pair) bool { return Constant(flights, p.Position) })
	measured := func(p Pair) bool { return !task.States[p.Rate].Estimated }
	needed := pairs
	if separate := slices.ContainsFunc(pairs, func(p Pair) bool { return apart(flights, task.States, p) }); !all && !separate {
		needed = slices.DeleteFunc(slices.Clone(pairs), measured)
	}
	if len(needed) > 0 || len(pairs) == 0 {
		c.Filter, err = learned(flights, needed, task)
		if err != nil || all || !slices.ContainsFunc(needed, measured) {
			return c, err
		}
		_, score, err := Apply(flights, c.Filter, task.States)
		if err != nil {
			return c, err
		}
		like := slices.DeleteFunc(slices.Clone(needed), func(p Pair) bool {
			unlike := measured(p) && score.States[p.Position].Whiteness > unlikeRate
			if unlike {
				c.Unlike = append(c.Unlike, p)
			}
			return unlike
		})
		if len(like) < len(needed) {
			c.Filter, err = learned(flights, like, task)
		}
		return c, err
	}
	if c.Filter, err = learned(flights, pairs, task); err != nil {
		return c, err
	}
	helps := false
	if c.Ratio, helps, err = Helps(flights, c.Filter, task); !helps {
		return Choice{}, err
	}
	return c, err
}

// unlikeRate is the correlation of successive innovations of a position from which on its measured rate does not explain how it moves.
const unlikeRate = 0.5

// learned returns the filter of pairs, with an equation where that is better; nil without pairs.
func learned(flights []window.Flight, pairs []Pair, task window.Task) (*model.Filter, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	spec, err := Fit(flights, task.States, pairs)
	if err != nil {
		return nil, err
	}
	if spec, err = Learn(flights, spec, task); err != nil {
		return nil, err
	}
	for _, c := range spec.Chains {
		for _, k := range [...]int{c.Position, c.Rate} {
			if spec.R[k] > simulated*simulated*spec.Start[k] && repeated(flights, task.States, k) < seldom {
				spec.Changing = append(spec.Changing, k)
			}
		}
	}
	return spec, nil
}

const (
	// seldom is the share of values that repeat the one before up to which a noisy sensor never does so by itself.
	seldom = 1e-3
	// simulated is the standard deviation of a sensor, over the rms of what it measures, from which on it is noisy: exact values repeat at rest.
	simulated = 1e-5
)

// repeated returns the share of the values of state k of flights that repeat the one before.
func repeated(flights []window.Flight, states []channel.Channel, k int) float64 {
	same, all := 0., 1.
	for i := range flights {
		f, last := &flights[i], math.NaN()
		for j := k; j < len(f.X) && !states[k].Estimated; j += f.K {
			if v := f.X[j]; !math.IsNaN(v) {
				if all++; v == last {
					same++
				}
				last = v
			}
		}
	}
	return same / all
}

// apartFrom is the share of the samples of either that have one of a position and its measured rate from which on they come apart.
const apartFrom = 0.1

// apart reports whether sensors measure a position and its rate at different times: then only a filter knows both at once.
func apart(flights []window.Flight, states []channel.Channel, p Pair) bool {
	any, one := 0, 0
	for i := range flights {
		f := &flights[i]
		for j := 0; j < f.N()*f.K && !states[p.Rate].Estimated; j += f.K {
			x, v := !math.IsNaN(f.X[j+p.Position]), !math.IsNaN(f.X[j+p.Rate])
			if x || v {
				any++
			}
			if x != v {
				one++
			}
		}
	}
	return float64(one) > apartFrom*float64(any)
}

// errorsOf returns the errors in held flights of an equation of each shape (nil = none is determined) that is regressed on others.
func errorsOf(train, held []window.Flight, task window.Task) (out [][][]float64) {
	for _, shape := range shapes(train, task) {
		if e := regress([][]window.Flight{train}, task, shape, nil); e != nil {
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
