package artificial

import (
	"bytes"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
)

func TestModelsAreWholeAndRepeatable(t *testing.T) {
	for _, s := range []Size{
		{K: 1, Features: 10, Points: 5, Horizon: 0.5},
		{K: 2, P: 1, Features: 20, Basis: 2, Points: 10, Horizon: 1},
		Quadrotor,
		{K: 3, P: 2, Features: 8, Basis: 1, Points: 4, Horizon: 1, Members: 3, D: 5, Core: []int{7}, Equation: 2},
		{K: 2, Features: 8, Points: 4, Horizon: 9, Paper: true},
	} {
		m := New(s, 1)
		first, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		second, _ := New(s, 1).Encode()
		other, _ := New(s, 2).Encode()
		if !bytes.Equal(first, second) || bytes.Equal(first, other) {
			t.Errorf("%+v: the seed does not say which model this is", s)
		}
		if m, err = model.Decode(first); err != nil {
			t.Fatal(err)
		}
		p, err := estimator.New(m, nil)
		if err != nil {
			t.Fatal(err)
		}
		dst := p.NewPrediction()
		x0 := make([]float64, s.K)
		if !p.Predict(dst, &estimator.Query{X0: x0}) || len(dst.Mean) != s.K*s.Points || dst.OutOfDistribution {
			t.Errorf("%+v: predicted %v", s, dst)
		}
		x0[0] = 1e3
		if !p.Predict(dst, &estimator.Query{X0: x0}) || !dst.OutOfDistribution {
			t.Errorf("%+v: a state far off is not told", s)
		}
	}
}

// A model that can adapt has its nets' weight and rates for every condition and state.
func TestAdaptableModelsAreWhole(t *testing.T) {
	m := Adaptable(1, 0.02)
	data, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := model.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(read.NetworkWeight) != model.Conditions || len(read.Adaptation.Rate) != read.K || model.EquationOf(read.Stack).Step != 0.02 {
		t.Errorf("%d conditions, rates %v, step %v", len(read.NetworkWeight), read.Adaptation.Rate, model.EquationOf(read.Stack).Step)
	}
}

func BenchmarkPredict(b *testing.B) {
	p, err := estimator.New(New(Quadrotor, 1), nil)
	if err != nil {
		b.Fatal(err)
	}
	dst, x0 := p.NewPrediction(), make([]float64, 12)
	for b.Loop() {
		p.Predict(dst, &estimator.Query{X0: x0})
	}
}

// BenchmarkDecode reads the file of a quadrotor's model.
func BenchmarkDecode(b *testing.B) {
	file, err := New(Quadrotor, 1).Encode()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := model.Decode(file); err != nil {
			b.Fatal(err)
		}
	}
}
