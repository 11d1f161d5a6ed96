package prediction

import (
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
)

// Beyond the horizon a rollout is the same as predictions that are made one after the
// other by hand; within, it is one prediction.
func TestASegmentStartsWhereTheOneBeforeEnded(t *testing.T) {
	m := swinging()
	times := []float64{0.4, 1, 1.3, 2.5, 2.75}
	c, err := newRollout(&Predictors{Model: m}, times, true)
	if err != nil {
		t.Fatal(err)
	}
	q := estimator.Query{X0: []float64{0.3, -0.1}, Plan: []float64{0.5, -0.5, 0.2}}
	d := c.newPrediction(times)
	if !c.predict(d, &q) || len(c.segments) != 3 {
		t.Fatalf("%d segments", len(c.segments))
	}
	at := q
	for i, within := range [][]float64{{0.4, 1}, {0.3, 1}, {0.5, 0.75}} {
		p, err := estimator.NewFast(m, within)
		if err != nil {
			t.Fatal(err)
		}
		w := p.NewPrediction()
		p.Predict(w, &at)
		rows := [][2]int{{0, 2}, {2, 3}, {3, 5}}[i]
		n := 2 * (rows[1] - rows[0])
		if !near(d.Mean[2*rows[0]:2*rows[1]], w.Mean[:n], 1e-9) || !near(d.Std[2*rows[0]:2*rows[1]], w.Std[:n], 1e-9) || !near(d.ObsStd[2*rows[0]:2*rows[1]], w.ObsStd[:n], 1e-9) {
			t.Errorf("segment %d: %v ± %v, by hand %v ± %v", i, d.Mean[2*rows[0]:2*rows[1]], d.Std[2*rows[0]:2*rows[1]], w.Mean[:n], w.Std[:n])
		}
		if d.OOD < w.OOD {
			t.Errorf("segment %d has score %v, all have %v", i, w.OOD, d.OOD)
		}
		at = estimator.Query{X0: slices.Clone(w.Mean[2:]), P0: []float64{w.Std[2] * w.Std[2], 0, 0, w.Std[3] * w.Std[3]}, Plan: []float64{0.2}}
	}
	if !(d.Std[8] > d.Std[4] && d.Std[4] > d.Std[0]) {
		t.Errorf("the spread does not grow: %v", d.Std)
	}
	if n := testing.AllocsPerRun(20, func() { c.predict(d, &q) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
