package estimator

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// probes returns queries about a model near its self-checks, or near its origin: of each
// readout, with and without history, with and without a covariance of the start.
func probes(m *model.Model) []Query {
	rows := 7
	return []Query{
		probe(m, 0, 0.1, rows, true, true),
		probe(m, 1, 0.1, rows/2, false, false),
		probe(m, 2, 0.1, 0, true, false),
		probe(m, 3, 0.1, 0, false, true),
		probe(m, 5, 0.1, 1, true, false),
	}
}

// farProbe is out of distribution, by state and by input.
func farProbe(m *model.Model) Query {
	q := probe(m, 4, 3, 5, true, false)
	q.PlanStep = m.Horizon / 7
	return q
}

// probe returns query i, its numbers size units away from where it is near to.
func probe(m *model.Model, i int, size float64, rows int, history, covariance bool) Query {
	n := float64(i)
	next := func() float64 { n += 1.7; return math.Sin(n * n) }
	near := make([]float64, m.K)
	if len(m.Checks) > 0 {
		near = m.Checks[i%len(m.Checks)].X0
	}
	input := func(p int) float64 { return m.Inputs.InputMean[p] + 3*size*m.Inputs.InputStd[p]*next() }
	q := Query{X0: make([]float64, m.K)}
	for k := range q.X0 {
		q.X0[k] = near[k] + size*m.Scale[k]*next()
	}
	if m.P > 0 {
		q.U = make([]float64, m.P)
		for p := range q.U {
			q.U[p] = input(p)
		}
		for range rows {
			for p := range m.P {
				q.Plan = append(q.Plan, input(p))
			}
		}
	}
	if history {
		for range m.History.Rows() {
			for k, x := range q.X0 {
				q.History = append(q.History, x+0.1*size*m.Scale[k]*next())
			}
			for p := range m.P {
				q.History = append(q.History, input(p))
			}
		}
	}
	if covariance {
		q.P0 = probeCovariance(m, next)
	}
	return q
}

// probeCovariance returns a covariance of the start (K×K) that next decides.
func probeCovariance(m *model.Model, next func() float64) []float64 {
	P := make([]float64, m.K*m.K)
	v := make([]float64, m.K)
	for k := range v {
		v[k] = 0.05 * m.Scale[k] * next()
	}
	for k := range v {
		for l := range v {
			P[k*m.K+l] = 0.3 * v[k] * v[l]
		}
		P[k*m.K+k] += m.Sensor[k] + v[k]*v[k]
	}
	return P
}
