// Package summary gathers what the stages of a training return: result, warnings and the
// contents of the report.
package summary

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/motion"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/nets"
	"github.com/dgm-robotics/dgm/trainer/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/report"
	"github.com/dgm-robotics/dgm/trainer/selection"
	"github.com/dgm-robotics/dgm/trainer/stack"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Result is a trained model with what the stages of its training returned.
type Result struct {
	Model     *model.Model
	Judged    *model.Model    // the model without the held-out data, which Table is about; nil without them
	Table     *evaluate.Table // plan, on held-out data; nil without them
	HoldTable *evaluate.Table // hold; nil without held-out data or inputs
	Verdict   report.Verdict
	Split     window.Split
	Windows   int                       // trained on
	Prior     []priordynamics.Candidate // of the prior dynamics, the chosen one first
	Stack     *stack.Stack              // the components of the prior mean; nil = none
	selection.Choice
	// CalibrationFlights is the number of whole flights that the calibration was fitted to.
	CalibrationFlights int
	FlightEffect       []float64        // K: standard deviation between flights of their mean errors at the horizon over that of an error; nil = not known, the folds hold out no whole flights
	Motion             *motion.Equation // with its parameters, of all flights, whether or not it is part of the model; nil = there is none
	LatencyGain        float64          // what a regression on inputs that act when they do leaves, over that on inputs that act at once
	Curves             [][]nets.Point
	Partial            string // why the training ended early; empty = it did not
	Elapsed            time.Duration
}

// Tables returns the tables that there are.
func (r *Result) Tables() []*evaluate.Table {
	return slices.DeleteFunc([]*evaluate.Table{r.Table, r.HoldTable}, func(t *evaluate.Table) bool { return t == nil })
}

// Warning returns in one line why intervals of the model may be wrong, and the remedy:
// choices that there was no time for. It is empty where there is none.
func (r *Result) Warning() string {
	var untried []string
	if r.Untried.Core {
		untried = append(untried, "core and basis")
	}
	if r.Untried.Temperature {
		untried = append(untried, "likelihood temperature")
	}
	if len(untried) == 0 {
		return ""
	}
	return fmt.Sprintf("There was no time to choose %s: the safe candidate was used without comparison, and intervals may be too wide. Give the training more time.", strings.Join(untried, ", and "))
}
