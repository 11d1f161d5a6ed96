package priordynamics

import (
	"errors"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dgm-robotics/dgm/estimator/motion"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/leastsquares"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Shape is the size of a difference equation.
type Shape struct {
	Step   float64 // s
	Degree int
	Ridge  float64 // of the regression, relative to the number of rows

	// Dry adds the dry friction of rates to the coordinates.
	Dry bool `json:",omitempty"`

	Body  priordynamics.Body  `json:"-"` // (optional) declared kinematics, to which the equation adds
	Chain priordynamics.Chain `json:"-"` // (optional) equation of motion, in place of what a regression finds
}

// How far beyond the data a coordinate is let, and all of them together: products of two or three grow fast, and count no longer from direct.RangeFactor's twice
// the data on; a linear equation carries on what it has learned, such as that a rate moves its position.
const (
	productSlack = 2.0
	linearSlack  = 10.0
)

var errSingular = errors.New("the regression of the difference equation is singular")

// Regress fits single steps by ridge regression: x(t + step) − x(t), less what the
// declared kinematics give of it, on ψ.
func Regress(flights []window.Flight, task window.Task, shape Shape) (*priordynamics.Model, error) {
	K, P := len(task.States), task.Inputs
	m := &priordynamics.Model{Step: shape.Step, Degree: shape.Degree, Lift: standardLift(flights, task.States, shape.Dry), Body: shape.Body, Chain: shape.Chain}
	m.UMean, m.UStd = window.InputScale(flights, P)
	n := m.Lift.Dim() + P
	m.Bound = slices.Repeat([]float64{math.Inf(1)}, n)
	N := m.Terms()
	all, level := newNormal(N, K), newNormal(N, K)
	v, psi, rise, left, largest := make([]float64, n), make([]float64, N), make([]float64, K), make([]float64, K), make([]float64, n)
	climbs := nearGimbalLock(flights, &shape.Body)
	for s := range steps(flights, K, P, shape.Step) {
		m.Coordinates(v, nil, s.x, s.u)
		for c, a := range v {
			largest[c] = math.Max(largest[c], math.Abs(a))
		}
		m.Monomials(psi, v)
		floats.SubTo(rise, s.next, s.x)
		copy(left, rise)
		shape.Body.Subtract(left, s.x, rise, shape.Step)
		all.add(psi, left)
		if climbs && !shape.Body.NearGimbalLock(s.x) && !shape.Body.NearGimbalLock(s.next) {
			level.add(psi, left)
		}
	}
	if m.Weights = all.solve(shape.Ridge); m.Weights == nil {
		return nil, errSingular
	}
	if !shape.Chain.Empty() { // was fitted to roll-outs, which noise in the states biases less
		clear(m.Weights)
	}
	if climbs {
		// Jumps of measured angles near the vertical are no error of the kinematics.
		weights := level.solve(shape.Ridge)
		for j := range N {
			for _, k := range shape.Body.Attitude {
				if m.Weights[j*K+k] = 0; weights != nil {
					m.Weights[j*K+k] = weights[j*K+k]
				}
			}
		}
	}
	slack := productSlack
	if shape.Degree == 1 {
		slack = linearSlack
	}
	for i, w := range largest {
		m.Bound[i] = slack*w + 1e-9
	}
	if shape.Degree > 1 {
		m.Ellipsoid = ellipsoid(m, steps(flights, K, P, shape.Step))
	}
	return m, nil
}

// OfMotion returns the difference equation whose increments are those of an equation of motion.
func OfMotion(flights []window.Flight, task window.Task, step float64, e *motion.Equation) *priordynamics.Model {
	m := &priordynamics.Model{Step: step, Degree: 1, Lift: standardLift(flights, task.States, false), Motion: *e}
	m.UMean, m.UStd = window.InputScale(flights, task.Inputs)
	m.Bound = slices.Repeat([]float64{1}, m.Lift.Dim()+task.Inputs)
	m.Weights = make([]float64, m.Terms()*len(task.States))
	return m
}

// OfChain returns the difference equation whose increments are those of a chain of links.
func OfChain(flights []window.Flight, task window.Task, step float64, c priordynamics.Chain) *priordynamics.Model {
	m := OfMotion(flights, task, step, &motion.Equation{})
	m.Chain = c
	return m
}

// step is a whole state (K), the next one, and the mean input (P) between them.
type step struct{ x, next, u []float64 }

// mostSteps is how many pairs of states are regressed at most, about.
const mostSteps = 60_000

// steps yields pairs of whole states a step, s, apart, evenly spread over the flights. The value is used again.
func steps(flights []window.Flight, K, P int, length float64) iter.Seq[step] {
	return func(yield func(step) bool) {
		s, apart := step{next: make([]float64, K), u: make([]float64, P)}, max(1, window.Samples(flights)/mostSteps)
		for i := range flights {
			f := &flights[i]
			for j := 0; j < f.N(); j += apart {
				t := f.T[j]
				if t+length > f.T[f.N()-1] {
					break
				}
				s.x = f.State(j)
				f.InputMean(s.u, t, t+length)
				if !f.StateAt(s.next, t+length) || slices.ContainsFunc(s.x, math.IsNaN) || slices.ContainsFunc(s.u, math.IsNaN) {
					continue
				}
				if !yield(s) {
					return
				}
			}
		}
	}
}

// nearGimbalLock reports whether the nose of a body points nearly straight up or down
// somewhere.
func nearGimbalLock(flights []window.Flight, b *priordynamics.Body) bool {
	for i := range flights {
		for j := range flights[i].N() {
			if b.NearGimbalLock(flights[i].State(j)) {
				return true
			}
		}
	}
	return false
}

// normal gathers the normal equations of a regression, N terms to K targets.
type normal struct {
	n, k     int
	rows     float64
	products *leastsquares.Products // of terms and targets
}

func newNormal(n, k int) *normal {
	return &normal{n: n, k: k, products: leastsquares.NewProducts(n + k)}
}

// add takes a row: its terms (N) and targets (K).
func (e *normal) add(psi, y []float64) {
	row := e.products.Row()
	copy(row[copy(row, psi):], y)
	e.rows++
}

// solve returns the weights (N×K) under a ridge relative to the number of rows, or
// nil where they are not determined. It uses the equations up.
func (e *normal) solve(ridge float64) []float64 {
	if e.rows < float64(e.n) {
		return nil
	}
	gram := e.products.Sums()
	moment := blas64.General{Rows: e.n, Cols: e.k, Stride: e.k, Data: make([]float64, e.n*e.k)}
	for k := range e.k {
		for a, m := range gram.Data[(e.n+k)*gram.Stride:][:e.n] {
			moment.Data[a*e.k+k] = m
		}
	}
	gram.N = e.n
	for a := range e.n {
		gram.Data[a*gram.Stride+a] += e.rows * ridge
	}
	tri, ok := lapack64.Potrf(gram)
	if !ok {
		return nil
	}
	lapack64.Potrs(tri, moment)
	return moment.Data
}
