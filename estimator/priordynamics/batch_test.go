package priordynamics

import (
	"fmt"
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
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
	models["net"], models["net of a body"] = withNet(0.05), flown(t, 1, true, 2*math.Pi, 0.01)
	addNet(models["net of a body"], 12, 0.01)
	for name, m := range models {
		for _, unit := range simd.Units() {
			t.Run(fmt.Sprint(name, " on ", unit), func(t *testing.T) { checkBatch(t, m, unit) })
		}
	}
}

func checkBatch(t *testing.T, m *Model, unit simd.Unit) {
	const horizon, points = 1.03, 57
	values, derivatives := 1e-12, 1e-11
	if m.hasNet() { // in single precision
		values, derivatives = 3e-7, 3e-6
	}
	u := &staircase{length: 0.07}
	for i := range 16 {
		u.values = append(u.values, []float64{math.Sin(float64(i)), math.Cos(2 * float64(i))})
	}
	times := make([]float64, points)
	for i := range times {
		times[i] = horizon * float64(i+1) / points
	}
	times[10] = 3 * m.Step // a node
	K := len(m.Weights) / m.Terms()
	p := New(m, K, horizon)
	f := NewBatchedRollout(p, times, unit)
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
				if got := all[i*K+k]; math.Abs(got-want) > values*(1+math.Abs(want)) {
					t.Fatalf("at %v s channel %d is %v, expected %v", at, k, got, want)
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
					if got := jacobian[(i*K+c)*K+k]; math.Abs(got-want) > derivatives*(1+math.Abs(want)) {
						t.Fatalf("at %v s channel %d turns with state %d by %v, expected %v", at, k, c, got, want)
					}
				}
			}
		}
		if a := testing.AllocsPerRun(2, func() { f.Evaluate(all); f.Jacobian(jacobian) }); a != 0 {
			t.Errorf("%v allocations", a)
		}
	}
}

// Where all times are those of nodes, no increment is between them.
func TestBatchAtNodes(t *testing.T) {
	m := withNet(0.05)
	p := New(m, 3, 1)
	times := []float64{m.Step, 4 * m.Step, 10 * m.Step}
	f := NewBatchedRollout(p, times, simd.Best())
	all, jacobian, one := make([]float64, 9), make([]float64, 27), make([]float64, 3)
	p.Run([]float64{0.4, -0.7, 2}, constant{1.2, -0.1})
	f.Evaluate(all)
	f.Jacobian(jacobian)
	for i, at := range times {
		p.At(one, nil, at)
		for k, want := range one {
			if math.Abs(all[i*3+k]-want) > 1e-12 {
				t.Errorf("at %v s channel %d is %v, expected %v", at, k, all[i*3+k], want)
			}
		}
		for c := range 3 {
			dx := make([]float64, 3)
			dx[c] = 1
			p.JVP(dx)
			p.JVPAt(one, at)
			for k, want := range one {
				if got := jacobian[(i*3+c)*3+k]; math.Abs(got-want) > 1e-6 {
					t.Errorf("at %v s channel %d turns with state %d by %v, expected %v", at, k, c, got, want)
				}
			}
		}
	}
}
