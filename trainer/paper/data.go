package paper

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
)

// Trajectory is one recording from a start that is known exactly.
type Trajectory struct {
	X0 []float64 // K, the state at time 0
	T  []float64 // n, s
	Y  []float64 // n×K row-major, state plus noise; NaN = not measured
}

// Data are the recordings of one system.
type Data struct {
	K            int
	Trajectories []Trajectory

	whole *Data // (optional) the data these were drawn from, which set the scale
}

// check returns the first error in the data: trajectories are numbered from 1.
func (d *Data) check() error {
	measured := false
	for j, tr := range d.Trajectories {
		if err := tr.check(d.K); err != nil {
			return fmt.Errorf("trajectory %d: %w", j+1, err)
		}
		for i, y := range tr.Y {
			measured = measured || !math.IsNaN(y) && tr.T[i/d.K] > 0
		}
	}
	if !measured {
		return errors.New("no state was measured after time 0: there is nothing to learn from")
	}
	return nil
}

// of returns data of the same system with other trajectories.
func (d *Data) of(all ...Trajectory) *Data {
	return &Data{K: d.K, Trajectories: all}
}

func (tr *Trajectory) check(K int) error {
	if len(tr.X0) != K || len(tr.Y) != len(tr.T)*K {
		return fmt.Errorf("%d start values and %d observed values at %d times do not match %d states", len(tr.X0), len(tr.Y), len(tr.T), K)
	}
	for k, x := range tr.X0 {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("state %d of the start is %v", k+1, x)
		}
	}
	last := 0.0
	for i, t := range tr.T {
		if !(t >= last) || math.IsInf(t, 0) {
			return fmt.Errorf("time %d is %v after %v: times must be finite, not negative and not decreasing", i+1, t, last)
		}
		last = t
	}
	for i, y := range tr.Y {
		if math.IsInf(y, 0) {
			return fmt.Errorf("state %d at time %d is %v: a missing value must be NaN", i%K+1, i/K+1, y)
		}
	}
	return nil
}

// until returns the times not later than end.
func (tr *Trajectory) until(end float64) []float64 {
	n := slices.IndexFunc(tr.T, func(t float64) bool { return t > end })
	if n < 0 {
		return tr.T
	}
	return tr.T[:n]
}

// Rows returns the number of observations in all trajectories.
func (d *Data) Rows() int {
	n := 0
	for _, tr := range d.Trajectories {
		n += len(tr.T)
	}
	return n
}

// subsample returns at most so many observations, those of whole trajectories drawn from
// all, one at least; most 0 returns all.
func (d *Data) subsample(rng *rand.Rand, most int) *Data {
	if most == 0 || d.Rows() <= most {
		return d
	}
	out := d.of()
	out.whole = d
	rows := 0
	for _, i := range rng.Perm(len(d.Trajectories)) {
		tr := d.Trajectories[i]
		if rows += len(tr.T); rows > most && len(out.Trajectories) > 0 {
			break
		}
		out.Trajectories = append(out.Trajectories, tr)
	}
	return out
}

// End returns the last time that was observed.
func (d *Data) End() float64 {
	end := 0.0
	for _, tr := range d.Trajectories {
		for _, t := range tr.T {
			end = math.Max(end, t)
		}
	}
	return end
}

// scale returns the scalers of time and states: to zero mean and unit variance over all
// observations, starts with the scaler of the states.
func scale(d *Data) *feature.Inputs {
	if d.whole != nil {
		return scale(d.whole)
	}
	in := &feature.Inputs{Lift: channel.Identity(d.K)}
	in.Lift.Mean, in.Lift.Std = make([]float64, d.K), make([]float64, d.K)
	values := make([][]float64, d.K)
	for _, tr := range d.Trajectories {
		for _, t := range tr.T {
			in.TimeMean += t
			in.TimeStd += t * t
		}
		for i, y := range tr.Y {
			if !math.IsNaN(y) {
				values[i%d.K] = append(values[i%d.K], y)
			}
		}
	}
	n := float64(d.Rows())
	in.TimeMean /= n
	in.TimeStd = math.Sqrt(math.Max(in.TimeStd/n-in.TimeMean*in.TimeMean, 0))
	if !(in.TimeStd > 0) {
		in.TimeStd = 1
	}
	for k := range d.K {
		in.Lift.Mean[k], in.Lift.Std[k] = moments(values[k])
	}
	return in
}

// moments returns mean and standard deviation of values; 0 and 1 of none, and never a
// standard deviation of 0.
func moments(values []float64) (mean, std float64) {
	n := float64(len(values))
	if n == 0 {
		return 0, 1
	}
	for _, y := range values {
		mean += y
	}
	mean /= n
	for _, y := range values {
		std += (y - mean) * (y - mean)
	}
	if std = math.Sqrt(std / n); !(std > 0) {
		std = 1
	}
	return mean, std
}
