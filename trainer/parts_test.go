package trainer_test

import (
	"context"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// A part of the recipe that is switched off is in no file, no mean and no width.
func TestPartsThatAreOffAreNotThere(t *testing.T) {
	t.Parallel()
	cfg := small()
	cfg.Holdout, cfg.Dynamics.Members = 0, 0
	cfg.Smoother, cfg.Direct, cfg.History = false, false, true
	m := fit(t, cfg)
	if m.History.Rows() != 0 || slices.ContainsFunc(m.Stack, isDirect) {
		t.Errorf("a direct map, or history: %+v", m.Stack)
	}
	nonzero := func(v float64) bool { return v != 0 }
	for _, post := range m.Members[0].Posterior {
		for k := range m.K {
			if slices.ContainsFunc(post.Weights[k], nonzero) || slices.ContainsFunc(post.InverseFactor[k], nonzero) {
				t.Fatal("the smoother has weights or a variance")
			}
		}
	}
	if len(m.Members) != 1 || len(m.Refits) != 0 {
		t.Errorf("%d members, %d refits", len(m.Members), len(m.Refits))
	}
	d := load(t, pendulum(7, 2), cfg)
	times := []float64{0.1, 0.5}
	p, err := estimator.New(m, times)
	if err != nil {
		t.Fatal(err)
	}
	prior := estimator.PriorDynamicsOf(m)
	got, q, want := p.NewPrediction(), &estimator.Query{}, make([]float64, m.K)
	for w := range replay.Each(d.Flights, window.Cut(d.Flights, 0.5, 1), times) {
		w.Query(q, m, model.Plan, 25) // a row for each sample
		if !p.Predict(got, q) {
			t.Fatal("a prediction is not finite")
		}
		prior.Start(w.X0, &w.Input, model.Plan, nil)
		for i, at := range times {
			prior.At(want, nil, at)
			for k, d := range want {
				if diff := got.Mean[i*m.K+k] - w.X0[k] - d; diff > 1e-6 || diff < -1e-6 {
					t.Fatalf("state %d after %g s: the model adds %g to its prior dynamics", k, at, diff)
				}
			}
		}
	}
}

// Without calibration no interval is scaled.
func TestCalibrationOff(t *testing.T) {
	t.Parallel()
	cfg := small()
	cfg.Holdout, cfg.Dynamics.Members, cfg.Smoother, cfg.Direct, cfg.Folds.ScaleFactor = 0, 0, false, false, false
	m := fit(t, cfg)
	for _, c := range m.Calibration {
		if slices.ContainsFunc(c.LogScale, func(v float64) bool { return v != 0 }) || c.Half50 != model.Gaussian50 {
			t.Errorf("%+v", c)
		}
		for _, b := range c.Coefficient {
			if len(b) > 0 {
				t.Errorf("coefficients %v", b)
			}
		}
	}
}

func isDirect(c model.Component) bool { return c.Kind == model.Direct }

func fit(t *testing.T, cfg trainer.Config) *model.Model {
	t.Helper()
	res, err := trainer.Train(context.Background(), load(t, pendulum(1, 2), cfg), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	return res.Model
}
