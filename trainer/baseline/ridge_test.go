package baseline

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// The ridge regression follows a linear robot with a plan, for each of its times.
func TestRidgeOfALinearRobot(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	var flights []window.Flight
	for i := range 4 {
		flights = append(flights, window.Prepare(i, drive(rng, 600), cart, 1, window.Options{})...)
	}
	task, times := window.Task{States: cart, Inputs: 1, Horizon: 0.5}, []float64{0.1, 0.5}
	r, err := Ridge(context.Background(), flights, task, times)
	if err != nil || len(r.Direct.Levels) != 4 || r.History.Rows() != 5 {
		t.Fatalf("%v, %d levels, %d rows", err, len(r.Direct.Levels), r.History.Rows())
	}
	run := direct.New(&r.Direct, 3, task.Horizon)
	square, still, got := 0.0, 0.0, make([]float64, 3)
	for w := range replay.Each(flights, window.Cut(flights, task.Horizon, 0.1), times) {
		run.Run(w.X0, &w.Input, int(model.Plan), w.History(r.History))
		for i, at := range times {
			run.At(got, nil, at)
			square += (got[0] - w.Measured[i*3]) * (got[0] - w.Measured[i*3])
			still += w.Measured[i*3] * w.Measured[i*3]
		}
	}
	if ratio := math.Sqrt(square / still); !(ratio < 0.05) {
		t.Errorf("%.3f of the error of holding", ratio)
	}
}

// Flights that are too short have none, which is no error.
func TestRidgeOfTooLittle(t *testing.T) {
	flights := window.Prepare(0, drive(rand.New(rand.NewPCG(3, 3)), 60), cart, 1, window.Options{})
	r, err := Ridge(context.Background(), flights, window.Task{States: cart, Inputs: 1, Horizon: 0.5}, []float64{0.5})
	if err != nil || len(r.Direct.Levels) != 0 {
		t.Errorf("%v, %d levels", err, len(r.Direct.Levels))
	}
}
