// Package budget holds the time limit of a training, rows that the rest of the time affords
// once it was reached, and progress in units of work.
package budget

import (
	"context"
	"errors"
	"math"
	"time"
)

// Progress is how far a training is.
type Progress struct {
	Phase   string
	Done    float64 // share of the whole, 0…1
	Elapsed time.Duration
	Left    time.Duration // estimate; 0 = not known yet
}

// Work of the phases, in units of training one member's nets, as measured on a robot of
// twelve states; smaller ones take less of all.
const (
	WorkChoose    = 2.0  // candidates for the prior dynamics
	WorkEquations = 1.2  // its fits to the data and to every fold
	WorkNets      = 4.0  // nets of the prior dynamics
	WorkFolds     = 0.1  //
	WorkCore      = 1.0  // one candidate for the core: its nets, and two temperatures
	WorkCoreNets  = 0.5  // its nets
	WorkTempers   = 1.0  // some of the temperatures
	WorkTemper    = 0.25 // one of them
	WorkCalibrate = 0.5  // calibration of one readout
	WorkPosterior = 0.35 // of one member, all readouts; twice: to evaluate, and to export
	WorkMember    = 1.0
)

// Plan is what a training does, for the estimate of its work.
type Plan struct {
	Equation                        bool // prior dynamics are chosen
	Nets                            bool // they have nets
	Cores, Bases, Readouts, Members int
}

func (p Plan) units() float64 {
	units := WorkFolds + WorkTempers + WorkCalibrate*float64(p.Readouts) + (WorkMember+2*WorkPosterior)*float64(p.Members)
	if p.Equation {
		units += WorkChoose + WorkEquations
	}
	if p.Nets {
		units += WorkNets
	}
	if p.Cores*p.Bases > 1 {
		units += WorkCore * float64(p.Cores)
	}
	return units + WorkTemper*float64(p.Bases-1)
}

// ErrUsed is the cause of a context that ended with the time limit.
var ErrUsed = errors.New("the time limit (budget) was reached")

// Adaptation is the time limit of one training and what of its work is done. It is not safe
// for concurrent use.
type Adaptation struct {
	total       time.Duration
	began       time.Time
	report      func(Progress)
	units, done float64
}

// New starts the clock of a training with the given time limit. report, unless nil, is
// called whenever some work is done.
func New(total time.Duration, plan Plan, report func(Progress)) *Adaptation {
	return &Adaptation{total: total, began: time.Now(), report: report, units: plan.units()}
}

// Share returns a share of the time limit.
func (a *Adaptation) Share(share float64) time.Duration {
	return time.Duration(share * float64(a.total))
}

// Elapsed returns the time since New.
func (a *Adaptation) Elapsed() time.Duration { return time.Since(a.began) }

// Work reports that some units of work are done and that a phase begins.
func (a *Adaptation) Work(phase string, units float64) {
	a.done += units
	a.Say(phase)
}

// Skip corrects the whole: so much work is left out.
func (a *Adaptation) Skip(units float64) { a.units -= units }

// Remain corrects the whole: so much work is left.
func (a *Adaptation) Remain(units float64) { a.units = a.done + units }

// Say reports that a phase begins.
func (a *Adaptation) Say(phase string) {
	if a.report == nil {
		return
	}
	share := min(a.done/a.units, 0.99)
	p := Progress{Phase: phase, Done: share, Elapsed: a.Elapsed()}
	if share > 0.02 {
		p.Left = time.Duration(float64(p.Elapsed) * (1 - share) / share)
	}
	a.report(p)
}

// Reason returns why ctx ended.
func Reason(ctx context.Context) error {
	if c := context.Cause(ctx); !errors.Is(c, context.Canceled) {
		return c
	}
	return errors.New("stopped by hand")
}

const (
	// reducedRows is what posteriors are conditioned on after a training that ended early,
	// or a quarter of the usual: they, and calibration by them, cost in proportion.
	reducedRows = 2000
	// LeastRows is what they are conditioned on at least, however little time is left.
	LeastRows = 500
	// spared of the time left is for all that does not depend on rows.
	spared = 0.4
)

// ReducedRows returns the rows that posteriors are conditioned on after a training that
// ended early, for the usual number of rows.
func ReducedRows(rows int) int { return max(min(rows, reducedRows), rows/4) }

// Affordable returns how many rows can be conditioned on so many times in what is left
// of the time limit, when some rows took so long; at least those.
func (a *Adaptation) Affordable(took time.Duration, rows int, times float64) int {
	return affordable(took, rows, a.total-a.Elapsed(), times)
}

func affordable(took time.Duration, rows int, left time.Duration, times float64) int {
	share := (1 - spared) * left.Seconds() / (times * math.Max(took.Seconds(), 1e-9))
	return int(float64(rows) * math.Min(math.Max(share, 1), 1e6/float64(rows)))
}
