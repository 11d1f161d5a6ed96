package estimator

import (
	"errors"
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/estimator/actuator"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// tolerances of a reference.
type tolerances struct {
	prediction    float64 // in standard deviations of a measurement
	held, planned float64 // of Jacobians, gradients and correlations, over the largest, where the input, or what acts of it, is held or not
}

// The Jacobians of a Fast are interpolated where the input changes within the steps of the
// difference equation.
var (
	plainTolerances = tolerances{plainTolerance, plainTolerance, plainTolerance}
	fastTolerances  = tolerances{fastTolerance, fastTolerance / 10, 0.03}
)

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
		if len(q.Plan) > m.P || actuator.Acts(m.Actuators) {
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
