package node

import (
	"math"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
)

// The score is the root mean square of smoother's derivative minus f in their
// standard deviations: 0 where the net was made to agree, large where one is moved.
func TestHealthTellsWhenTheTwoModelsDisagree(t *testing.T) {
	m := pendulum()
	h := newHealth(&predictors{m: m}, []float64{0.5, 1})
	if h == nil || h.score() != -1 {
		t.Fatalf("before the first look: %+v", h)
	}
	q := estimator.Query{X0: []float64{0.2, -0.1}, Plan: []float64{0.1, 0.4}}
	h.look(&q)
	p, err := estimator.NewFast(m, []float64{0.25, 1})
	if err != nil {
		t.Fatal(err)
	}
	d := p.NewPrediction().WithDerivatives()
	p.Predict(d, &q)
	dyn := newDynamics(m)
	f, sD := make([]float64, 2), make([]float64, 2)
	sum := 0.
	for i := range 2 {
		dyn.at(f, sD, d.Mean[2*i:2*i+2], q.Plan[i:i+1])
		for k := range 2 {
			e := d.DMean[2*i+k] - f[k]
			sum += e * e / (d.DStd[2*i+k]*d.DStd[2*i+k] + sD[k]*sD[k])
		}
	}
	if want := math.Sqrt(sum / 4); math.Abs(h.score()-want) > 1e-9 {
		t.Errorf("score %v, want %v", h.score(), want)
	}
	// The same models, but the dynamics net says something else now.
	other := pendulum()
	b := other.Dynamics.Net.Layers[len(other.Dynamics.Net.Layers)-1].B
	b[0] += 50
	worse := newHealth(&predictors{m: other}, []float64{0.5, 1})
	worse.look(&q)
	if !(worse.score() > 5*h.score()) {
		t.Errorf("score %v where they disagree, %v where not", worse.score(), h.score())
	}
	none := pendulum()
	none.Dynamics.Net.Layers = slices.Clone(none.Dynamics.Net.Layers[:1])
	if newHealth(&predictors{m: none}, []float64{1}) != nil || (*health)(nil).score() != -1 {
		t.Error("a model without dynamics has a score")
	}
}

// It reaches the status, as what is known of the intervals does, and the factor
// each prediction.
func TestHealthIsOnTheStatus(t *testing.T) {
	n, c, nc, predictions := offline(t, Config{})
	n.compose(0)
	if n.status.Health != -1 {
		t.Errorf("before any state: %v", n.status.Health)
	}
	n.findings.asked.Store(true)
	c.arrive(n, 1, 0, 0.1, 0.2)
	n.answer(nc, n.box.get())
	if p := predictions.prediction(); !slices.Equal(p.Factor, slices.Repeat([]float64{1}, len(p.Mean))) {
		t.Errorf("factor %v, and nothing has come to learn it from", p.Factor)
	}
	n.compose(0)
	if !(n.status.Health > 0) || len(n.status.Buckets) == 0 || len(n.status.Coverage) != 2*len(n.status.Buckets) || n.status.Coverage[0] != -1 {
		t.Errorf("status %+v", n.status)
	}
}
