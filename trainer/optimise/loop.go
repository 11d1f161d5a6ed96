package optimise

import (
	"context"
	"fmt"
	"math"
)

// Optimiser moves parameters against a gradient at a learning rate.
type Optimiser interface {
	Step(params, grad []float64, rate float64)
}

// Group is a slice of parameters, its gradient of the same length, and the optimiser
// that moves it.
type Group struct {
	Params, Grad []float64
	Optimiser    Optimiser
}

// Outcome is the result of an evaluation.
type Outcome int

// Outcomes of an evaluation.
const (
	Descend Outcome = iota // the gradient holds: the parameters move
	Failed                 // the numbers failed: the last move is taken back
	Done                   // the parameters are good enough: the loop ends
)

// Loop is gradient descent over Steps evaluations. A failed evaluation takes the last
// move back and halves the rate of all later ones.
type Loop struct {
	Steps       int
	Rate        func(step int) float64    // learning rate
	MaxFailures int                       // failed evaluations that the loop survives
	Groups      []Group                   //
	Evaluate    func(step int) Outcome    // fills the gradients at the current parameters
	Moved       func(step int, r float64) // (optional) is called after a move at rate r
}

// DivergedError is the failure of more evaluations than the loop survives.
type DivergedError struct{ Failures, Step int }

func (e *DivergedError) Error() string {
	return fmt.Sprintf("failed numerically %d times by step %d", e.Failures, e.Step)
}

// Run descends and returns the number of failed evaluations. The error is that of ctx,
// when it ended before the last step, or a *DivergedError; the parameters are then
// those of the last move.
func (l *Loop) Run(ctx context.Context) (failures int, err error) {
	kept := make([][]float64, len(l.Groups)) // the parameters of the last good evaluation
	for i, g := range l.Groups {
		kept[i] = append([]float64(nil), g.Params...)
	}
	damping := 1.0
	for step := range l.Steps {
		if err := ctx.Err(); err != nil {
			return failures, err
		}
		switch l.Evaluate(step) {
		case Done:
			return failures, nil
		case Failed:
			if failures++; failures > l.MaxFailures {
				return failures, &DivergedError{failures, step}
			}
			for i, g := range l.Groups {
				copy(g.Params, kept[i])
			}
			damping /= 2
			continue
		}
		rate := damping * l.Rate(step)
		for i, g := range l.Groups {
			copy(kept[i], g.Params)
			g.Optimiser.Step(g.Params, g.Grad, rate)
		}
		if l.Moved != nil {
			l.Moved(step, rate)
		}
	}
	return failures, nil
}

// Cosine is a learning rate that warms up linearly and then falls along half a
// cosine.
type Cosine struct {
	From, To float64 // highest and last rate
	WarmUp   int     // steps
	Steps    int     // steps in all
}

// At returns the rate of step i, 0 ≤ i < Steps.
func (c Cosine) At(i int) float64 {
	if i < c.WarmUp {
		return c.From * float64(i+1) / float64(c.WarmUp)
	}
	x := float64(i-c.WarmUp) / math.Max(1, float64(c.Steps-1-c.WarmUp))
	return c.To + (c.From-c.To)*0.5*(1+math.Cos(math.Pi*math.Min(x, 1)))
}

// Ramp is a weight that is 0 up to the fraction From of the steps, 1 from the
// fraction To on, and rises between them by a power. A matching term that acts
// before the smoother has learned anything pulls it into the trivial solution:
// a flat mean under a large noise, which is consistent with itself.
type Ramp struct {
	From, To, Power float64
	Steps           int
}

// At returns the weight of step i.
func (r Ramp) At(i int) float64 {
	x := (float64(i)/float64(r.Steps) - r.From) / (r.To - r.From)
	return math.Pow(math.Min(math.Max(x, 0), 1), r.Power)
}
