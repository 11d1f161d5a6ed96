package c99_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/codegen/c99"
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/modeltest"
)

// large returns a model of a quadrotor's size: 12 states at 20 points.
func large() *model.Model {
	m := modeltest.New(modeltest.Shape{
		K: 12, P: 4, F: 100, Basis: 2, Members: 1, Readouts: 2, Prior: 2, Body: true, Nets: 2, Direct: true, History: 6, Range: true, Calibrated: true,
	}, rand.New(rand.NewPCG(3, 4)))
	m.Points = 20
	return m
}

// pendulum returns a small model, trained on a pendulum.
func pendulum(t testing.TB) *model.Model {
	t.Helper()
	m, err := model.ReadFile("../../../estimator/testdata/pendulum.dgm")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// BenchmarkPrediction compares the C source with the onboard predictor of Go, in single precision on one core.
func BenchmarkPrediction(b *testing.B) {
	for name, m := range map[string]*model.Model{"12 states": large(), "pendulum": pendulum(b)} {
		q := question(m, rand.New(rand.NewPCG(5, 6)), true, false, true, true)
		b.Run(name+"/go", func(b *testing.B) {
			f, err := estimator.NewFast(m, m.EqualTimes(m.Points))
			if err != nil {
				b.Fatal(err)
			}
			p := f.NewPrediction()
			for b.Loop() {
				f.Predict(p, &q)
			}
		})
		for _, optimise := range []string{"-O2", "-O3 -march=native"} {
			b.Run(fmt.Sprintf("%s/c %s", name, optimise), func(b *testing.B) {
				dir, _ := write(b, m, c99.Options{})
				program := compile(b, dir, strings.Fields(optimise)...)
				const n = 200
				var predict, jacobian float64 // µs
				if _, err := fmt.Sscan(string(run(b, encode[float32](nil, &q), program, fmt.Sprint(n))), &predict, &jacobian); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(1000*predict, "ns/op")
				b.ReportMetric(1000*jacobian, "ns/jacobian")
			})
		}
	}
}
