package estimator

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// Fast predicts the same as a Predictor, many times faster: sixteen points at once, in
// single precision where that suffices. Start, prior dynamics, input, ensemble and
// intervals stay in double precision.
//
// It has the Predictor's methods and semantics, and allocates nothing after NewFast
// either. Its numbers differ from the Predictor's by about 10⁻⁵ standard deviations; a
// model whose self-checks differ by more than 10⁻⁴ is evaluated by a Predictor. A start
// state beyond the range of single precision (10³⁸) makes Predict return false.
//
// At more than 48 points the variances of the posterior are interpolated between nodes.
// Standard deviations differ by about 10⁻⁵ of themselves where the input is held, and by 10⁻⁴
// where it changes; they may follow a change somewhat before its time. A model whose
// standard deviations differ by more than 0.02 of themselves, when tried, has its variances
// evaluated at all points. Means are never interpolated, their Jacobian is.
//
// The time of a prediction depends on the model, the points, and the rows of a plan: one
// that is held between the nodes of a roll-out takes up to a seventh less than one that
// changes there. It does not depend on the numbers of a query, except that sines of large
// angles cost up to a tenth of a prediction.
//
// Derivatives by time are the Predictor's, at its speed. Those by the start and the input are exact,
// to single precision, where the input does not change within the steps of a difference equation.
type Fast struct {
	plain *Predictor // evaluates derivatives and what both share
	model *compiled  // nil = the plain one evaluates this model
	c     *compiled  // the same; nil = the plain one evaluates these times
	g     *grid
	w     fastWork

	jacobian bool // whether the means are differentiated by the start state
	byInput  bool // whether by the input
	bare     Query
	derived  *Prediction // the Predictor's, for derivatives by time
	adjoints adjoints[float32]
}

// NewFast is New for a Fast. It checks the Predictor and itself against the model's
// self-checks.
func NewFast(m *model.Model, times []float64) (*Fast, error) {
	plain, err := New(m, times)
	if err != nil {
		return nil, err
	}
	return newFast(plain, compileChecked(m, simd.Best())), nil
}

// compileChecked returns nil for a model that a Fast does not serve: one that it cannot
// compile, or whose self-checks it does not reproduce.
func compileChecked(m *model.Model, unit simd.Unit) *compiled {
	c := compile(m, unit)
	if c == nil || selfChecks(m, func(times []float64) checkable { return newFast(build(m, times), c) }, withinSingle) != nil {
		return nil
	}
	c.interpolates = interpolates(m, c)
	return c
}

// interpolates reports whether the nodes suffice for a model, by probes of it.
func interpolates(m *model.Model, c *compiled) bool {
	times := m.EqualTimes(mostNodes + simd.Width + 1)
	if fastMemory(m, len(times)) > maxMemory {
		return false
	}
	nodes := *c
	nodes.interpolates = true
	f := newFast(build(m, times), &nodes)
	if !f.g.interpolated() {
		return false
	}
	want, got, all := f.NewPrediction(), f.NewPrediction(), probes(m)
	for i := range all {
		if !f.Predict(got, &all[i]) {
			continue // so far from the training states
		}
		nodes, between, v := f.g.nodes, f.g.between, f.w.nodeV
		f.g.nodes, f.g.between, f.w.nodeV = &f.g.places, nil, f.w.v
		if !f.Predict(want, &all[i]) {
			return false
		}
		f.g.nodes, f.g.between, f.w.nodeV = nodes, between, v
		for j, std := range want.Std {
			if math.Abs(got.Std[j]-std) > widthTolerance*std || math.Abs(got.ObsStd[j]-want.ObsStd[j]) > widthTolerance*want.ObsStd[j] {
				return false
			}
		}
	}
	return true
}

// For returns a Fast of the same model for other times, which shares with f the data that depend on the model
// alone. Different goroutines may use the two.
func (f *Fast) For(times []float64) (*Fast, error) {
	m := f.plain.m
	times, err := checkTimes(m, times)
	if err != nil {
		return nil, err
	}
	return newFast(build(m, times), f.model), nil
}

// newFast takes the memory; without a compiled model the plain one evaluates everything.
func newFast(plain *Predictor, c *compiled) *Fast {
	f := &Fast{plain: plain, model: c}
	if c == nil || fastMemory(c.m, len(plain.times)) > maxMemory {
		return f
	}
	f.c = c
	f.derived = plain.NewPrediction().WithDerivatives()
	f.g = newGrid(plain, c)
	f.w = newFastWork(c, f.g, plain)
	return f
}

// Model returns the model that is evaluated. It must not be changed.
func (f *Fast) Model() *model.Model { return f.plain.m }

// NewPrediction returns a prediction with memory for the results of Predict.
func (f *Fast) NewPrediction() *Prediction { return f.plain.NewPrediction() }

// Unit returns the name of the vector unit that evaluates the model, or "plain" if the Predictor does.
func (f *Fast) Unit() string {
	if f.c == nil {
		return "plain"
	}
	return f.c.unit.String()
}

// Predict writes the distribution of the state over the horizon to dst. ok is
// false if a number of the query or of the prediction is not finite; dst is then
// not to be used. It panics if a length does not fit the model.
func (f *Fast) Predict(dst *Prediction, q *Query) (ok bool) {
	p := f.plain
	if f.c == nil {
		return p.Predict(dst, q)
	}
	if !p.accepts(dst, q) {
		return false
	}
	f.byInput = len(dst.InputJacobian) > 0 && p.m.Displacement
	if dst.DMean != nil || len(dst.InputJacobian) > 0 && !f.byInput {
		f.bare = *q
		f.bare.P0 = nil // no derivative depends on it
		f.derived.InputJacobian = nil
		if !f.byInput {
			f.derived.InputJacobian = dst.InputJacobian
		}
		if !p.Predict(f.derived, &f.bare) {
			return false
		}
		copy(dst.DMean, f.derived.DMean)
		copy(dst.DStd, f.derived.DStd)
	}
	dst.Readout = p.signal(q)
	f.jacobian = (q.P0 != nil || dst.Jacobian != nil) && p.m.Displacement
	f.start(dst, q)
	if f.c.knots > 0 && f.g.interpolated() {
		f.varyingKnots(f.g.nodes)
	}
	p.ratio = 0
	for i := range f.c.members {
		f.member(&f.c.members[i], f.w.means[i], dst.Readout)
	}
	p.score(dst)
	if f.byInput {
		f.inputJacobian(dst)
	}
	f.jacobian, f.byInput = false, false
	for i := range f.c.refits {
		f.member(&f.c.refits[i], f.w.means[len(f.c.members)+i], dst.Readout)
	}
	f.variances()
	return f.finish(dst, q)
}

// Vectors returns the name of this processor's vector unit that a Fast uses.
func Vectors() string { return simd.Best().String() }
