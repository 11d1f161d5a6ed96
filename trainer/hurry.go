package trainer

import (
	"errors"
	"math"
	"time"

	"github.com/dgm-robotics/dgm/estimator/model"
)

const (
	// hurriedRows is what posteriors are conditioned on where time has run out, or a
	// quarter of the usual: they, and calibration by them, cost in proportion.
	hurriedRows = 2000
	// leastRows is what they are conditioned on at least, however little time is left.
	leastRows = 500
	// spared of the time left is for all that does not depend on rows.
	spared = 0.4
)

// hurry makes what is left after a training that ended early cheaper: posteriors are
// conditioned on fewer rows.
func (t *training) hurry() {
	for _, net := range t.nets {
		net.Settings.Rows = max(min(net.Settings.Rows, hurriedRows), net.Settings.Rows/4)
	}
	// Of what was counted on, calibration, posteriors and table are left.
	t.meter.remain(workLaw*float64(t.readouts()) + 2*workPosterior*float64(len(t.nets)))
}

// pace goes on where hurry ended, when it was the budget that ended the training: it
// times the conditioning of one fold on few rows, and takes as many as the rest of the
// budget has time for.
func (t *training) pace() error {
	if t.res.Partial == "" || !errors.Is(reason(t.ctx), errBudget) || len(t.folds) == 0 {
		return nil
	}
	first := t.nets[0]
	trial := *first
	trial.Settings.Rows = min(first.Settings.Rows, leastRows)
	began := time.Now()
	if _, err := t.scoreFold(&trial, t.folds[0], model.Plan); err != nil {
		return err
	}
	// The folds, the model that is judged and the one that flies, in each readout.
	times := float64(t.readouts() * (len(t.folds) + 2*len(t.nets)))
	left := time.Duration(t.cfg.Budget) - time.Since(t.meter.began)
	rows := affordable(time.Since(began), trial.Settings.Rows, left, times)
	for _, net := range t.nets {
		net.Settings.Rows = min(net.Settings.Rows, rows)
	}
	return nil
}

// affordable returns how many rows can be had so many times in the time left, when some
// took so long; at least those of the trial.
func affordable(took time.Duration, rows int, left time.Duration, times float64) int {
	share := (1 - spared) * left.Seconds() / (times * math.Max(took.Seconds(), 1e-9))
	return int(float64(rows) * math.Min(math.Max(share, 1), 1e6/float64(rows)))
}
