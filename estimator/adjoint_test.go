package estimator_test

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// costDifferences returns the gradient of mean·Mean + std·Std by the numbers v of the query, by
// central differences.
func costDifferences(t *testing.T, m *model.Model, times, v, mean, std []float64, q *estimator.Query) []float64 {
	t.Helper()
	const h = 2e-6
	p := newPredictor(t, m, times)
	dst := p.NewPrediction()
	cost := func(i int, at float64) (sum float64) {
		before := v[i]
		v[i] = at
		if !p.Predict(dst, q) {
			t.Fatal("not finite")
		}
		v[i] = before
		for j, b := range mean {
			sum += b * dst.Mean[j]
			if std != nil {
				sum += std[j] * dst.Std[j]
			}
		}
		return sum
	}
	out := make([]float64, len(v))
	for i, at := range v {
		out[i] = (cost(i, at+h) - cost(i, at-h)) / (2 * h)
	}
	return out
}

// nearest fails the test unless got is want to so much of the largest number of want.
func nearest(t *testing.T, what string, got, want []float64, most float64) {
	t.Helper()
	size := 0.0
	for _, w := range want {
		size = max(size, math.Abs(w))
	}
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= most*(1e-3+size)) {
			t.Errorf("%s: number %d is %v, expected %v of %v", what, i, got[i], w, size)
			return
		}
	}
}

// The gradient of a cost by the start and by the plan, or by the input held, is that of
// central differences: within and between the steps of the prior dynamics, in the range of
// training and outside of it.
func TestAdjoint(t *testing.T) {
	for name := range shapes {
		m, rng := make1(name, 73)
		times := grid(13)
		unit := simd.Units()[rng.IntN(len(simd.Units()))]
		plain, fast := newPredictor(t, m, times), newFastOn(t, m, times, unit)
		n := len(times) * m.K
		for i, rows := range []int{0, 1, 3, 17} {
			for j, far := range []float64{1, 3} {
				if i > 0 && i%2 != j && os.Getenv("DGM_SLOW") == "" {
					continue // inputs that are held and plans at both distances, each number of rows at one
				}
				what := fmt.Sprintf("%s on %v, %d rows, %v standard deviations", name, unit, rows, far)
				q := query(rng, m, rows)
				v := q.Plan
				if rows == 0 || m.P == 0 {
					v = q.U
				}
				for k := range q.X0 {
					q.X0[k] *= far
				}
				mean, std := normal(rng, n), normal(rng, n)
				got, single := plain.NewGradient(len(v)), fast.NewGradient(len(v))
				if !plain.Adjoint(got, &q, mean, nil) || !fast.Adjoint(single, &q, mean, nil) {
					t.Fatalf("%s: not finite", what)
				}
				nearest(t, what+": state", got.X0, costDifferences(t, m, times, q.X0, mean, nil, &q), 1e-6)
				nearest(t, what+": plan", got.Plan, costDifferences(t, m, times, v, mean, nil, &q), 1e-6)
				checkJacobians(t, what, plain, got, &q, mean, 1e-9)
				checkJacobians(t, what+", Fast", plain, single, &q, mean, 5e-5)
				if !plain.Adjoint(got, &q, mean, std) {
					t.Fatalf("%s: not finite", what)
				}
				nearest(t, what+": state, with std", got.X0, costDifferences(t, m, times, q.X0, mean, std, &q), 1e-4)
				nearest(t, what+": plan, with std", got.Plan, costDifferences(t, m, times, v, mean, std, &q), 1e-4)
			}
		}
	}
}

// checkJacobians fails the test unless a gradient is the product of mean with the Jacobians, to
// so much.
func checkJacobians(t *testing.T, what string, f interface {
	Model() *model.Model
	NewPrediction() *estimator.Prediction
	Predict(dst *estimator.Prediction, q *estimator.Query) bool
}, got *estimator.Gradient, q *estimator.Query, mean []float64, most float64,
) {
	t.Helper()
	m := f.Model()
	if !m.Displacement {
		return
	}
	p := f.NewPrediction().WithJacobian().WithInputJacobian(len(got.Plan))
	if !f.Predict(p, q) {
		t.Fatalf("%s: not finite", what)
	}
	product := func(jacobian []float64, n int) []float64 {
		out := make([]float64, n)
		for j, b := range mean {
			for c := range out {
				out[c] += b * jacobian[j*n+c]
			}
		}
		return out
	}
	nearest(t, what+": Jacobian by the state", got.X0, product(p.Jacobian, m.K), most)
	nearest(t, what+": Jacobian by the plan", got.Plan, product(p.InputJacobian, len(got.Plan)), most)
}

// The part by the standard deviations is exact in single precision, too.
func TestAdjointOfWidthsOfAFast(t *testing.T) {
	m, rng := make1("calibrated", 74)
	times := grid(10)
	q := query(rng, m, 4)
	mean, std := make([]float64, len(times)*m.K), normal(rng, len(times)*m.K)
	plain, fast := newPredictor(t, m, times), newFastOn(t, m, times, simd.Best())
	want, got := plain.NewGradient(len(q.Plan)), fast.NewGradient(len(q.Plan))
	if !plain.Adjoint(want, &q, mean, std) || !fast.Adjoint(got, &q, mean, std) {
		t.Fatal("not finite")
	}
	nearest(t, "state", got.X0, want.X0, 1e-3)
	nearest(t, "plan", got.Plan, want.Plan, 1e-3)
}

