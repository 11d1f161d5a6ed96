package estimator_test

import (
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
)

// BenchmarkPredict is one prediction of a quadrotor with inputs by both predictors, with
// and without a covariance of the start: with two equations, and with a stack of these,
// three nets and a direct map of twenty rows of history.
func BenchmarkPredict(b *testing.B) {
	size := artificial.Size{K: 12, P: 4, Features: 100, Basis: 2, Members: 3, D: 3, Core: []int{32, 32}, Points: 100, Horizon: 0.5, Equation: 2}
	b.Run("equations", func(b *testing.B) { benchmark(b, artificial.New(size, 1)) })
	size.Nets = 3
	for i := range 20 {
		size.History = append(size.History, 0.01*float64(i+1))
	}
	b.Run("stack", func(b *testing.B) { benchmark(b, artificial.New(size, 1)) })
}

func benchmark(b *testing.B, m *model.Model) {
	file, err := m.Encode()
	if err != nil {
		b.Fatal(err)
	}
	plain, err := estimator.New(m, nil)
	if err != nil {
		b.Fatal(err)
	}
	fast, err := estimator.NewFast(m, nil)
	if err != nil {
		b.Fatal(err)
	}
	covariance := make([]float64, m.K*m.K)
	for k := range m.K {
		covariance[k*m.K+k] = 1e-3
	}
	for _, c := range []struct {
		name string
		p    interface {
			NewPrediction() *estimator.Prediction
			Predict(*estimator.Prediction, *estimator.Query) bool
		}
		covariance []float64
	}{{"fast/mean", fast, nil}, {"fast/covariance", fast, covariance}, {"plain/mean", plain, nil}, {"plain/covariance", plain, covariance}} {
		b.Run(c.name, func(b *testing.B) {
			dst := c.p.NewPrediction()
			q := estimator.Query{X0: make([]float64, m.K), P0: c.covariance, Plan: make([]float64, 25*m.P), History: make([]float64, m.History.Rows()*(m.K+m.P))}
			b.ReportAllocs()
			for b.Loop() {
				if !c.p.Predict(dst, &q) {
					b.Fatal("not finite")
				}
			}
			b.ReportMetric(float64(len(file))/1e6, "MB")
		})
	}
}
