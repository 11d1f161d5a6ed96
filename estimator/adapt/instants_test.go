package adapt

import (
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// What is kept of the times of a prediction is not taken for those of another one, whose times differ in some places,
// or of one with more times than are kept.
func TestTimesOfAnotherPrediction(t *testing.T) {
	b, err := reference.ReadFile("reference/model.dgm")
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	f := filter(t, m)
	s := knownGain(f.State(), m.K)
	x, history := make([]float64, m.K), make([]float64, m.History.Rows()*(m.K+m.P))
	for i := range history {
		history[i] = 0.01 * float64(i%7)
	}
	q := estimator.Query{X0: x, U: m.Inputs.InputMean[:m.P], History: history}
	predict := func(c *Corrector, times []float64) []float64 {
		p, err := estimator.New(m, times)
		if err != nil {
			t.Fatal(err)
		}
		d := p.NewPrediction().WithDerivatives()
		if !p.Predict(d, c.Effective(&q, s)) || !c.Correct(d, &q, s) {
			t.Fatal("no prediction is corrected")
		}
		return slices.Concat(d.Mean, d.Std, d.ObsStd, d.DMean)
	}
	many, few := make([]float64, mostInstants+20), []float64{0.1 * m.Horizon, 0.7 * m.Horizon}
	for i := range many {
		many[i] = m.Horizon * float64(i+1) / float64(len(many))
	}
	other := slices.Clone(many)
	other[1], other[len(other)-2] = 0.5*(other[0]+other[1]), 0.5*(other[len(other)-3]+other[len(other)-2])
	c := NewCorrector(m)
	for i, times := range [][]float64{many, few, other, many, other, few} {
		if got, want := predict(c, times), predict(NewCorrector(m), times); !slices.Equal(got, want) {
			t.Errorf("prediction %d is not that of a corrector of its own", i)
		}
	}
}
