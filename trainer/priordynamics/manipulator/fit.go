package manipulator

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/cores"
	"github.com/dgm-robotics/dgm/trainer/priordynamics/paths"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Of a fit: nodes in a horizon, windows and iterations, of the first comparison and of the
// fit itself, and the least windows.
const (
	nodes           = 25
	briefWindows    = 64
	briefIterations = 12
	windows         = 400
	iterations      = 40
	fewest          = 50
)

// gravity is where a fit begins, in s⁻²: that of a pendulum of half a metre.
const gravity = 20

// Identify returns the chain of links that the states are of, fitted to flights, with the mean logarithm of its error over
// that of holding, or an empty one where they are of none, the flights are too short, or a brief fit is worse than a leader with the
// same measure. Angles are relative to the link before or to one direction, whichever fits better.
func Identify(ctx context.Context, flights []window.Flight, task window.Task, leader float64) (priordynamics.Chain, float64) {
	first, ok := find(task.States, task.Inputs)
	if !ok {
		return priordynamics.Chain{}, math.Inf(1)
	}
	s := newShooting(flights, task, briefWindows)
	if s.N < fewest {
		return priordynamics.Chain{}, math.Inf(1)
	}
	best, least := first, math.Inf(1)
	for _, relative := range []bool{false, true} {
		for _, sign := range []float64{1, -1} {
			first.Relative = relative
			try := start(first, sign)
			s.descend(ctx, &try, 1, briefIterations)
			if value := s.descend(ctx, &try, nodes/5, briefIterations); value < least {
				best, least = try.Chain, value
			}
		}
		if len(first.Angles) == 1 {
			break // to what its angle is does not matter
		}
	}
	brief := newFit(best)
	if value := s.descend(ctx, &brief, nodes, briefIterations); value > leader+margin {
		return priordynamics.Chain{}, value
	}
	return refit(ctx, brief.Chain, flights, task)
}

// margin is by how much a fit to few windows may be worse than a leader.
const margin = 0.3

// Links returns of how many links the states are the angles and rates, 0 where they are not.
func Links(states []channel.Channel) int {
	c, ok := find(states, 0)
	if !ok {
		return 0
	}
	return len(c.Angles)
}

// find returns the chain that the states are of, with parameters of zero: all states are
// angles, by their period or unit, or the derivative of one. ok is false where they are not.
func find(states []channel.Channel, inputs int) (c priordynamics.Chain, ok bool) {
	for i, s := range states {
		turn := s.Period
		if turn == 0 {
			turn = channel.Turn(s.Unit)
		}
		if turn == 0 {
			continue
		}
		rate := channel.Index(states, s.Derivative)
		if rate < 0 {
			return c, false
		}
		c.Angles, c.Rates, c.Unit = append(c.Angles, i), append(c.Rates, rate), append(c.Unit, 2*math.Pi/turn)
	}
	n := len(c.Angles)
	if n == 0 || n > priordynamics.MostJoints || 2*n != len(states) {
		return c, false
	}
	c.Mass, c.Rotor, c.Gain = make([]float64, n*(n+1)/2-1), make([]float64, n-1), make([]float64, n*inputs)
	for _, list := range []*[]float64{&c.Sine, &c.Cosine, &c.Viscous, &c.Dry} {
		*list = make([]float64, n)
	}
	return c, c.Check(len(states), inputs) == nil // two angles may have one rate
}

// fit is a chain whose parameters are views of one list.
type fit struct {
	priordynamics.Chain
	params []float64
}

func newFit(c priordynamics.Chain) fit {
	f := fit{Chain: c}
	lists := []*[]float64{&f.Mass, &f.Rotor, &f.Sine, &f.Cosine, &f.Viscous, &f.Dry, &f.Gain}
	for _, list := range lists {
		f.params = append(f.params, *list...)
	}
	rest := f.params
	for _, list := range lists {
		n := len(*list)
		*list, rest = rest[:n:n], rest[n:]
	}
	return f
}

// start returns where a fit begins: links that are the lighter the farther out, hanging at an
// angle of zero where the sign is 1.
func start(c priordynamics.Chain, sign float64) fit {
	f := newFit(c)
	n, at := len(c.Angles), 0
	for i := range n {
		f.Sine[i] = sign * gravity / float64(1+i)
		for j := i; j < n; j++ {
			if j == 0 {
				continue // m_11
			}
			if f.Mass[at] = 0.3; i == j {
				f.Mass[at] = 0.6
			}
			at++
		}
	}
	return f
}

// Refit returns the chain fitted to flights, from its parameters on, as far as it came when
// ctx ended; an empty one where they are too short, or c is empty.
func Refit(ctx context.Context, c priordynamics.Chain, flights []window.Flight, task window.Task) priordynamics.Chain {
	c, _ = refit(ctx, c, flights, task)
	return c
}

// refit is Refit that returns the objective, too.
func refit(ctx context.Context, c priordynamics.Chain, flights []window.Flight, task window.Task) (priordynamics.Chain, float64) {
	if c.Empty() {
		return c, math.Inf(1)
	}
	s := newShooting(flights, task, windows)
	if s.N < fewest {
		return priordynamics.Chain{}, math.Inf(1)
	}
	f := newFit(c)
	s.descend(ctx, &f, nodes/5, iterations)
	objective := s.descend(ctx, &f, nodes, iterations)
	return f.Chain, objective
}

