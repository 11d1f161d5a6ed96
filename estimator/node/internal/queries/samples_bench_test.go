package queries

import (
	"testing"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// A hundred trajectories over 50 points for a quadrotor.
func BenchmarkSamples(b *testing.B) {
	m := artificial.New(artificial.Quadrotor, 1)
	cfg := Config{
		Vehicle: "v1", Clock: func() (unix, steady int64) { return 0, 0 },
		Model: func() (*model.Model, []float64) { return m, nil },
	}
	q := wire.Query{Want: wire.WantSamples, States: make([]float64, 12), Samples: 100, Dtype: "f4"}
	for i := range 50 {
		q.Times = append(q.Times, float64(i+1)/50)
	}
	data := q.Append(nil)
	o := answerer{cfg: &cfg}
	for b.Loop() {
		if err := o.answer(data, 0, 0, func(message) {}); err != nil {
			b.Fatal(err)
		}
	}
}
