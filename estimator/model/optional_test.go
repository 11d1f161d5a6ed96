package model_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/modeltest"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

// Fields that a file may lack are written where there is something to hold, and checked.
func TestOptionalFields(t *testing.T) {
	m := modeltest.New(modeltest.Shape{K: 2, P: 1, Core: []int{3}, F: 2, Direct: true, History: 2, Prior: 1}, rand.New(rand.NewPCG(1, 1)))
	for i := range m.Stack {
		if m.Stack[i].Kind == model.Direct {
			m.Ridge.Direct, m.Ridge.History = m.Stack[i].Direct, m.History
		}
	}
	m.Ridge.Direct.Levels = append([]direct.Level(nil), m.Ridge.Direct.Levels...)
	m.Provenance.Segments = []string{"00ff00ff00ff00ff"}
	m.Adaptation.Rate, m.Adaptation.Equation = []float64{0.5, 2}, *model.EquationOf(m.Stack)
	m.Adaptation.Equation.Net, m.Adaptation.Equation.NetScale = mlp.Net{}, nil
	m.Joint = []model.Joint{{Levels: []float64{0.25, 1}, Correlation: [][]float64{{0.5}, {-0.75}}, Tube: []float64{1, 2, 3}, Flights: 4}}
	b, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := model.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if len(back.Ridge.Direct.Levels) == 0 || len(back.Provenance.Segments) != 1 {
		t.Errorf("%d levels, segments %v", len(back.Ridge.Direct.Levels), back.Provenance.Segments)
	}
	if diff := cmp.Diff(m.Ridge, back.Ridge, cmpopts.EquateEmpty(), cmpopts.EquateApprox(1e-6, 0)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(m.Adaptation, back.Adaptation, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(m.Joint, back.Joint); diff != "" {
		t.Error(diff)
	}
	for why, j := range map[string]model.Joint{
		"a correlation of 1":     {Levels: []float64{1}, Correlation: [][]float64{{1}}},
		"levels that descend":    {Levels: []float64{1, 0.5}, Correlation: [][]float64{{0}, {0}}},
		"a correlation too many": {Levels: []float64{1}, Correlation: [][]float64{{0, 0}}},
		"two tubes":              {Levels: []float64{1}, Correlation: [][]float64{{0}}, Tube: []float64{1, 2}},
	} {
		other := *m
		other.Joint = []model.Joint{j}
		if _, err := other.Encode(); err == nil {
			t.Errorf("%s is written", why)
		}
	}
	m.Adaptation.Rate[0] = -1
	if _, err := m.Encode(); err == nil {
		t.Error("a negative rate is written")
	}
	m.Adaptation.Rate[0], m.Adaptation.Equation.Step = 0, -1
	if _, err := m.Encode(); err == nil {
		t.Error("an equation without a step is written")
	}
	m.Adaptation = model.Adaptation{}
	m.Ridge.Direct.Levels[0].Weights = m.Ridge.Direct.Levels[0].Weights[1:]
	if _, err := m.Encode(); err == nil {
		t.Error("a ridge regression with a weight too few is written")
	}
}
