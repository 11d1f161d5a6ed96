package evaluate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/score"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// JointCoverage is how many whole trajectories, all scored states at all times to the horizon,
// were inside a tube.
type JointCoverage struct {
	Covered      float64 `json:"covered"`
	Low          float64 `json:"low"` // 95 % block bootstrap
	High         float64 `json:"high"`
	Factor       float64 `json:"factor"` // of the standard deviations, mean over trajectories
	Approximate  bool    `json:"approximate"`
	Flights      int     `json:"flights"` // held-out flights that the factor is of; 0 = blocks of the flights trained on
	Trajectories int     `json:"trajectories"`
}

// jointSteps are the equal steps of the horizon at which trajectories are compared with tubes,
// and jointStarts how many of them start within a horizon.
const (
	jointSteps  = 50
	jointStarts = 5
)

// Joint scores the tubes of a model on windows of its whole horizon, by the nominal
// probability; nil where the model has no tubes or no window is long enough.
func Joint(ctx context.Context, m *model.Model, flights []window.Flight, opt Options) (map[string]JointCoverage, error) {
	windows := window.Cut(flights, m.Horizon, m.Horizon/jointStarts)
	if len(m.Joint) == 0 || len(m.Joint[0].Tube) == 0 || len(windows) == 0 {
		return nil, nil
	}
	opt.Horizons = m.EqualTimes(jointSteps)
	opt, _, err := opt.scoring(m.Horizon, flights)
	if err != nil {
		return nil, err
	}
	comparers, err := newComparers(m, flights, windows, opt)
	if err != nil {
		return nil, err
	}
	var inside [len(model.TubeLevels)][]float64
	var factors [len(model.TubeLevels)]float64
	err = predict(ctx, comparers, flights, windows, func(o *outcome) error {
		if !o.ok {
			return errNotFinite
		}
		largest := o.largest()
		for l, factor := range o.tube {
			hit := 0.0
			if largest <= factor {
				hit = 1
			}
			inside[l] = append(inside[l], hit)
			factors[l] += factor
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	n, out := float64(len(windows)), map[string]JointCoverage{}
	for l, level := range model.TubeLevels {
		of := JointCoverage{Factor: factors[l] / n, Covered: floats.Sum(inside[l]) / n, Flights: m.Joint[0].Flights, Approximate: !model.TubeExact(level, m.Joint[0].Flights), Trajectories: len(windows)}
		of.Low, of.High = score.Interval(inside[l], 2*jointStarts, rand.New(rand.NewPCG(opt.Seed, uint64(len(windows)))))
		out[fmt.Sprint(level)] = of
	}
	return out, nil
}

// largest returns the largest |error| over its standard deviation of a window.
func (o *outcome) largest() float64 {
	out := 0.0
	for j, x := range o.measured {
		if z := math.Abs(x-o.mean[byModel][j]) / o.std[j]; z > out { // not NaN
			out = z
		}
	}
	return out
}
