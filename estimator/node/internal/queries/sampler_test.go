package queries

import (
	"math"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/node/internal/prediction"
)

// The vector field is that of the format's page, here for nets and difference
// equations written out anew; samples converge to the same solution in smaller
// steps and spread by its standard deviation.
func TestSamplesFollowTheDynamics(t *testing.T) {
	m := artificial.New(artificial.Size{K: 2, P: 1, Features: 20, Basis: 1, Points: 10, Horizon: 1}, 1)
	d := prediction.NewDynamics(m)
	f, sD := make([]float64, 2), make([]float64, 2)
	x, u := []float64{0.3, -0.2}, []float64{0.7}
	d.At(f, sD, x, u)
	row := append(slices.Clone(x), u...) // the artificial model standardises nothing
	for _, l := range m.Dynamics.Net.Layers {
		next := slices.Clone(l.B)
		for j := range next {
			for i, v := range row {
				next[j] += v * l.W[i*l.Out+j]
			}
			if l.Act == 1 {
				next[j] = 1 / (1 + math.Exp(-next[j]))
			}
		}
		row = next
	}
	for k := range 2 {
		unit := m.Scale[k] / m.Inputs.TimeStd
		if math.Abs(f[k]-row[k]*unit) > 1e-12 || math.Abs(sD[k]-math.Log1p(math.Exp(row[2+k]))*unit) > 1e-12 {
			t.Errorf("channel %d: %v ± %v, want %v", k, f[k], sD[k], row)
		}
	}

	s := newSampler(d, m)
	q := estimator.Query{X0: x}
	coarse, fine := make([]float64, 2), make([]float64, 2*200)
	times := make([]float64, 200)
	for i := range times {
		times[i] = float64(i+1) / 200
	}
	s.draw(coarse, []float64{1}, &q, u, 1, 0, 0)
	s.draw(fine, times, &q, u, 1, 0, 0)
	if !near(coarse, fine[398:], 1e-6) {
		t.Errorf("%v in steps of 1/50, %v in steps of 1/200", coarse, fine[398:])
	}
	// Over a short time the spread is sD·t.
	const h, n = 1e-3, 4000
	var sum, sq float64
	for i := range uint64(n) {
		s.draw(coarse, []float64{h}, &q, u, 7, 0, i)
		e := (coarse[0] - x[0]) / h
		sum, sq = sum+e, sq+e*e
	}
	mean := sum / n
	std := math.Sqrt(sq/n - mean*mean)
	if math.Abs(mean-f[0]) > 5*sD[0]/math.Sqrt(n) || math.Abs(std/sD[0]-1) > 0.06 {
		t.Errorf("derivative %v ± %v, want %v ± %v", mean, std, f[0], sD[0])
	}
	// A plan changes the input at its steps.
	q.Plan = []float64{0.7, 5}
	long, held := make([]float64, 4), make([]float64, 4)
	s.draw(long, []float64{0.5, 1}, &q, u, 1, 0, 0)
	q.Plan = nil
	s.draw(held, []float64{0.5, 1}, &q, u, 1, 0, 0)
	if !near(long[:2], held[:2], 1e-12) || near(long[2:], held[2:], 1e-6) {
		t.Errorf("under a plan %v, under its first input %v", long, held)
	}
}

func near(a, b []float64, tolerance float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= tolerance*(1+math.Abs(y)) })
}
