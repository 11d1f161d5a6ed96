package predictors

import (
	"math"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// A free run that holds the last state it knows has the error of holding, and knows nothing later.
func TestFreeRunKnowsOnlyTheInitialSamples(t *testing.T) {
	d := wander()
	d.record, d.of.initial = &d.test[0], 20
	p := predictor{name: "still", simulate: func(f *window.Flight, initial int) error {
		for i := range f.N() {
			if known := !math.IsNaN(f.State(i)[0]); known != (i < initial) {
				t.Fatalf("sample %d is known: %t", i, known)
			}
			copy(f.State(i), f.State(min(i, initial-1)))
		}
		return nil
	}}
	row := study.NewRow(study.Key{Set: "wander"})
	if err := freeRun(row, d, &p); err != nil {
		t.Fatal(err)
	}
	sum, n := 0.0, d.record.N()
	for i := 20; i < n; i++ {
		sum += math.Pow(d.record.State(i)[0]-d.record.State(19)[0], 2)
	}
	want := study.Short(4, math.Sqrt(sum/float64(n-20)))[0]
	if got := row.Numbers("free_run_rmse"); len(got) != 2 || got[0] != want {
		t.Errorf("%v in place of %v", got, want)
	}
}

// A chain begins with the prediction of its first window, goes on from its end, and covers the record.
func TestChainOfPredictions(t *testing.T) {
	m := artificial.New(artificial.Size{K: 1, P: 1, Features: 20, Basis: 1, Points: 10, Horizon: 1, Members: 1, Core: []int{8}}, 1)
	s := window.Series{Name: "ramp"}
	for i := range 36 {
		s.T, s.X, s.U = append(s.T, int64(i)*1e8), append(s.X, 0.1*float64(i)), append(s.U, 0.1*float64(i))
	}
	f := window.Prepare(0, s, []channel.Channel{{Name: "x", Role: channel.State}}, 1, window.Options{})[0]
	measured := f
	measured.X = slices.Clone(f.X)
	fast, err := estimator.NewFast(m, []float64{0.5, 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := 5; i < f.N(); i++ {
		f.State(i)[0] = math.NaN()
	}
	if err := chained(fast, &f, 5, 1); err != nil {
		t.Fatal(err)
	}
	w, q, p := replay.New(1, []float64{0.5, 1}), &estimator.Query{}, fast.NewPrediction()
	for i, of := range []*window.Flight{&measured, &f} {
		start := 4 + 10*i
		w.Read(of, start)
		w.Query(q, m, model.Plan, planRows)
		if !fast.Predict(p, q) || math.Abs(p.Mean[1]-f.State(start + 10)[0]) > 1e-6 {
			t.Errorf("from sample %d: %v in place of %v", start, f.State(start + 10)[0], p.Mean[1])
		}
	}
	if slices.ContainsFunc(f.X, math.IsNaN) {
		t.Errorf("%v", f.X)
	}
}
