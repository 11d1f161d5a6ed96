package evaluate

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// Whole trajectories are counted inside of tubes: all of an endless one, none of one without
// width; and the document has them by their probability.
func TestJointCoverage(t *testing.T) {
	m := handmade(0)
	flights := shaft(rand.New(rand.NewPCG(8, 8)), 2000, 5, 0, 1)
	if table := run(t, m, flights, Options{}); table.Joint != nil || table.Tubes() != "" {
		t.Errorf("tubes of a model without: %v", table.Joint)
	}
	j := model.Joint{Levels: []float64{1}, Correlation: [][]float64{{0.5}}, Tube: []float64{1e-6, 2, 1e6}, Flights: 9}
	m.Joint = []model.Joint{j, j}
	table := run(t, m, flights, Options{})
	data, err := json.Marshal(table)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Joint map[string]JointCoverage }
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	a, b, c := doc.Joint["0.5"], doc.Joint["0.9"], doc.Joint["0.95"]
	if a.Covered != 0 || b.Covered <= 0 || b.Covered >= 1 || c.Covered != 1 || b.Low > b.Covered || b.High < b.Covered || b.Low == b.High {
		t.Errorf("%+v, %+v, %+v", a, b, c)
	}
	if a.Approximate || b.Approximate || !c.Approximate || b.Flights != 9 || b.Factor != 2 || b.Trajectories < 50 {
		t.Errorf("%+v, %+v, %+v", a, b, c)
	}
	if text := table.Tubes(); !strings.Contains(text, "covered 100 %") {
		t.Error(text)
	}
}

// The derivatives of a model whose mean is linear do not change; those of a small difference do
// not either.
func TestSmoothness(t *testing.T) {
	flights := shaft(rand.New(rand.NewPCG(8, 8)), 2000, 5, 0, 1)
	s, err := MeasureSmoothness(t.Context(), handmade(1), flights, Options{Readout: model.Plan})
	if err != nil {
		t.Fatal(err)
	}
	if s.Pairs != smoothPairs || s.State > 1e-5 || s.StateDifferences > 1e-5 || s.Input > 1e-5 || s.InputDifferences > 1e-5 {
		t.Errorf("%+v", s)
	}
	if s, err := MeasureSmoothness(t.Context(), handmade(1), nil, Options{}); s != nil || err != nil {
		t.Errorf("%+v, %v without a flight", s, err)
	}
	if got := change([]float64{3, 4}, []float64{3, 5}); got != 0.2 {
		t.Errorf("change %v", got)
	}
}
