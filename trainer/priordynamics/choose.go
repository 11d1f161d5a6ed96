package priordynamics

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Candidate is a shape that was tried, with its score on data that it was not
// fitted to: the geometric mean of RMSE over that of holding the last value.
type Candidate struct {
	Shape
	Score float64 // +Inf: could not be fitted
}

// Choice is the result of Choose: the shapes of the prior dynamics and of the secondary
// linear model.
type Choice struct {
	Candidates       []Candidate // tried shapes of the prior dynamics, the chosen one first
	Shape, Secondary Shape
}

const (
	folds     = 3
	foldShots = 120 // windows that a fold is fitted to while shapes are compared
	foldSteps = 15  // iterations of L-BFGS then
	foldWork  = mostWork / 15
)

// better is what a larger candidate must have over the smaller ones before it:
// less than this share of their error.
const better = 0.97

// Choose tries a few shapes by cross-validation over whole blocks of time, each with
// the declared kinematics of body, if any. When ctx ends, it takes the best of those
// that were tried, one at least. progress is called before every candidate with how
// many were tried, of how many. It is an error if none could be fitted.
func Choose(ctx context.Context, flights []window.Flight, task window.Task, body priordynamics.Body, progress func(done, of int)) (Choice, error) {
	var tried []Candidate
	best := -1
	all := shapes(flights, task, body)
	for i := 0; i < len(all); i++ {
		progress(i, len(all))
		shape := all[i]
		leader := math.Inf(1)
		if best >= 0 {
			leader = tried[best].Score
		}
		c := Candidate{Shape: shape, Score: validate(ctx, flights, task, shape, leader)}
		tried = append(tried, c)
		if best < 0 || c.Score < c.least(&tried[best]) {
			best = len(tried) - 1
		}
		if ctx.Err() != nil {
			break
		}
		if i == len(all)-1 && !shape.Dry && slices.Max(window.Rests(flights, task.States)) > 0 {
			all = append(all, dry(tried))
		}
	}
	if best < 0 || math.IsInf(tried[best].Score, 1) {
		return Choice{Candidates: tried}, errors.New("no difference equation could be fitted: the data do not excite the channels enough")
	}
	tried[0], tried[best] = tried[best], tried[0]
	secondary, err := secondaryShape(flights, task, body)
	return Choice{Candidates: tried, Shape: tried[0].Shape, Secondary: secondary}, err
}

// dry returns the best linear shape, with dry friction. Products of that with other coordinates are no friction, and diverge beyond the data.
func dry(tried []Candidate) Shape {
	best := tried[0]
	for _, c := range tried[1:] {
		if c.Degree == 1 && c.Score < best.Score {
			best = c
		}
	}
	best.Dry = true
	return best.Shape
}

// least returns the score that c must be below to be chosen before a smaller one: one that differs by a stronger penalty alone is no larger.
func (c *Candidate) least(smaller *Candidate) float64 {
	if c.Step == smaller.Step && c.Degree == smaller.Degree && c.Dry == smaller.Dry {
		return smaller.Score
	}
	return better * smaller.Score
}

// usualEvaluations is how often a fit of 200 iterations rolls its windows out, a gradient
// counting as three.
const usualEvaluations = 860

// Work returns the multiplications that a fit of the chosen shape takes, about, see Effort.
func (c *Choice) Work(task window.Task, e Effort) float64 {
	m := priordynamics.Model{Lift: channel.NewLift(task.States), UMean: make([]float64, task.Inputs), Degree: c.Shape.Degree}
	once := float64(e.Windows) * task.Horizon / c.Shape.Step * float64(m.Terms()*len(task.States))
	return math.Min(mostWork, usualEvaluations*float64(e.Iterations)/200*once)
}

// shapes lists the candidates, small ones first: three degrees, three lengths of
// a step. Choose adds the best linear one with dry friction.
func shapes(flights []window.Flight, task window.Task, body priordynamics.Body) []Shape {
	var out []Shape
	n, H, dt := window.Samples(flights), task.Horizon, window.ShortestInterval(flights)
	var steps []float64
	for _, parts := range []float64{10, 25, 50} {
		step := math.Max(1, math.Round(H/parts/dt)) * dt
		if step <= H && (len(steps) == 0 || step < steps[len(steps)-1]) {
			steps = append(steps, step)
		}
	}
	for degree := 1; degree <= 3; degree++ {
		m := priordynamics.Model{Lift: channel.NewLift(task.States), UMean: make([]float64, task.Inputs), Degree: degree}
		if degree > 1 && (m.Terms() > n/10 || m.Terms() > 400) {
			break
		}
		for _, step := range steps {
			out = append(out, Shape{Step: step, Degree: degree, Ridge: 1e-5, Body: body})
			if degree > 1 {
				out = append(out, Shape{Step: step, Degree: degree, Ridge: 1e-3, Body: body})
			}
		}
	}
	return out
}

// hopeless is how far behind the best a candidate may be after its first fold
// and still be tried on the others.
const hopeless = 1.3

// validate returns the score of a shape on blocks that it was not fitted to. It
// stops after a fold that is hopelessly behind.
func validate(ctx context.Context, flights []window.Flight, task window.Task, shape Shape, best float64) float64 {
	sum, n := 0.0, 0.0
	H := task.Horizon
	scale := rmsDisplacement(flights, compared(flights, H, 10), H)
	for _, fold := range window.Folds(flights, H, folds) {
		m, err := Fit(ctx, fold.Train, task, shape, Effort{foldShots, foldSteps, foldWork})
		if err != nil {
			return math.Inf(1)
		}
		score, windows := rolloutError(m, fold.Held, compared(fold.Held, H, 10), H, scale)
		sum += score * windows
		n += windows
		if math.Exp(sum/n) > hopeless*best {
			break
		}
	}
	if n == 0 || math.IsNaN(sum) {
		return math.Inf(1)
	}
	return math.Exp(sum / n)
}

// secondarySteps is the largest number of steps of the secondary linear model over a
// horizon.
const secondarySteps = 200

// secondaryShape returns the shape of the secondary linear model, which is blended into
// the prior dynamics: linear in the lifted state, its step one or five samples, whichever
// has the smaller roll-out error when fitted by regression. [Fit] fits it by shooting
// from there, as it does the prior dynamics.
func secondaryShape(flights []window.Flight, task window.Task, body priordynamics.Body) (Shape, error) {
	H, dt := task.Horizon, window.ShortestInterval(flights)
	windows := compared(flights, H, 10)
	scale := rmsDisplacement(flights, windows, H)
	best, lowest := Shape{}, math.Inf(1)
	var last error
	for _, samples := range []float64{1, 5} {
		// Errors of hundreds of tiny steps add up, and the robot pays for each.
		shape := Shape{Step: math.Min(H, dt*math.Max(samples, math.Ceil(H/dt/secondarySteps-1e-6))), Degree: 1, Ridge: 1e-9, Body: body}
		m, err := Regress(flights, task, shape)
		if err != nil {
			last = err
			continue
		}
		if score, n := rolloutError(m, flights, windows, H, scale); n > 0 && score < lowest {
			best, lowest = shape, score
		}
	}
	if math.IsInf(lowest, 1) {
		return Shape{}, last
	}
	return best, nil
}
