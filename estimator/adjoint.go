package estimator

import (
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// Gradient is that of a scalar cost of a prediction, with the memory that Adjoint takes.
type Gradient struct {
	X0   []float64 // K, by the start state
	Plan []float64 // rows·P, by Query.Plan, or by Query.U where no plan is given (rows = 1)

	plan   feature.PlanGradient
	input  priordynamics.InputAdjoint // adds to plan
	knot   []float64                  // P
	widths differences
	stack  stackAdjoint
	member memberAdjoint
	fast   fastAdjoint // of a Fast
}

// newGradient takes the memory that gradients of a Predictor and a Fast share.
func newGradient(p *Predictor, numbers int) *Gradient {
	g := &Gradient{X0: make([]float64, p.m.K), Plan: make([]float64, numbers), knot: make([]float64, p.m.P)}
	g.plan = feature.PlanGradient{Plan: &p.plan, Bar: g.Plan}
	g.input = g.plan.Add
	g.stack = newStackAdjoint(p)
	g.widths = newDifferences(p, numbers)
	return g
}

// NewGradient takes the memory for gradients by plans of so many numbers, rows·P, or P for
// queries without a plan.
func (p *Predictor) NewGradient(numbers int) *Gradient {
	g := newGradient(p, numbers)
	g.stack.tables(len(p.times) * p.m.K)
	for _, c := range p.prior.components {
		g.stack.components = append(g.stack.components, adjointOf(c, p.times))
	}
	g.member = newMemberAdjoint(p)
	return g
}

// Adjoint writes the gradient of a cost c(Mean, Std) by the start state and by the plan to
// dst, for ∂c/∂Mean and ∂c/∂Std (T×K each; std nil = 0). It evaluates the query itself. What
// Mean contributes is the product with the derivatives of the formulas, and exact at all
// times; what Std does is taken by central differences, two predictions for each number of
// the state and of the plan. ok is false if a number of the query or of the gradient is not
// finite. It panics if a length does not fit the model, or dst is not of p.NewGradient.
func (p *Predictor) Adjoint(dst *Gradient, q *Query, mean, std []float64) (ok bool) {
	own := &dst.widths.plus
	if !p.asksGradient(dst, q, mean, std) {
		return false
	}
	if !dst.widths.add(dst, p, p.Predict, doubleStep, q, std) {
		return false
	}
	own.Readout = p.signal(q)
	p.fill(own, q)
	p.addOwnStart(dst, mean)
	dst.stack.run(dst, p.prior, mean, func(i int) (weights, difference []float64) { return dst.stack.at(p.prior, i, p.times) })
	p.addMembers(dst, q, mean, own)
	return allFinite(dst.X0) && allFinite(dst.Plan)
}

// asksGradient clears dst and reports whether all numbers are finite. It panics if a length
// does not fit.
func (p *Predictor) asksGradient(dst *Gradient, q *Query, mean, std []float64) bool {
	if n := len(p.times) * p.m.K; len(dst.X0) != p.m.K || len(dst.Plan) != max(len(q.Plan), p.m.P) || len(mean) != n || std != nil && len(std) != n {
		panic(wrongLength)
	}
	clear(dst.X0)
	clear(dst.Plan)
	return p.accepts(&dst.widths.plus, q) && allFinite(mean) && allFinite(std)
}

// addOwnStart adds that displacements begin at the start.
func (p *Predictor) addOwnStart(dst *Gradient, mean []float64) {
	if p.m.Displacement {
		for j, b := range mean {
			dst.X0[j%p.m.K] += b
		}
	}
}

// Steps of the differences, over the scale of a number: of the double precision of a
// Predictor, and the single one of a Fast.
const (
	doubleStep = 1e-5
	singleStep = 1e-2
)

// differences is the memory for the differences of standard deviations.
type differences struct {
	plus, minus Prediction
	x0, input   []float64 // K, rows·P
	query       Query
}

func newDifferences(p *Predictor, numbers int) differences {
	return differences{plus: *p.NewPrediction(), minus: *p.NewPrediction(), x0: make([]float64, p.m.K), input: make([]float64, numbers)}
}

// add adds to dst what the standard deviations contribute, whose adjoints are std, by
// central differences of predictions.
func (w *differences) add(dst *Gradient, p *Predictor, predict func(*Prediction, *Query) bool, step float64, q *Query, std []float64) (ok bool) {
	if std == nil {
		return true
	}
	w.query = *q
	w.query.X0 = w.x0
	copy(w.x0, q.X0)
	if len(q.Plan) > 0 {
		w.query.Plan = w.input
		copy(w.input, q.Plan)
	} else {
		w.query.U = w.input
		copy(w.input, p.m.Inputs.InputMean)
		copy(w.input, q.U)
	}
	ok = true
	along := func(to, v, scale []float64) {
		for i, at := range v {
			h := step * scale[i%len(scale)]
			v[i] = at + h
			ok = predict(&w.plus, &w.query) && ok
			v[i] = at - h
			ok = predict(&w.minus, &w.query) && ok
			v[i] = at
			for j, b := range std {
				to[i] += b * (w.plus.Std[j] - w.minus.Std[j]) / (2 * h)
			}
		}
	}
	along(dst.X0, w.x0, p.m.Scale)
	if p.m.P > 0 {
		along(dst.Plan, w.input, p.m.Inputs.InputStd)
	}
	w.query = Query{} // the caller's memory
	return ok
}