// A gradient allocates nothing, and does not change the query or later predictions.
func TestAdjointAllocatesNothing(t *testing.T) {
	for _, name := range []string{"stack", "members", "exact", "paper", "alone"} {
		m, rng := make1(name, 75)
		times := grid(20)
		q := query(rng, m, 5)
		mean := normal(rng, len(times)*m.K)
		plain, fast := newPredictor(t, m, times), newFastOn(t, m, times, simd.Best())
		a, b := plain.NewGradient(len(q.Plan)), fast.NewGradient(len(q.Plan))
		for _, std := range [][]float64{nil, mean} {
			if n := testing.AllocsPerRun(2, func() { plain.Adjoint(a, &q, mean, std); fast.Adjoint(b, &q, mean, std) }); n != 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
		want, got := fast.NewPrediction(), fast.NewPrediction()
		newFastOn(t, m, times, simd.Best()).Predict(want, &q)
		fast.Predict(got, &q)
		for j, v := range want.Mean {
			if got.Mean[j] != v || got.Std[j] != want.Std[j] {
				t.Fatalf("%s: the prediction after a gradient is another one", name)
			}
		}
		q.X0[0] = math.NaN()
		if plain.Adjoint(a, &q, mean, nil) || fast.Adjoint(b, &q, mean, nil) {
			t.Errorf("%s: a state that is no number has a gradient", name)
		}
	}
}

// A batch has the gradients of a Fast, and refuses questions without adjoints.
func TestBatchHasGradients(t *testing.T) {
	m, rng := make1("stack", 76)
	const n = 7
	b := newBatch(t, m, grid(9), 2)
	q, d := questions(rng, m, n), &estimator.Predictions{StartGradient: make([]float64, n*m.K), PlanGradient: make([]float64, n*5*m.P)}
	if err := b.Predict(d, &q); err == nil {
		t.Error("gradients of nothing are taken")
	}
	q.MeanAdjoint.Size, q.StdAdjoint.Size = 9*m.K, 9*m.K
	q.MeanAdjoint.X, q.StdAdjoint.X = normal(rng, n*9*m.K), normal(rng, 9*m.K)
	f := newFastOn(t, m, grid(9), simd.Best())
	g := f.NewGradient(5 * m.P)
	if err := b.Predict(d, &q); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		query := q.At(i)
		f.Adjoint(g, &query, q.MeanAdjoint.Row(i), q.StdAdjoint.Row(i))
		if !slices.Equal(g.X0, d.StartGradient[i*m.K:(i+1)*m.K]) || !slices.Equal(g.Plan, d.PlanGradient[i*5*m.P:(i+1)*5*m.P]) {
			t.Errorf("question %d has another gradient", i)
		}
	}
}

// The first batch of gradients takes the memory of all workers, also of those that are too late for any of its questions.
func TestGradientsOfLaterBatchesDoesNotAllocate(t *testing.T) {
	m, rng := make1("stack", 78)
	const n, workers = 60, 3
	b := newBatch(t, m, grid(9), workers)
	q, d := questions(rng, m, n), &estimator.Predictions{StartGradient: make([]float64, n*m.K)}
	q.MeanAdjoint.Size, q.MeanAdjoint.X = 9*m.K, normal(rng, n*9*m.K)
	predict := func() {
		if err := b.Predict(d, &q); err != nil {
			t.Fatal(err)
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // the first worker does not wait for the others
	predict()
	runtime.GOMAXPROCS(workers)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 20 {
		predict()
	}
	runtime.ReadMemStats(&after)
	if a := after.Mallocs - before.Mallocs; a > 500 { // those of the runtime for goroutines; to compile one program takes more
		t.Errorf("later batches made %d allocations", a)
	}
}

// BenchmarkDerivatives is what the derivatives of a quadrotor's prediction cost: 20 points,
// 12 states, 4 inputs, a plan of 20 rows.
func BenchmarkDerivatives(b *testing.B) {
	size := artificial.Size{K: 12, P: 4, Features: 100, Basis: 2, Members: 3, D: 3, Core: []int{32, 32}, Points: 20, Horizon: 0.5, Equation: 2}
	for _, name := range []string{"equations", "stack"} {
		if name == "stack" {
			size.Nets = 3
			for i := range 20 {
				size.History = append(size.History, 0.01*float64(i+1))
			}
		}
		m := artificial.New(size, 1)
		f, err := estimator.NewFast(m, nil)
		if err != nil {
			b.Fatal(err)
		}
		p, err := estimator.New(m, nil)
		if err != nil {
			b.Fatal(err)
		}
		q := estimator.Query{X0: make([]float64, m.K), Plan: make([]float64, 20*m.P), History: make([]float64, m.History.Rows()*(m.K+m.P))}
		dst, all, gradient := f.NewPrediction(), f.NewPrediction().WithJacobian().WithInputJacobian(len(q.Plan)), f.NewGradient(len(q.Plan))
		plain := p.NewGradient(len(q.Plan))
		for _, c := range []struct {
			name string
			run  func() bool
		}{
			{"mean", func() bool { return f.Means(dst, &q) }},
			{"predict", func() bool { return f.Predict(dst, &q) }},
			{"jacobians", func() bool { return f.Predict(all, &q) }},
			{"adjoint", func() bool { return f.Adjoint(gradient, &q, dst.Mean, nil) }},
			{"plain/predict", func() bool { return p.Predict(dst, &q) }},
			{"plain/adjoint", func() bool { return p.Adjoint(plain, &q, dst.Mean, nil) }},
		} {
			b.Run(name+"/"+c.name, func(b *testing.B) {
				b.ReportAllocs()
				c.run() // the first takes memory
				for b.Loop() {
					if !c.run() {
						b.Fatal("not finite")
					}
				}
			})
		}
	}
}
