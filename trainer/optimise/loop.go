package optimise

import (
	"context"
	"fmt"
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
