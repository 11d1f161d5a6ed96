package trainer_test

import (
	"context"
	"math"
	"os"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/trainer"
)

// An input that acts 60 ms after its command is read so by the equations: with a plan the error is less than that of
// equations that take it to act at once, which are trained with DGM_SLOW.
func TestLateInputs(t *testing.T) {
	t.Parallel()
	const late = 3 // samples
	log := pendulum(1, 5)
	for i := range log.Segments {
		s := &log.Segments[i]
		n := len(s.T) - late
		s.T, s.X, s.U = s.T[:n], s.X[:2*n], s.U[late:]
	}
	errors, both := map[bool]float64{}, []bool{true}
	if os.Getenv("DGM_SLOW") != "" {
		both = []bool{false, true}
	}
	for _, reads := range both {
		cfg := small()
		cfg.Prior, cfg.Members, cfg.Smoother, cfg.Equation.Actuators, cfg.History = "equation", 1, false, reads, true
		res, err := trainer.Train(context.Background(), load(t, log, cfg), cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := res.Model
		if got := len(m.Actuators) > 0; got != reads {
			t.Fatalf("actuators %v", m.Actuators)
		}
		if reads && (math.Abs(m.Actuators[0].Dead+m.Actuators[0].Lag-0.06) > 0.006 || m.History.Reach() < 0.06) {
			t.Errorf("actuators %v, history of %v s", m.Actuators, m.History.Reach())
		}
		s := judge(t, res.Judged, res.Split.Held, estimator.Plan)
		t.Logf("reads it so: %v: error over hold %.3f, coverage of 95 %% %.3f", reads, s.error, s.coverage)
		if errors[reads] = s.error; s.coverage < 0.85 || reads && s.error > 0.045 {
			t.Errorf("coverage of 95 %% %v, error over hold %v; 0.06 where inputs are taken to act at once", s.coverage, s.error)
		}
	}
	if len(both) == 2 && errors[true] > 0.9*errors[false] {
		t.Errorf("errors %v", errors)
	}
}
