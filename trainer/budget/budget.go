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

// Plan is what a training does, for the estimate of its work.
type Plan struct {
	States, Inputs           int
	Equation, Direct, Nets   bool // parts of the prior dynamics
	Motion                   bool // an equation of motion is tried
	Folds                    int
	NetSteps                 float64 // of the nets in the equation, over the usual ones
	NetMembers               int
	Chain                    bool // the nets may be on a chain of links
	Cores, Bases, Conditions int
	Members                  int
	Steps                    float64 // of training a member, over the usual ones
	Features                 float64 // of a posterior, over the usual ones
	Held                     bool    // data are held out: the table, and all once more on all data
}

// Costs are the work of the phases: seconds of one core, about, measured on robots of two and
// of twelve states.
type Costs struct {
	Choose    float64 // the shape of the difference equation
	Equation  float64 // one fit of it
	Latency   float64 // of the inputs
	Motion    float64 // the equation of motion
	Direct    float64 // the direct map
	NetChoice float64 // the weight decay of the nets in the equation
	Nets      float64 // these nets
	Weights   float64 // of the stack
	CoreNets  float64 // nets of one candidate for the core
	Trial     float64 // one posterior of a candidate for core, basis or temperature on all folds
	Member    float64
	Calibrate float64 // one condition
	Posterior float64 // one member, all readouts
	Table     float64
}

// trials are the temperatures that are tried in most cases, and the posteriors of a core.
const (
	trials     = 5
	coreTrials = 2
)

// chained is the work of a fit of nets on a chain of links over that of others: three times
// the steps of shooting, each with the derivatives of the chain.
const chained = 7

func (p Plan) costs() Costs {
	K := float64(p.States)
	c := Costs{
		Latency: 0.1 * K * float64(p.Inputs),
		Weights: 0.3 * K, CoreNets: (0.36 + 0.47*K) * p.Steps * p.Features, Trial: (0.14 + 0.3*K) * p.Features, Member: (1.3 + 0.54*K) * p.Steps * p.Features,
		Calibrate: (0.57 + 0.515*K) * p.Features, Posterior: (1.15 + 0.21*K) * p.Features,
	}
	if p.Equation {
		c.Choose, c.Equation = 0.3*K, 0.5*K
	}
	if p.Motion {
		c.Motion = K
	}
	if p.Direct {
		c.Direct = 0.45 * K
	}
	if p.Nets {
		c.NetChoice, c.Nets = 30*p.NetSteps, 4.3*p.NetSteps*float64(p.NetMembers)
		if p.Chain {
			c.NetChoice, c.Nets = 1.5*c.NetChoice, chained*c.Nets
		}
	}
	if p.Held {
		c.Table = 0.3 * K
	}
	return c
}

// units returns the whole work.
func (p Plan) units(c Costs) float64 {
	units := c.Latency + c.Motion + c.Choose + c.Equation*float64(1+p.Folds) + c.Direct + c.NetChoice + c.Nets + c.Weights
	if p.Cores*p.Bases > 1 {
		units += float64(p.Cores)*(c.CoreNets+coreTrials*c.Trial) + float64(p.Bases-1)*c.Trial
	}
	members := float64(p.Members)
	units += members*(c.Member+c.Posterior) + trials*c.Trial + float64(p.Conditions)*c.Calibrate
	if p.Held {
		units += c.Table + c.Equation + c.Direct + c.Nets + members*c.Posterior
	}
	return units
}

// ErrUsed is the cause of a context that ended with the time limit.
var ErrUsed = errors.New("the time limit (budget) was reached")

// Adaptation is the time limit of one training and what of its work is done. It is not safe
// for concurrent use.
type Adaptation struct {
	Costs // what phases report

	total       time.Duration
	began       time.Time
	report      func(Progress)
	units, done float64
	said        float64 // share that was reported last
}

// New starts the clock of a training with the given time limit. report, unless nil, is
// called whenever some work is done.
func New(total time.Duration, plan Plan, report func(Progress)) *Adaptation {
	c := plan.costs()
	return &Adaptation{Costs: c, total: total, began: time.Now(), report: report, units: plan.units(c)}
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

// SetEquation corrects the work of a fit of the equation, once its shape is known, of which so
// many are to come.
func (a *Adaptation) SetEquation(seconds float64, fits int) {
	a.units += float64(fits) * (seconds - a.Equation)
	a.Equation = seconds
}

// NoChain corrects the work of the fits of the nets that are to come: folds prefer the nets
// without the chain of links.
func (a *Adaptation) NoChain(fits int) {
	nets := a.Nets / chained
	a.units -= float64(fits) * (a.Nets - nets)
	a.Nets = nets
}

// SetPosterior corrects the work of a posterior, of which so many are to come, by the time that
// as many took.
func (a *Adaptation) SetPosterior(took time.Duration, members int) {
	n, rate := float64(members), a.done/max(a.Elapsed().Seconds(), 1e-9)
	work := took.Seconds() * rate / n
	a.units += n * (work - a.Posterior)
	a.Posterior = work
}

// Core returns the work of one candidate for the core.
func (a *Adaptation) Core() float64 { return a.CoreNets + coreTrials*a.Trial }

// Remain corrects the whole: so much work is left.
func (a *Adaptation) Remain(units float64) { a.units = a.done + units }

// Say reports that a phase begins.
func (a *Adaptation) Say(phase string) {
	if a.report == nil {
		return
	}
	share := min(a.done/a.units, 0.99)
	a.said = max(a.said, share) // a corrected estimate does not go back
	p := Progress{Phase: phase, Done: a.said, Elapsed: a.Elapsed()}
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
