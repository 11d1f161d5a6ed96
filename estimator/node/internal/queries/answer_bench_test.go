package queries

import (
	"testing"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// A planner's question: 64 plans over 50 points for a quadrotor.
func BenchmarkQuery(b *testing.B) {
	m := artificial.New(artificial.Quadrotor, 1)
	cfg := Config{
		Vehicle: "v1", Clock: func() (unix, steady int64) { return 0, 0 },
		Model: func() (*model.Model, []float64) { return m, nil },
	}
	q := wire.Query{States: make([]float64, 12), Plans: make([]float64, 64*5*4), Rows: 5, PlanDt: 0.2, Timeout: 60e9, Dtype: "f4"}
	for i := range q.Plans {
		q.Plans[i] = float64(i%7) / 7
	}
	for i := range 50 {
		q.Times = append(q.Times, float64(i+1)/50)
	}
	data := q.Append(nil)
	o := answerer{cfg: &cfg}
	var buf []byte
	for b.Loop() {
		if err := o.answer(data, 0, 0, func(m message) { buf = m.Append(buf[:0]) }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(buf)), "bytes")
}
