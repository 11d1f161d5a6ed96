// Package ode integrates ordinary differential equations dx/dt = f(t, x).
//
// It is the project's only integrator: the simulated firmware moves its plants
// with it, and sampled trajectories are rolled out with it. The predictors never
// need it.
//
// Two methods, both explicit Runge-Kutta:
//
//   - Dopri5, the embedded pair of order 5(4) of Dormand and Prince with
//     adaptive steps, controlled by tolerances.
//   - RK4, the classical method with steps of one size: the same work for
//     every call, and a result that depends smoothly on the initial condition.
//
// A right-hand side must be smooth between the times at which a call starts
// and ends. An input that is held between samples is therefore integrated
// piece by piece, one Advance for each value of the input.
//
// All memory is taken by the New functions. A solver is not safe for use by
// several goroutines at once; take one for each.
package ode

// Func sets dst (K) to dx/dt at time t and state x (K). It must not keep or
// change x, and must not read dst.
type Func func(dst []float64, t float64, x []float64)

const (
	badSize  = "ode: state, destination and times must have the sizes given to New"
	badTimes = "ode: times must be finite and in the order of integration"
	badStep  = "ode: number of steps must be positive"
)
