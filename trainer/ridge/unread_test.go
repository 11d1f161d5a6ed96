package ridge

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// A rate that decays under an input, and a heading that hardly varies in the training: what is predicted with another heading is
// the same, unless the rate depends on it.
func TestStatesThatNothingDependsOn(t *testing.T) {
	states := []channel.Channel{{Name: "rate", Role: channel.State}, {Name: "heading", Role: channel.State}}
	fly := func(segment int, heading, pull float64) window.Flight {
		rng := rand.New(rand.NewPCG(uint64(segment), 9))
		s := window.Series{}
		x, u := rng.NormFloat64(), 0.0
		for i := range 600 {
			if i%10 == 0 {
				u = rng.NormFloat64()
			}
			h := heading + 0.02*rng.NormFloat64()
			s.T, s.X, s.U = append(s.T, int64(math.Round(float64(i)*step*1e9))), append(s.X, x+0.05*rng.NormFloat64(), h), append(s.U, u)
			x += step * (-2*x + 3*u + pull*h)
		}
		return window.Prepare(segment, s, states, 1, window.Options{})[0]
	}
	task := window.Task{States: states, Inputs: 1, Horizon: 20 * step}
	for _, pull := range []float64{0, 5} {
		var flights []window.Flight
		for i := range 5 {
			flights = append(flights, fly(i, 0.1*float64(i), pull))
		}
		cfg := Config{Times: []float64{task.Horizon}, History: lags(2), Rows: []int{2}, Readouts: []model.Readout{model.Plan}, Blocks: 4, Sharpness: 8}
		f, err := Fit(context.Background(), flights, window.Folds(flights, task.Horizon, 5), task, cfg)
		if err != nil {
			t.Fatal(err)
		}
		run, d := direct.New(&f.Model, 2, task.Horizon), [2][2]float64{}
		for i, heading := range []float64{0.2, 3} {
			run.Run([]float64{0, heading}, &held{}, int(model.Plan), []float64{0, heading, 0, 0, heading, 0})
			run.At(d[i][:], nil, task.Horizon)
		}
		change := d[1][0] - d[0][0]
		if want := pull * 2.8 * (1 - math.Exp(-2*task.Horizon)) / 2; math.Abs(change-want) > 1e-6+0.1*want {
			t.Errorf("a heading that pulls by %v: the rate changes by %v, expected %v", pull, change, want)
		}
	}
}

// held is an input of 0.
type held struct{}

func (held) At(dst []float64, _ float64)      { clear(dst) }
func (held) Mean(dst []float64, _, _ float64) { clear(dst) }
