// Package selection chooses core, basis and activation of the nets by a fold that a
// trial of them was not trained on, and the likelihood temperature of the posterior by
// all folds, with the nets as they are.
package selection

import (
	"fmt"

	"github.com/dgm-robotics/dgm/trainer/budget"
	"github.com/dgm-robotics/dgm/trainer/calibration"
	"github.com/dgm-robotics/dgm/trainer/nets"
)

// Candidate is a choice that was tried, with its mean log likelihood of data that
// it was not fitted to.
type Candidate struct {
	Core        string  // the smoother's core
	Basis       int     // terms of the linear basis
	Temperature float64 // κ
	Score       float64 // mean log likelihood a point, outliers capped
	Folds       bool    // by all folds; else by the first one alone
}

func (c Candidate) String() string {
	return fmt.Sprintf("core %s, basis %d, likelihood temperature %g", c.Core, c.Basis, c.Temperature)
}

// Untried marks the choices that were not made because the time was up: the safe candidate
// was taken.
type Untried struct{ Core, Temperature bool }

// Choice is what was chosen, and what was tried for it.
type Choice struct {
	Candidates []Candidate // in the order in which they were tried
	Chosen     Candidate
	Untried    Untried
}

// Trials conditions nets on folds and scores them.
type Trials struct {
	Folds  calibration.Folds
	On     calibration.Switches // parts of the calibration model with which they are scored
	Budget *budget.Adaptation
}

// trialRows bounds the rows that posteriors are conditioned on while choosing. The
// likelihood is divided by the number of rows, so it hardly depends on it.
const trialRows = 4000

// scores returns the mean log likelihood of a held-out point of each fold.
func (t *Trials) scores(folds calibration.Folds, net *nets.Net, set nets.Conditioning, temperature float64) ([]float64, error) {
	set.Temperature, set.Passes, set.Rows = temperature, 1, min(set.Rows, trialRows)
	return calibration.Score(folds, net, set, t.On)
}
