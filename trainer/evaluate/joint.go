package evaluate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

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
	opt.Horizons = nil
	for i := range jointSteps {
		opt.Horizons = append(opt.Horizons, m.Horizon*float64(i+1)/jointSteps)
	}
	opt, err := opt.withDefaults(m.Horizon)
	if err != nil {
		return nil, err
	}
	comparers := make([]*comparer, runtime.GOMAXPROCS(0))
	for i := range comparers {
		if comparers[i], err = newComparer(m, opt); err != nil {
			return nil, err
		}
		comparers[i].Interpolated = window.Interpolated(flights, windows, opt.Horizons)
	}
	var inside [len(model.TubeLevels)][]float64
	var factors [len(model.TubeLevels)]float64
	outcomes := comparers[0].newOutcomes(min(chunk, len(windows)))
	for from := 0; from < len(windows); from += chunk {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		part := windows[from:min(from+chunk, len(windows))]
		predict(comparers, outcomes, flights, part)
		for i, w := range part {
			o := &outcomes[i]
			if !o.ok {
				return nil, at(&flights[w.Flight], w.Start, errNotFinite)
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
		}
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
