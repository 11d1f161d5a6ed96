package estimator_test

import (
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
)

// BenchmarkPredict is one prediction of a quadrotor with inputs by both predictors, with
// and without a covariance of the start.
func BenchmarkPredict(b *testing.B) {
	m := artificial.New(artificial.Size{K: 12, P: 4, Features: 100, Basis: 2, Members: 3, D: 6, Core: []int{32, 32}, Points: 100, Horizon: 0.5, Equation: 2}, 1)
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
	}{{"fast", fast, nil}, {"fast/covariance", fast, covariance}, {"plain", plain, nil}, {"plain/covariance", plain, covariance}} {
		b.Run(c.name, func(b *testing.B) {
			dst := c.p.NewPrediction()
			q := estimator.Query{X0: make([]float64, m.K), P0: c.covariance}
			b.ReportAllocs()
			for b.Loop() {
				if !c.p.Predict(dst, &q) {
					b.Fatal("not finite")
				}
			}
		})
	}
}
