package modeltest

import (
	"math"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// apart returns what is usual of K states at so many times.
func apart(times, K int) (out []float64) {
	for range times {
		for k := range K {
			out = append(out, 0.01+0.01*float64(k))
		}
	}
	return out
}

// directMap has a level of each readout without history, and one with rows of it; of a bounded one there is a level of one row between them.
func directMap(m *model.Model, s Shape, rng *rand.Rand) direct.Model {
	lift := m.Inputs.Lift
	lift.Mean, lift.Std = normal(lift.Dim(), 0.2, rng), factors(lift.Dim(), rng)
	d := direct.Model{Lift: lift, UMean: normal(m.P, 0.3, rng), UStd: factors(m.P, rng), Blocks: 2}
	for _, c := range m.Channels[:m.K] {
		d.Derivative = append(d.Derivative, channel.Index(m.Channels[:m.K], c.Derivative))
	}
	for range m.P {
		if s.Range {
			d.Range = append(d.Range, 0.1+0.2*rng.Float64())
		}
	}
	for i := range (1 + s.History) * len(d.Range) {
		if s.Change {
			d.Change = append(d.Change, 0.3*float64(i%m.P+1))
		}
	}
	for readout := range model.Readouts {
		rows := []int{0, s.History}
		if s.Bounded {
			rows = []int{0, 1, s.History}
		}
		for i, n := range rows {
			if i > 0 && n == 0 {
				break
			}
			l := direct.Level{Readout: readout, Rows: n, Degree: 1 + min(i, 1), Times: []float64{0.1, 0.4, Horizon}}
			l.Weights = normal(len(l.Times)*m.K*d.Columns(&l), 0.05, rng)
			if i > 0 || s.History == 0 {
				n := d.Columns(&l) - 1
				l.Mean, l.Std, l.Rest = normal(n, 0.3, rng), factors(n, rng), 0.5
				l.Factor = normal(2*n, 0.3/math.Sqrt(float64(n)), rng)
			}
			if i == 2 {
				l.Apart = apart(len(l.Times), m.K)
			}
			d.Levels = append(d.Levels, l)
		}
	}
	return d
}
