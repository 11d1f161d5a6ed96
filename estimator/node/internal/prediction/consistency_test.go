package prediction

import (
	"math"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
)

// The score is the root mean square of smoother's derivative minus f in their
// standard deviations: 0 where the net was made to agree, large where one is moved.
func TestConsistencyIsLowWhereTheTwoModelsAgree(t *testing.T) {
	m := pendulum()
	c := newConsistency(&Predictors{Model: m}, []float64{0.5, 1})
	if c == nil || c.score() != -1 {
		t.Fatalf("before the first check: %+v", c)
	}
	q := estimator.Query{X0: []float64{0.2, -0.1}, Plan: []float64{0.1, 0.4}}
	c.check(&q)
	p, err := estimator.NewFast(m, []float64{0.25, 1})
	if err != nil {
		t.Fatal(err)
	}
	d := p.NewPrediction().WithDerivatives()
	p.Predict(d, &q)
	dyn := NewDynamics(m)
	f, sD := make([]float64, 2), make([]float64, 2)
	sum := 0.
	for i := range 2 {
		dyn.At(f, sD, d.Mean[2*i:2*i+2], q.Plan[i:i+1])
		for k := range 2 {
			e := d.DMean[2*i+k] - f[k]
			sum += e * e / (d.DStd[2*i+k]*d.DStd[2*i+k] + sD[k]*sD[k])
		}
	}
	if want := math.Sqrt(sum / 4); math.Abs(c.score()-want) > 1e-9 {
		t.Errorf("score %v, want %v", c.score(), want)
	}
	// The same models, but with another dynamics net.
	other := pendulum()
	b := other.Dynamics.Net.Layers[len(other.Dynamics.Net.Layers)-1].B
	b[0] += 50
	worse := newConsistency(&Predictors{Model: other}, []float64{0.5, 1})
	worse.check(&q)
	if !(worse.score() > 5*c.score()) {
		t.Errorf("score %v where they disagree, %v where not", worse.score(), c.score())
	}
	none := pendulum()
	none.Dynamics.Net.Layers = slices.Clone(none.Dynamics.Net.Layers[:1])
	if newConsistency(&Predictors{Model: none}, []float64{1}) != nil || (*consistency)(nil).score() != -1 {
		t.Error("a model without dynamics has a score")
	}
}
