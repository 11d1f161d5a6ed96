package priordynamics

import (
	"testing"

	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// BenchmarkShooting is the objective and its gradient for a rigid body of twelve states, of the second degree, with 400
// windows of 20 steps.
func BenchmarkShooting(b *testing.B) {
	body := tumbler(b, true)
	flights := tumble(b, 3, 20, 0.01, true)
	m, err := Regress(flights, window.Task{States: tumbling}, Shape{Step: 0.02, Degree: 2, Ridge: 1e-4, Body: body})
	if err != nil {
		b.Fatal(err)
	}
	s := gather(flights, window.Task{States: tumbling}, 0.02, 20, 400, &priordynamics.Body{})
	f := newShooting(m, s)
	grad := make([]float64, len(f.start))
	for _, c := range []struct {
		name string
		grad []float64
	}{{"value", nil}, {"gradient", grad}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.last = f.last[:0]
				f.evaluate(c.grad, f.start)
			}
			b.ReportMetric(float64(s.N*s.Nodes), "steps")
		})
	}
}
