package priordynamics

import (
	"fmt"
	"math"
	"testing"
)

// staircase is an input of equal steps of the given length, the last one held.
type staircase struct {
	values [][]float64
	length float64
}

func (s *staircase) row(t float64) int { return min(int(t/s.length+1e-9), len(s.values)-1) }

func (s *staircase) At(dst []float64, t float64) { copy(dst, s.values[s.row(t)]) }

func (s *staircase) Mean(dst []float64, a, b float64) {
	clear(dst)
	const n = 100
	for i := range n {
		for c, v := range s.values[s.row(a+(b-a)*(float64(i)+0.5)/n)] {
			dst[c] += v / n
		}
	}
}

func TestBatchEqualsAtForEveryTime(t *testing.T) {
	models := map[string]*Model{}
	for degree := 1; degree <= 3; degree++ {
		m := random(degree, 0.05)
		m.Bound[3] = 0.4 // is reached
		models[fmt.Sprint("degree ", degree)] = m
	}
	models["body"], models["body and its axes"] = flown(t, 1, false, 2*math.Pi, 0.01), flown(t, 2, true, 360, 0.01)
	const horizon, points = 1.03, 57
	u := &staircase{length: 0.07}
	for i := range 16 {
		u.values = append(u.values, []float64{math.Sin(float64(i)), math.Cos(2 * float64(i))})
	}
	times := make([]float64, points)
	for i := range times {
		times[i] = horizon * float64(i+1) / points
	}
	for name, m := range models {
		times[10] = 3 * m.Step // a node
		K := len(m.Weights) / m.Terms()
		p := New(m, K, horizon)
		f := NewBatchedRollout(p, times)
		all, one := make([]float64, K*points), make([]float64, K)
		for start := range 3 {
			x0 := make([]float64, K)
			for k := range x0 {
				x0[k] = float64(start) * math.Sin(float64(3*k+start))
			}
			p.Run(x0, u)
			f.Evaluate(all)
			for i, at := range times {
				p.At(one, nil, at)
				for k, want := range one {
					if got := all[k*points+i]; math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
						t.Fatalf("%s: at %v s channel %d is %v, expected %v", name, at, k, got, want)
					}
				}
			}
			jacobian := make([]float64, K*K*points)
			f.Jacobian(jacobian)
			dx := make([]float64, K)
			for c := range K {
				clear(dx)
				dx[c] = 1
				p.JVP(dx)
				for i, at := range times {
					p.JVPAt(one, at)
					for k, want := range one {
						if got := jacobian[(k*K+c)*points+i]; math.Abs(got-want) > 1e-11*(1+math.Abs(want)) {
							t.Fatalf("%s: at %v s channel %d turns with state %d by %v, expected %v", name, at, k, c, got, want)
						}
					}
				}
			}
			if a := testing.AllocsPerRun(2, func() { f.Evaluate(all); f.Jacobian(jacobian) }); a != 0 {
				t.Errorf("%s: %v allocations", name, a)
			}
		}
	}
}
