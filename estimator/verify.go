package estimator

import (
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// References are models that between them have every part of the format, each with the
// answers to its probes at referenceTimes, little-endian float64.
//
//go:embed reference
var referenceFiles embed.FS

// ReferenceNames are the references.
var ReferenceNames = [...]string{"windows", "stack", "body", "paper", "exact"}

// referencePoints is how many times a reference is predicted at: more than two blocks of a
// Fast, the last of them not full.
const referencePoints = 35

// VerifyBuild predicts the reference models with a Predictor and a Fast and returns an error
// unless they answer as when they were made: with and without plan, history and covariance
// of the start, with scores, derivatives by time, start and plan, gradients, correlations and
// tubes; it draws trajectories, and predicts sixteen plans at once. It finds a program that was built wrongly, or a
// processor that calculates wrongly, where a model's own self-checks do not reach.
func VerifyBuild() error { return verifyBuildOn(simd.Best()) }

func verifyBuildOn(unit simd.Unit) error {
	var errs [len(ReferenceNames)]error
	var all sync.WaitGroup
	for i, name := range ReferenceNames {
		all.Go(func() {
			if err := verifyReference(name, unit); err != nil {
				errs[i] = fmt.Errorf("reference %s: %w: this program, or the processor, does not calculate as it should; install it again", name, err)
			}
		})
	}
	all.Wait()
	return errors.Join(errs[:]...)
}

func verifyReference(name string, unit simd.Unit) error {
	m, err := ReferenceModel(name)
	if err != nil {
		return err
	}
	b, err := referenceFiles.ReadFile("reference/" + name + ".answers")
	if err != nil {
		return err
	}
	want := make([]float64, len(b)/8)
	if _, err := binary.Decode(b, binary.LittleEndian, want); err != nil {
		return err
	}
	times := referenceTimes(m)
	var some []int
	for i := plainEvery - 1; i < len(times); i += plainEvery {
		some = append(some, i)
	}
	draws, err := answersAs(build(m, at(times, some)), m, want, plainTolerances, some)
	if err == nil {
		err = drawsAs(build(m, drawnTimes(m)), draws)
	}
	if err != nil {
		return fmt.Errorf("plain predictor: %w", err)
	}
	if c := compile(m, unit); c != nil {
		f := newFast(build(m, times), c)
		_, err := answersAs(f, m, want, fastTolerances, nil)
		if err == nil {
			err = plansAs(f, m)
		}
		if err != nil {
			return fmt.Errorf("fast predictor on %v: %w", c.unit, err)
		}
	}
	return nil
}

// plansAs compares the means of sixteen plans from one start, which a Batch evaluates at once,
// with those of a Fast that was compared before.
func plansAs(f *Fast, m *model.Model) error {
	if m.P == 0 {
		return nil
	}
	b, err := newBatch(f, 1)
	if err != nil {
		return err
	}
	one := f.NewPrediction()
	size, inputs := len(one.Mean), m.Inputs.InputMean
	for i, q := range probes(m)[:2] {
		all := NewQuestions(m, len(q.Plan)/m.P, len(q.History)/(m.K+m.P))
		all.States.X, all.History.X, all.U.X, all.PlanStep = q.X0, q.History, q.U, q.PlanStep
		for n := range simd.Width {
			for j, u := range q.Plan {
				mean := inputs[j%m.P]
				all.Plans.X = append(all.Plans.X, mean+(u-mean)*float64(n)/simd.Width)
			}
		}
		if len(q.Plan) == 0 {
			continue
		}
		d := &Predictions{Mean: make([]float64, simd.Width*size)}
		if err := b.Predict(d, &all); err != nil {
			return err
		}
		for n := range simd.Width {
			query := all.At(n)
			if !f.Predict(one, &query) {
				return fmt.Errorf("the answer to plan %d of probe %d is not finite", n, i)
			}
			for j, mean := range one.Mean {
				if got := d.Mean[n*size+j]; !(math.Abs(got-mean) <= fastTolerance*one.ObsStd[j]) {
					return fmt.Errorf("mean %d of plan %d of probe %d is %g among sixteen plans and %g alone", j, n, i, got, mean)
				}
			}
		}
	}
	return nil
}

// ReferenceModel returns one of ReferenceNames.
func ReferenceModel(name string) (*model.Model, error) {
	file, err := referenceFiles.ReadFile("reference/" + name + ".dgm")
	if err != nil {
		return nil, err
	}
	return model.Decode(file)
}

// referenceTimes are in no order, the last of them at the end of the horizon.
func referenceTimes(m *model.Model) []float64 {
	times := make([]float64, referencePoints)
	for i := range times {
		times[i] = m.Horizon * float64((i+1)*8%referencePoints) / referencePoints
	}
	times[referencePoints-1] = m.Horizon
	return times
}

// tolerances of a reference.
type tolerances struct {
	prediction    float64 // in standard deviations of a measurement
	held, planned float64 // of Jacobians, gradients and correlations, over the largest, where the input is held or not
}

// The Jacobians of a Fast are interpolated where the input changes within the steps of the
// difference equation.
var (
	plainTolerances = tolerances{plainTolerance, plainTolerance, plainTolerance}
	fastTolerances  = tolerances{fastTolerance, fastTolerance / 10, 0.03}
)

// drawnTimes are a few, ascending.
func drawnTimes(m *model.Model) []float64 {
	times := referenceTimes(m)[referencePoints-7:]
	slices.Sort(times)
	return times
}

// gradientProbes: gradients are taken of so many of the probes.
const gradientProbes = 2

// plainEvery: a Predictor is asked at every such time of a reference, the last one among them. Its gradients are among
// the draws.
const plainEvery = 7

// at returns the numbers of v at places.
func at(v []float64, places []int) (out []float64) {
	for _, i := range places {
		out = append(out, v[i])
	}
	return out
}

// answersAs compares the answers to all probes of a reference with those wanted, and returns those wanted that are left.
// A predictor at some of the times, which they have the places of, is compared there, and not by its gradients.
func answersAs(p gradientChecked, m *model.Model, want []float64, within tolerances, some []int) (left []float64, err error) {
	for i, q := range append(probes(m), farProbe(m)) {
		d := withAll(p.NewPrediction(), m, &q)
		if !p.Predict(d, &q) {
			return nil, fmt.Errorf("the answer to probe %d is not finite", i)
		}
		got := appendAnswer(nil, d)
		expected, rest, err := answerAt(want, len(d.RMSRatio) > 0, m.K, some)
		if err != nil {
			return nil, err
		}
		if j := differs(got, expected, len(d.Mean), within.prediction); j >= 0 {
			return nil, fmt.Errorf("number %d of the answer to probe %d is %g and should be %g", j, i, got[j], expected[j])
		}
		want = rest
		all, err := further(p, d, &q, some == nil && i < gradientProbes)
		if err != nil {
			return nil, fmt.Errorf("probe %d: %w", i, err)
		}
		most := within.held
		if len(q.Plan) > m.P {
			most = within.planned
		}
		for _, of := range all {
			tolerance := most
			if of.gradient {
				tolerance = within.prediction
			}
			if want, err = of.as(want, tolerance, some); err != nil {
				return nil, fmt.Errorf("probe %d: %w", i, err)
			}
		}
	}
	return want, nil
}

// differs returns the place of the first number of an answer with n means that differs from the expected one, −1 = none.
func differs(got, expected []float64, n int, tolerance float64) int {
	for j, w := range expected {
		unit := math.Max(1, math.Abs(w)) // of a score or ratio
		switch {
		case j < 3*n: // mean, std, obs_std
			unit = expected[2*n+j%n]
		case j < 5*n: // derivatives
			unit = expected[4*n+j%n] + 1e-3*math.Abs(w)
		}
		if !(math.Abs(got[j]-w) <= tolerance*unit) {
			return j
		}
	}
	return -1
}

// answerAt returns the first answer of those wanted at some of the times, nil = all, and the numbers behind it.
func answerAt(want []float64, ratio bool, K int, some []int) (answer, rest []float64, err error) {
	const T = referencePoints
	n, scalars := 5*T*K, 8
	if ratio {
		n += T
	}
	if len(want) < n+scalars {
		return nil, nil, errTooFew
	}
	if some == nil {
		return want[:n+scalars], want[n+scalars:], nil
	}
	for block := range 5 {
		for _, i := range some {
			answer = append(answer, want[(block*T+i)*K:(block*T+i+1)*K]...)
		}
	}
	if ratio {
		answer = append(answer, at(want[5*T*K:], some)...)
	}
	return append(answer, want[n:n+scalars]...), want[n+scalars:], nil
}

var errTooFew = errors.New("it has too few answers")

// gradientChecked is a checkable that has gradients.
type gradientChecked interface {
	checkable
	NewGradient(numbers int) *Gradient
	Adjoint(dst *Gradient, q *Query, mean, std []float64) (ok bool)
}

// withAll allocates all that a prediction of a model can hold.
func withAll(d *Prediction, m *model.Model, q *Query) *Prediction {
	d.WithDerivatives().WithCorrelation()
	if m.Displacement {
		d.WithJacobian()
	}
	if m.P > 0 {
		d.WithInputJacobian(max(len(q.Plan), m.P))
	}
	return d
}

// group is numbers of one kind, of which a deviation counts relative to the largest.
type group struct {
	name    string
	numbers []float64
	none    int  // so many are not compared, in place of numbers
	times   bool // they are one for each time

	gradient bool // exact at all times
}

// as compares a group with the first of the numbers wanted, at some of the times, nil = all, and returns the others.
func (g group) as(want []float64, tolerance float64, some []int) (left []float64, err error) {
	n := len(g.numbers) + g.none
	if g.times && some != nil {
		n = referencePoints
	}
	if len(want) < n {
		return nil, errTooFew
	}
	expected := want[:n]
	if g.times && some != nil {
		expected = at(expected, some)
	}
	most := 0.0
	for _, w := range expected {
		most = math.Max(most, math.Abs(w))
	}
	for j, v := range g.numbers {
		if w := expected[j]; !(math.Abs(v-w) <= tolerance*most) {
			return nil, fmt.Errorf("number %d of the %s is %g and should be %g", j, g.name, v, w)
		}
	}
	return want[n:], nil
}

// further returns what a query is answered with beside what appendAnswer appends: matrices as
// weighted sums at each time.
func further(p gradientChecked, d *Prediction, q *Query, gradients bool) (all []group, err error) {
	T := len(d.Times)
	if gradients {
		all, err = gradientOf(p, d, q, false)
	} else {
		all = []group{{none: len(q.X0) + max(len(q.Plan), len(q.U))}}
	}
	return append(all, group{name: "Jacobian", numbers: sums(d.Jacobian, T), times: true}, group{name: "Jacobian by the plan", numbers: sums(d.InputJacobian, T), times: true},
		group{name: "correlation", numbers: sums(d.Correlation, T), times: true}, group{name: "tube", numbers: d.Tube[:]}), err
}

// gradientOf returns the gradient of a weighted sum of means and, if asked for, of standard
// deviations.
func gradientOf(p gradientChecked, d *Prediction, q *Query, deviations bool) ([]group, error) {
	g := p.NewGradient(max(len(q.Plan), len(q.U)))
	mean, std := make([]float64, len(d.Mean)), []float64(nil)
	for j := range mean {
		mean[j] = weightOf(j) / d.ObsStd[j]
	}
	if deviations {
		std = mean
	}
	if !p.Adjoint(g, q, mean, std) {
		return nil, errors.New("its gradient is not finite")
	}
	return []group{{name: "gradient by the start", numbers: g.X0, gradient: true}, {name: "gradient by the plan", numbers: g.Plan, gradient: true}}, nil
}

// weightOf is the weight of number j in a sum.
func weightOf(j int) float64 { return 1 + 0.5*math.Sin(float64(3*j)) }

// sums returns a weighted sum of the numbers at each of T times.
func sums(v []float64, T int) []float64 {
	out := make([]float64, T)
	for j, x := range v {
		out[j*T/len(v)] += weightOf(j%(len(v)/T)) * x
	}
	return out
}

// drawsAs compares what only a Predictor is asked for of a reference with what is wanted.
func drawsAs(p *Predictor, want []float64) error {
	all, err := draws(p)
	for _, of := range all {
		if err == nil {
			want, err = of.as(want, plainTolerance, nil)
		}
	}
	if err == nil && len(want) > 0 {
		err = fmt.Errorf("%d answers too many", len(want))
	}
	return err
}

// draws returns weighted sums of trajectories, the probabilities of a half-space and a box
// about the middle of the horizon, and gradients with those of the deviations: of probes with
// covariance of the start and without.
func draws(p *Predictor) (out []group, err error) {
	const trajectories = 8
	K, T := p.m.K, len(p.times)
	d, s, drawn := p.NewPrediction(), newTrajectories(p), make([]float64, T*K)
	for i, q := range probes(p.m)[:2] {
		n := float64(i)
		normal := func() float64 { n += 1.7; return 1.5 * math.Sin(n*n) }
		if !p.Predict(d, &q) || !s.Start(d, &q) {
			return nil, errors.New("trajectories are not finite")
		}
		for range trajectories {
			s.Draw(drawn, normal)
			out = append(out, group{name: "trajectories", numbers: sums(drawn, T)})
		}
		l := Limits{HalfSpaces: make([]float64, K+1), Boxes: make([]float64, 2*K)}
		for k := range K {
			j := T/2*K + k
			l.HalfSpaces[k] = weightOf(k) / d.Std[j]
			l.HalfSpaces[K] += l.HalfSpaces[k] * (d.Mean[j] + 0.5*d.Std[j])
			l.Boxes[k], l.Boxes[K+k] = d.Mean[j]-2*d.Std[j], d.Mean[j]+d.Std[j]
		}
		probabilities := make([]float64, l.Count(K)*T)
		whole := s.Violation(probabilities, &l, trajectories, normal)
		out = append(out, group{name: "violations", numbers: append(probabilities, whole)})
	}
	q := probes(p.m)[1]
	gradient, err := gradientOf(p, d, &q, true)
	return append(out, gradient...), err
}

func appendAnswer(dst []float64, d *Prediction) []float64 {
	for _, v := range [...][]float64{d.Mean, d.Std, d.ObsStd, d.DMean, d.DStd, d.RMSRatio} {
		dst = append(dst, v...)
	}
	dst = append(dst, d.Distance, d.Leverage, d.InputScore, d.OOD, d.Half50, float64(d.Readout))
	for _, b := range [...]bool{d.NoHistory, d.OutOfDistribution} {
		v := 0.0
		if b {
			v = 1
		}
		dst = append(dst, v)
	}
	return dst
}
