// Package summary gathers what the stages of a training return: result, warnings and the
// contents of the report.
package summary

import (
	"fmt"
	"slices"
	"time"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/nets"
	"github.com/dgm-robotics/dgm/trainer/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/selection"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Result is a trained model with what the stages of its training returned.
type Result struct {
	Model     *model.Model
	Judged    *model.Model    // the model without the held-out data, which Table is about; nil without them
	Table     *evaluate.Table // plan, on held-out data; nil without them
	HoldTable *evaluate.Table // hold; nil without held-out data or inputs
	Verdict   string          // a few sentences
	Split     window.Split
	Windows   int                       // trained on
	Prior     []priordynamics.Candidate // of the prior dynamics, the chosen one first
	selection.Choice
	Curves  [][]nets.Point
	Partial string // why the training ended early; empty = it did not
	Elapsed time.Duration
}

func (r *Result) String() string {
	return fmt.Sprintf("%d windows, %v, %d members in %v: %s", r.Windows, r.Chosen, len(r.Model.Members), r.Elapsed.Round(time.Millisecond), r.Verdict)
}

// Tables returns the tables that there are.
func (r *Result) Tables() []*evaluate.Table {
	return slices.DeleteFunc([]*evaluate.Table{r.Table, r.HoldTable}, func(t *evaluate.Table) bool { return t == nil })
}
