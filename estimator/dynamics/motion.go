package dynamics

import (
	"github.com/dgm-robotics/dgm/estimator/motion"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// Parameters is the input of a program by the parameters of an equation of motion.
const Parameters = "parameters"

// MotionRollOut returns the program of so many steps of h seconds of an equation of motion, with its parameters as an input:
// inputs X (K×1), Parameters (their number × 1) and, where there are inputs, Plan (P×steps), the mean input of every step;
// output Displacement (K×steps).
func MotionRollOut(e *motion.Equation, K, P, steps int, h float64) *program.Program {
	p := &program.Program{}
	x, theta, u := p.Input(X, K, 1), p.Input(Parameters, len(e.Parameters), 1), program.None
	if P > 0 {
		u = p.Input(Plan, P, steps)
	}
	inner := program.None
	p.Output(Displacement, rollOut(p, x, u, steps, func(step *program.Program, r *program.Repeat, x, u program.Reg) program.Reg {
		inner = step.Input(Parameters, len(e.Parameters), 1)
		r.Fixed = append(r.Fixed, program.Bound{Outer: theta, In: inner})
		return motion.Increment(step, e, x, u, inner, h)
	}))
	return p
}
