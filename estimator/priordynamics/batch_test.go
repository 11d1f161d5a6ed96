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
	models["two links"], models["three links"] = chained(2, true, 0.02), chained(3, false, 0.02)
	for name, m := range models {
		for _, unit := range simd.Units() {
			t.Run(fmt.Sprint(name, " on ", unit), func(t *testing.T) { checkBatch(t, m, unit) })
		}
	}
}

func checkBatch(t *testing.T, m *Model, unit simd.Unit) {
	const horizon, points = 1.03, 57
	values := 1e-12
	if m.hasNet() { // in single precision
		values = 3e-7
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
		checkJacobian(t, f, times)
	}
	panels, zero := make([]float32, K*simd.Padded(K)*f.Nodes()), make([]float64, K)
	if a := testing.AllocsPerRun(2, func() { p.Run(zero, u); f.Evaluate(all); f.Jacobian(panels, f.Nodes(), 0, 1) }); a != 0 {
		t.Errorf("%v allocations", a)
	}
}

// checkJacobian compares the derivatives of the last Run with those along every state.
func checkJacobian(t *testing.T, f *BatchedRollout, times []float64) {
	t.Helper()
	p, K := f.p, f.p.k
	const before, after, share = 1, 2, 0.5 // further columns
	columns := before + f.Nodes() + after
	panels := make([]float32, K*simd.Padded(K)*columns)
	f.Jacobian(panels, columns, before, share)
	dx, one := make([]float64, K), make([]float64, K)
	for c := range K {
		clear(dx)
		dx[c] = 1
		p.JVP(dx)
		for _, at := range times {
			p.JVPAt(one, at)
			first, weights := f.Parabola(at)
			for k, want := range one {
				got := 0.0
				for i, w := range weights {
					got += w / share * float64(panels[((k*simd.Panels(K)+c/simd.Rows)*columns+before+first+i)*simd.Rows+c%simd.Rows])
				}
				if got -= dx[k]; math.Abs(got-want) > 3e-6*(1+math.Abs(want)) { // the state itself moves too
					t.Fatalf("at %v s channel %d turns with state %d by %v, expected %v", at, k, c, got, want)
				}
			}
		}
	}
}

// Where all times are those of nodes, no increment is between them.
func TestBatchAtNodes(t *testing.T) {
	m := withNet(0.05)
	p := New(m, 3, 1)
	times := []float64{m.Step, 4 * m.Step, 10 * m.Step}
	f := NewBatchedRollout(p, times, simd.Best())
	all, one := make([]float64, 9), make([]float64, 3)
	p.Run([]float64{0.4, -0.7, 2}, constant{1.2, -0.1})
	f.Evaluate(all)
	for i, at := range times {
		p.At(one, nil, at)
		for k, want := range one {
			if math.Abs(all[i*3+k]-want) > 1e-12 {
				t.Errorf("at %v s channel %d is %v, expected %v", at, k, all[i*3+k], want)
			}
		}
	}
	checkJacobian(t, f, times)
}
