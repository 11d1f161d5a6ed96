package adapt

import (
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// reference has a model, a flight of samples (K+P) every referencePeriod, and what was learned
// from it, with the predictions that this corrects; little-endian float64.
//
//go:embed reference
var reference embed.FS

const (
	referencePeriod = 10_000_000 // ns
	tolerance       = 1e-6       // of a number, and of one that is at least small
	small           = 1e-3
)

// VerifyBuild learns from a recorded flight and corrects predictions, and returns an error unless all numbers
// equal the recorded ones. It detects wrong builds and processors, which would shift predictions.
func VerifyBuild() error {
	want, err := referenceNumbers("answers")
	if err != nil {
		return err
	}
	got, err := referenceAnswers()
	if err == nil && len(got) != len(want) {
		err = fmt.Errorf("%d answers, %d expected", len(got), len(want))
	}
	for i := 0; err == nil && i < len(got); i++ {
		if !(math.Abs(got[i]-want[i]) <= tolerance*math.Max(small, math.Abs(want[i]))) {
			err = fmt.Errorf("number %d is %g and should be %g", i, got[i], want[i])
		}
	}
	if err != nil {
		return fmt.Errorf("reference of adaptation: %w: this program, or the processor, does not calculate as it should; install it again", err)
	}
	return nil
}

func referenceNumbers(name string) ([]float64, error) {
	b, err := reference.ReadFile("reference/" + name)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(b)/8)
	_, err = binary.Decode(b, binary.LittleEndian, out)
	return out, err
}

// referenceAnswers returns what is learned from the flight, and the predictions from its last
// state, with history and plan and without, that this corrects, and that a gain which is known does.
func referenceAnswers() (out []float64, err error) {
	b, err := reference.ReadFile("reference/model.dgm")
	if err != nil {
		return nil, err
	}
	m, err := model.Decode(b)
	if err != nil {
		return nil, err
	}
	flight, err := referenceNumbers("flight")
	if err != nil {
		return nil, err
	}
	f, err := New(m, func(times []float64) (Predictor, error) { return estimator.New(m, times) })
	if err != nil {
		return nil, err
	}
	K, width := m.K, m.K+m.P
	for i := 0; i < len(flight); i += width {
		f.Observed(int64(i/width)*referencePeriod, flight[i:i+K], flight[i+K:i+width])
	}
	out = f.State().Numbers(nil)
	p, err := estimator.New(m, nil)
	if err != nil {
		return nil, err
	}
	d, last := p.NewPrediction().WithDerivatives(), flight[len(flight)-width:]
	history := flight[len(flight)/2/width*width:][:m.History.Rows()*width] // samples, as if they were means
	for _, q := range []estimator.Query{
		{X0: last[:K], Plan: history[K:width], History: history},
		{X0: last[:K], U: last[K:], History: history},
		{X0: last[:K], U: last[K:]},
	} {
		for _, s := range [...]*State{f.State(), knownGain(f.State(), K)} {
			if !p.Predict(d, f.corrector.Effective(&q, s)) || !f.corrector.Correct(d, &q, s) {
				return nil, errors.New("no prediction is corrected")
			}
			for _, v := range [...][]float64{d.Mean, d.Std, d.ObsStd, d.DMean} {
				out = append(out, v...)
			}
		}
	}
	return out, nil
}

// knownGain returns a state of K states with a gain that is known, and counts.
func knownGain(learned *State, K int) *State {
	s := learned.Clone()
	s.Theta[K], s.Covariance[K*len(s.Theta)+K] = -0.3, 1e-4
	for r := range s.Acting {
		s.Acting[r] = 1
	}
	for i := range s.Weights {
		s.Weights[i] = 0.1
		if i%experts == adapted {
			s.Weights[i] = 1 - 0.1*(experts-1)
		}
	}
	return s
}
