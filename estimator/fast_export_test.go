package estimator

import (
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// WrongLength is what a wrong length panics with.
const WrongLength = wrongLength

// NewFastOn is NewFast on a given unit.
func NewFastOn(m *model.Model, times []float64, unit simd.Unit) (*Fast, error) {
	plain, err := New(m, times)
	if err != nil {
		return nil, err
	}
	return newFast(plain, compileChecked(m, unit)), nil
}

// VerifyBuildOn is VerifyBuild on a given unit.
func VerifyBuildOn(unit simd.Unit) error { return verifyBuildOn(unit) }

// ReferenceAnswers returns what a Predictor answers to the probes of a reference.
func ReferenceAnswers(file []byte) (answers []float64, err error) {
	m, err := model.Decode(file)
	if err != nil {
		return nil, err
	}
	p := build(m, referenceTimes(m))
	for _, q := range append(probes(m), farProbe(m)) {
		d := withAll(p.NewPrediction(), m, &q)
		if !p.Predict(d, &q) {
			return nil, errTooFar
		}
		all, err := further(p, d, &q, true)
		if err != nil {
			return nil, err
		}
		answers = appendAnswer(answers, d)
		for _, of := range all {
			answers = append(answers, of.numbers...)
		}
	}
	all, err := draws(build(m, drawnTimes(m)))
	for _, of := range all {
		answers = append(answers, of.numbers...)
	}
	return answers, err
}

// Interpolates reports whether variances are interpolated between nodes.
func (f *Fast) Interpolates() bool { return f.c != nil && f.g.interpolated() }
