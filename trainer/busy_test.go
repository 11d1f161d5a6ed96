package trainer_test

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dgm-robotics/dgm/trainer"
)

// busy trains within 100 hours on a machine that stands still for some time whenever a phase
// begins whose name begins like one of these. The time is that of a bubble: the work itself
// takes none.
func busy(t *testing.T, pause time.Duration, phases ...string) (res *trainer.Result, file []byte) {
	synctest.Test(t, func(t *testing.T) {
		cfg := small()
		cfg.Budget = trainer.Duration(100 * time.Hour)
		cfg.Core, cfg.Basis, cfg.Net.Activation, cfg.Folds.Temperature = "choose", -1, "choose", 0
		cfg.Training.Steps, cfg.Members, cfg.Training.Rows, cfg.Features, cfg.Variances = 6, 1, 300, 10, 1
		cfg.Equation.Windows, cfg.Equation.Iterations, cfg.Stride = 60, 6, trainer.Duration(100*time.Millisecond)
		d := load(t, pendulum(3, 4), cfg)
		last := ""
		var err error
		res, err = trainer.Train(context.Background(), d, cfg, func(p trainer.Progress) {
			if p.Phase != last && slices.ContainsFunc(phases, func(phase string) bool { return strings.HasPrefix(p.Phase, phase) }) {
				time.Sleep(pause)
			}
			last = p.Phase
		})
		if err != nil {
			t.Fatal(err)
		}
		if file, err = res.Model.Encode(); err != nil {
			t.Fatal(err)
		}
	})
	return res, file
}

// A machine that is busy within the time limit trains the same model, byte by byte, as a free
// one, wherever it is slow.
func TestABusyMachineTrainsTheSameModel(t *testing.T) {
	if os.Getenv("DGM_SLOW") == "" {
		t.Skip("trains two models; DGM_SLOW=1 runs it")
	}
	first, free := busy(t, 0)
	res, file := busy(t, 2*time.Hour, "prior dynamics: candidate", "prior dynamics: fold", "choosing: core")
	if res.Partial != "" || !bytes.Equal(file, free) {
		t.Errorf("another model, partial %q", res.Partial)
	}
	if len(res.Prior) != len(first.Prior) || len(res.Candidates) != len(first.Candidates) {
		t.Errorf("%d and %d candidates were tried, %d and %d on a free machine", len(res.Prior), len(res.Candidates), len(first.Prior), len(first.Candidates))
	}
}

// Where the time limit cuts a stage short, result, model and verdict state it.
func TestTheTimeLimitIsReported(t *testing.T) {
	if os.Getenv("DGM_SLOW") == "" {
		t.Skip("trains two models; DGM_SLOW=1 runs it")
	}
	for phase, want := range map[string]string{
		"prior dynamics: fold 1":           "the fits of the prior dynamics",
		"choosing: likelihood temperature": "the choice of the likelihood temperature",
	} {
		res, _ := busy(t, 100*time.Hour, phase)
		if !strings.Contains(res.Partial, "time limit") || !strings.HasSuffix(res.Partial, "during "+want) || res.Model.Provenance.Partial != res.Partial || res.Verdict.Level == "use" {
			t.Errorf("late in %q: partial %q, in the model %q, verdict %s", phase, res.Partial, res.Model.Provenance.Partial, res.Verdict.Level)
		}
	}
}
