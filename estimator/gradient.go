package estimator

import (
	"github.com/dgm-robotics/dgm/estimator/dynamics"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// Gradient is the gradient of a scalar cost of a prediction, with the memory that Adjoint needs.
type Gradient struct {
	X0   []float64 // K, by the start state
	Plan []float64 // rows·P, by Query.Plan, or by Query.U where no plan is given (rows = 1)

	plan   feature.PlanGradient
	widths differences
}

// NewGradient takes the memory for gradients by plans of so many numbers, rows·P, or P for queries without a plan.
func (p *Predictor) NewGradient(numbers int) *Gradient {
	g := &Gradient{X0: make([]float64, p.m.K), Plan: make([]float64, numbers), widths: newDifferences(p, numbers)}
	g.plan = feature.PlanGradient{Plan: &p.plan, Bar: g.Plan}
	return g
}

// NewGradient takes the memory for gradients by plans of so many numbers, rows·P, or P for queries without a plan.
func (f *Fast) NewGradient(numbers int) *Gradient { return f.plain.NewGradient(numbers) }

// Adjoint writes the gradient of a cost c(Mean, Std) by the start state and by the plan to dst, for given
// ∂c/∂Mean and ∂c/∂Std (T×K each; std nil = 0). It uses the adjoint of the model's program, which is exact at
// all times, and evaluates the query itself. If the query has a covariance of the start, the part of Std is
// computed by central differences, two predictions for each number of the state and of the plan. ok is false if
// a number of the query or of the gradient is not finite. It panics if a length does not fit the model. The
// first gradient of a condition allocates the memory.
func (p *Predictor) Adjoint(dst *Gradient, q *Query, mean, std []float64) (ok bool) {
	return adjoint(&p.adjoints, p, p, doubleStep, dst, q, mean, std)
}

// Adjoint is Predictor.Adjoint in single precision.
func (f *Fast) Adjoint(dst *Gradient, q *Query, mean, std []float64) (ok bool) {
	if f.c == nil {
		return f.plain.Adjoint(dst, q, mean, std)
	}
	return adjoint(&f.adjoints, f.plain, f, singleStep, dst, q, mean, std)
}

// adjoint is Adjoint by machines of one precision.
func adjoint[T program.Float](all *adjoints[T], p *Predictor, by checkable, step float64, dst *Gradient, q *Query, mean, std []float64) (ok bool) {
	if n := len(p.times) * p.m.K; len(dst.X0) != p.m.K || len(dst.Plan) != max(len(q.Plan), p.m.P) || len(mean) != n || std != nil && len(std) != n {
		panic(wrongLength)
	}
	clear(dst.X0)
	clear(dst.Plan)
	if !p.accepts(&dst.widths.plus, q) || !allFinite(mean) || !allFinite(std) {
		return false
	}
	if q.P0 != nil && p.m.Displacement {
		if !dst.widths.add(dst, p, by, step, q, std) {
			return false
		}
		std = nil
	}
	all.of(p, q, std != nil).run(dst, p, q, mean, std)
	return allFinite(dst.X0) && allFinite(dst.Plan)
}

// prepareAdjoint takes the memory for adjoints of queries like q, with adjoints of the standard deviations or without.
func (f *Fast) prepareAdjoint(q *Query, std bool) {
	std = std && (q.P0 == nil || !f.plain.m.Displacement)
	if f.c == nil {
		f.plain.adjoints.of(f.plain, q, std)
	} else {
		f.adjoints.of(f.plain, q, std)
	}
}

// adjoints are the machines for gradients, by condition, without and with standard deviations.
type adjoints[T program.Float] [model.Conditions][2]*adjointMachine[T]

// adjointMachine takes gradients in one condition.
type adjointMachine[T program.Float] struct {
	machine   *program.Machine[T]
	x, past   program.Reg
	mean, std program.Reg
	means     *dynamics.Means
	input     []float64 // P
}

// of returns the machine for queries like q.
func (a *adjoints[T]) of(p *Predictor, q *Query, widths bool) *adjointMachine[T] {
	c := p.signal(q).Condition(len(q.History) < p.m.History.Rows()*(p.m.K+p.m.P))
	place := &a[c][0]
	if widths {
		place = &a[c][1]
	}
	if *place != nil {
		return *place
	}
	outputs := []string{dynamics.Displacement}
	if widths {
		outputs = append(outputs, dynamics.Std)
	}
	code, means := dynamics.CompileMeans(p.m, dynamics.Spec{Condition: c, Times: p.times, Outputs: outputs})
	*place = &adjointMachine[T]{
		machine: program.NewOn[T](code, program.Options{Adjoint: true}, simd.Best()), means: means, input: make([]float64, p.m.P),
		x: portOf(code.Inputs, dynamics.X), past: portOf(code.Inputs, dynamics.Past), mean: portOf(code.Outputs, dynamics.Displacement), std: portOf(code.Outputs, dynamics.Std),
	}
	return *place
}

// run adds the gradient to dst.
func (a *adjointMachine[T]) run(dst *Gradient, p *Predictor, q *Query, mean, std []float64) {
	m, machine, K := p.m, a.machine, p.m.K
	a.set(p, q)
	machine.Value()
	machine.ClearAdjoints()
	for j, b := range mean {
		machine.SetAdjoint(a.mean, j%K, j/K, 0, b)
		if m.Displacement {
			dst.X0[j%K] += b // displacements begin at the start
		}
	}
	for j, b := range std {
		machine.SetAdjoint(a.std, j%K, j/K, 0, b)
	}
	machine.Adjoint()
	for k := range K {
		dst.X0[k] += machine.AdjointOf(a.x, k, 0, 0)
	}
	row := K + m.P
	for i := 0; a.past != program.None && i < m.History.Rows()*row; i++ {
		if k := i % row; k < K {
			dst.X0[k] -= machine.AdjointOf(a.past, i, 0, 0) // the history itself does not move
		}
	}
	for i, spans := range a.means.Spans {
		for j, at := range spans {
			for c := range a.input {
				a.input[c] = at.Factor * machine.AdjointOf(a.means.Regs[i], c, j, 0)
			}
			switch {
			case at.Factor == 0:
			case a.means.Acting[i]:
				p.prior.actuators.Add(a.input, at.From, at.To)
			default:
				dst.plan.Add(a.input, at.From, at.To)
			}
		}
	}
	p.prior.actuators.Gradient(dst.Plan)
}

// set sets the inputs, of which the signal is set.
func (a *adjointMachine[T]) set(p *Predictor, q *Query) {
	m, machine := p.m, a.machine
	for k, x := range q.X0 {
		machine.Set(a.x, k, 0, 0, x)
	}
	row := m.K + m.P
	for i := 0; a.past != program.None && i < m.History.Rows()*row; i++ {
		v := q.History[i]
		if k := i % row; k < m.K {
			v -= q.X0[k]
		}
		machine.Set(a.past, i, 0, 0, v)
	}
	dynamics.SetMeans(machine, a.means, 0, &p.plan, p.prior.actuators.Start(&p.plan, q.History), a.input)
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
func (w *differences) add(dst *Gradient, p *Predictor, by checkable, step float64, q *Query, std []float64) (ok bool) {
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
			ok = by.Predict(&w.plus, &w.query) && ok
			v[i] = at - h
			ok = by.Predict(&w.minus, &w.query) && ok
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