// Step returns the length of a step of the roll-outs that fits are to, s.
func Step(task window.Task) float64 { return task.Horizon / nodes }

// shooting is the fit of roll-outs to windows. It minimises the mean over nodes and channels
// of ½ log of the mean square error over that of the displacement, as package
// priordynamics, by the Levenberg-Marquardt method on errors that are weighed by the
// inverse of their mean squares.
type shooting struct{ *paths.Paths }

func newShooting(flights []window.Flight, task window.Task, most int) shooting {
	return shooting{paths.Gather(&priordynamics.Body{}, flights, task, task.Horizon/nodes, nodes, most)}
}

// Of the errors, in units of the rms displacement: the largest that counts, and the mean
// square that counts as none.
const (
	largest = 10
	floor   = 1e-8
)

// errors writes those of the roll-outs to the first nodes (upto) to dst (N×nodes×K).
func (s shooting) errors(dst []float64, c *fit, upto int) {
	cores.Each(s.N, func(i int) {
		x0 := s.X0[i*s.K : (i+1)*s.K]
		x, d := slices.Clone(x0), make([]float64, s.K)
		for n := i * s.Nodes; n < i*s.Nodes+upto; n++ {
			clear(d)
			c.Add(d, x, s.U[n*s.P:(n+1)*s.P], s.Step)
			for k := range x {
				x[k] += d[k]
				e := (x[k] - x0[k] - s.Y[n*s.K+k]) / s.RMS[n%s.Nodes*s.K+k]
				dst[n*s.K+k] = math.Max(-largest, math.Min(e, largest))
			}
		}
	})
}

// squares returns the mean squares (upto×K) of errors, and the value of the objective.
func (s shooting) squares(errors []float64, upto int) (squares []float64, value float64) {
	squares = slices.Repeat([]float64{floor}, upto*s.K)
	for i := range s.N {
		for j := range squares {
			e := errors[i*s.Nodes*s.K+j]
			squares[j] += e * e / float64(s.N)
		}
	}
	for _, v := range squares {
		value += 0.5 * math.Log(v) / float64(len(squares))
	}
	return squares, value
}

// Of the descent: the first damping, by how much it rises and falls, trials of a step, and
// the least improvement that it goes on for.
const (
	firstDamping   = 1e-2
	leastDamping   = 1e-9
	dampingFactor  = 5
	trials         = 8
	worthwhile     = 1e-5
	differenceStep = 1e-5
)

// descend fits the parameters of c to the first nodes, and returns the objective.
func (s shooting) descend(ctx context.Context, c *fit, upto, iterations int) float64 {
	errors, other := make([]float64, len(s.Y)), make([]float64, len(s.Y))
	s.errors(errors, c, upto)
	squares, value := s.squares(errors, upto)
	jacobian := make([][]float64, len(c.params))
	for a := range jacobian {
		jacobian[a] = make([]float64, len(s.Y))
	}
	damping := firstDamping
	for range iterations {
		if ctx.Err() != nil {
			break
		}
		s.differences(jacobian, c, errors, upto)
		gram, right := s.normal(jacobian, errors, squares)
		before := value
		for range trials {
			if step := damped(gram, right, damping); step != nil {
				next := newFit(c.Chain)
				for a, d := range step {
					next.params[a] += d
				}
				s.errors(other, &next, upto)
				if left, v := s.squares(other, upto); v < value {
					*c, squares, value = next, left, v
					errors, other = other, errors
					damping = math.Max(damping/dampingFactor, leastDamping)
					break
				}
			}
			damping *= dampingFactor
		}
		if !(before-value > worthwhile) {
			break
		}
	}
	return value
}

// differences fills the derivatives of the errors by the parameters.
func (s shooting) differences(jacobian [][]float64, c *fit, errors []float64, upto int) {
	for a, row := range jacobian {
		moved := newFit(c.Chain)
		h := differenceStep * (0.1 + math.Abs(c.params[a]))
		moved.params[a] += h
		s.errors(row, &moved, upto)
		for i, e := range errors {
			row[i] = (row[i] - e) / h
		}
	}
}

// normal returns the normal equations of a step, errors weighed by the inverse of squares.
func (s shooting) normal(jacobian [][]float64, errors, squares []float64) (*mat.SymDense, *mat.VecDense) {
	n := len(jacobian)
	gram, right := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	product := func(a, b []float64) (sum float64) {
		for i := range s.N {
			at := i * s.Nodes * s.K
			for j, q := range squares {
				sum += a[at+j] * b[at+j] / q
			}
		}
		return sum
	}
	cores.Each(n, func(a int) {
		right.SetVec(a, -product(jacobian[a], errors))
		for b := a; b < n; b++ {
			gram.SetSym(a, b, product(jacobian[a], jacobian[b]))
		}
	})
	return gram, right
}

// damped returns the step of damped normal equations; nil where there is none.
func damped(gram *mat.SymDense, right *mat.VecDense, damping float64) []float64 {
	n := right.Len()
	sum := mat.NewSymDense(n, nil)
	sum.CopySym(gram)
	for a := range n {
		sum.SetSym(a, a, gram.At(a, a)*(1+damping)+leastDamping)
	}
	var factor mat.Cholesky
	var step mat.VecDense
	if !factor.Factorize(sum) || factor.SolveVecTo(&step, right) != nil {
		return nil
	}
	return step.RawVector().Data
}
