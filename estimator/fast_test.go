package estimator_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/lanes"
	"github.com/dgm-robotics/dgm/estimator/mlp"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/model/modeltest"
)

// curved is a model that no Fast does.
const curved = "head that is not linear"

// fastModels are models with everything that the fast predictor has to get right.
func fastModels(t *testing.T) map[string]*model.Model {
	out := map[string]*model.Model{}
	for name, s := range shapes {
		out["shape "+name] = modeltest.New(s, rand.New(rand.NewPCG(51, 1)))
	}
	for name, s := range map[string]modeltest.Shape{
		"paper with inputs": {K: 2, P: 2, F: 8, Basis: 1, Knots: 3, Members: 2, Refits: 1, Paper: true},
		"basis alone":       {K: 3, P: 1, Basis: 3, Knots: 4},
		"many knots":        {K: 2, P: 3, F: 6, Basis: 2, Knots: 23, Members: 2},
		"deep":              {K: 3, P: 1, F: 12, Core: []int{5, 9, 17, 6}, D: 5, Basis: 1, Velocity: true},
		"one layer":         {K: 1, F: 6, Core: []int{3}, D: 1},
		"uneven":            {K: 5, P: 3, F: 22, D: 3, Basis: 4, Knots: 7, Members: 3, Refits: 2, Readouts: 2, Widen: true, Prior: 2},
	} {
		out["shape "+name] = modeltest.New(s, rand.New(rand.NewPCG(52, 1)))
	}
	for name, last := range map[string]mlp.Activation{"head of two layers": mlp.Linear, curved: mlp.Tanh} {
		rng := rand.New(rand.NewPCG(54, 1))
		m := modeltest.New(modeltest.Shape{K: 3, P: 1, F: 8, Basis: 1, Readouts: 2}, rng)
		p := &m.Members[0].Map
		p.Head = mlp.New([]int{p.Core.Out(), 7, p.Head.Out()}, []mlp.Activation{mlp.Tanh, last})
		p.Head.Glorot(rng)
		out[name] = m
	}
	for name, s := range map[string]artificial.Size{
		"quadrotor": artificial.Quadrotor,
		"basis":     {K: 4, P: 2, Features: 50, Basis: 2, Points: 30, Horizon: 0.5},
		"alone":     {K: 3, Features: 200, Points: 10, Horizon: 3},
	} {
		out["artificial "+name] = artificial.New(s, 1)
	}
	files, err := filepath.Glob("model/testdata/*.dgm")
	if err != nil || len(files) == 0 {
		t.Fatalf("no models in testdata: %v", err)
	}
	for _, name := range files {
		m, err := model.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(name)] = m
	}
	return out
}

// difference is how far two predictions are apart: means in standard deviations,
// standard deviations relatively.
func difference(m *model.Model, a, b *estimator.Prediction) (mean, std, obs float64) {
	for j := range a.Mean {
		mean = max(mean, math.Abs(a.Mean[j]-b.Mean[j])/min(a.Std[j], m.Scale[j%m.K]))
		std = max(std, math.Abs(a.Std[j]-b.Std[j])/a.Std[j])
		obs = max(obs, math.Abs(a.ObsStd[j]-b.ObsStd[j])/a.ObsStd[j])
	}
	return mean, std, obs
}

// alike is what the two predictors may differ by, in standard deviations: of the
// channel or of the prediction, whichever is smaller.
const alike = 1e-4

// mixed returns points up to the horizon, in no order.
func mixed(m *model.Model, points int) []float64 {
	times := make([]float64, points)
	for i := range times {
		times[i] = m.Horizon * float64((i*7)%points+1) / float64(points)
	}
	return times
}

func newFastOn(t testing.TB, m *model.Model, times []float64, u lanes.Unit) *estimator.Fast {
	t.Helper()
	f, err := estimator.NewFastOn(m, times, u)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFastAgreesWithPlain(t *testing.T) {
	counts := []int{1, 10, 16, 17, 100}
	if testing.Short() {
		counts = []int{17}
	}
	for name, m := range fastModels(t) {
		for _, u := range lanes.Units() {
			for _, points := range counts {
				times := mixed(m, points)
				fast, plain := newFastOn(t, m, times, u), newPredictor(t, m, times)
				want := u.String()
				if m.Members[0].Posterior[0].Exact != nil || name == curved {
					want = "plain"
				}
				if fast.Unit() != want {
					t.Errorf("%s: predicted by %s, not %s", name, fast.Unit(), want)
				}
				a, b := plain.NewPrediction().WithDerivatives(), fast.NewPrediction().WithDerivatives()
				rng := rand.New(rand.NewPCG(53, 1))
				for _, rows := range []int{0, 1, 5, 12} {
					q := query(rng, m, rows)
					switch rows {
					case 1:
						q.P0 = diagonal(m.K, 0.01)
					case 5:
						q.P0 = covariance(rng, m.K)
					}
					if !plain.Predict(a, &q) || !fast.Predict(b, &q) {
						t.Fatalf("%s on %v: not finite", name, u)
					}
					if !slices.Equal(a.DMean, b.DMean) || !slices.Equal(a.DStd, b.DStd) {
						t.Errorf("%s on %v: the derivatives are not the Predictor's", name, u)
					}
					mean, std, obs := difference(m, a, b)
					if mean > alike || std > alike || obs > alike {
						t.Errorf("%s on %v, %d points, %d rows: means differ by %.2g, std by %.2g, obs_std by %.2g", name, u, points, rows, mean, std, obs)
					}
					if a.Readout != b.Readout || a.Distance != b.Distance || math.Abs(a.OOD-b.OOD) > alike*(1+a.OOD) || a.OutOfDistribution != b.OutOfDistribution {
						t.Errorf("%s on %v: readout %v, %v, distance %v, %v, score %v, %v", name, u, a.Readout, b.Readout, a.Distance, b.Distance, a.OOD, b.OOD)
					}
				}
			}
		}
	}
}

// covariance draws a matrix that is large beside the variance of most predictions.
func covariance(rng *rand.Rand, n int) []float64 {
	a, out := normal(rng, n*n), make([]float64, n*n)
	for i := range n {
		for j := range n {
			for k := range n {
				out[i*n+j] += 0.3 * a[i*n+k] * a[j*n+k]
			}
		}
	}
	return out
}

func diagonal(n int, v float64) []float64 {
	out := make([]float64, n*n)
	for i := range n {
		out[i*n+i] = v
	}
	return out
}

func TestFastTakesNoMemory(t *testing.T) {
	for name, m := range fastModels(t) {
		f := newFastOn(t, m, mixed(m, 20), lanes.Best())
		dst, all := f.NewPrediction(), f.NewPrediction().WithDerivatives()
		q := query(rand.New(rand.NewPCG(2, 2)), m, 7)
		certain := q
		certain.P0 = diagonal(m.K, 0.01)
		bad := estimator.Query{X0: nan(m.K)}
		if a := testing.AllocsPerRun(2, func() {
			if !f.Predict(dst, &q) || !f.Predict(dst, &certain) || !f.Predict(all, &q) || f.Predict(dst, &bad) {
				t.Errorf("%s: not as expected", name)
			}
		}); a != 0 {
			t.Errorf("%s: %v allocations", name, a)
		}
	}
}

// A prediction depends on its query alone, and on one of its members no more than
// on the others, whatever was asked before it.
func TestFastKeepsNothing(t *testing.T) {
	for name, m := range fastModels(t) {
		rng := rand.New(rand.NewPCG(3, 1))
		f := newFastOn(t, m, mixed(m, 20), lanes.Best())
		q, other := query(rng, m, 4), query(rng, m, 3)
		other.P0 = diagonal(m.K, 3)
		huge := query(rng, m, 1)
		huge.X0[0] = 1e300 // beyond single precision: leaves what is not a number behind
		first, again := f.NewPrediction(), f.NewPrediction()
		f.Predict(first, &q)
		f.Predict(f.NewPrediction(), &other)
		f.Predict(f.NewPrediction().WithDerivatives(), &other)
		f.Predict(f.NewPrediction(), &huge)
		f.Predict(f.NewPrediction(), &estimator.Query{X0: nan(m.K)})
		f.Predict(again, &q)
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// As for the Predictor: what a later row of the plan says changes no bit before.
func TestFastReadsNoLaterInput(t *testing.T) {
	const rows = 5
	for name, m := range fastModels(t) {
		if m.P == 0 || !m.Displacement {
			continue
		}
		rng := rand.New(rand.NewPCG(4, 1))
		times := make([]float64, 50)
		for i := range times {
			times[i] = m.Horizon * float64(i+1) / 50
		}
		f := newFastOn(t, m, times, lanes.Best())
		q := query(rng, m, rows)
		before, after := f.NewPrediction(), f.NewPrediction()
		f.Predict(before, &q)
		for r := 1; r < rows; r++ {
			changed := q
			changed.Plan = slices.Clone(q.Plan)
			copy(changed.Plan[r*m.P:], normal(rng, (rows-r)*m.P))
			f.Predict(after, &changed)
			for i, at := range before.Times {
				if at > m.Horizon*float64(r)/rows*(1+1e-12) {
					break
				}
				for j := i * m.K; j < (i+1)*m.K; j++ {
					if before.Mean[j] != after.Mean[j] || before.Std[j] != after.Std[j] {
						t.Fatalf("%s: row %d changes the prediction at %v s", name, r, at)
					}
				}
			}
		}
	}
}

func TestFastForOtherTimes(t *testing.T) {
	m, rng := make1("windows", 55)
	f := newFastOn(t, m, nil, lanes.Best())
	if f.Model() != m || len(f.NewPrediction().Times) != m.Points {
		t.Error("the model or its points are others")
	}
	times := mixed(m, 23)
	other, err := f.For(times)
	if err != nil {
		t.Fatal(err)
	}
	q := query(rng, m, 3)
	got, want := other.NewPrediction(), newFastOn(t, m, times, lanes.Best()).NewPrediction()
	other.Predict(got, &q)
	newFastOn(t, m, times, lanes.Best()).Predict(want, &q)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range [][]float64{{}, {0}, {2 * m.Horizon}, {math.NaN()}} {
		if _, err := f.For(bad); err == nil {
			t.Errorf("times %v are taken", bad)
		}
	}
	m.Scale[0] = 0
	if _, err := estimator.NewFast(m, nil); err == nil {
		t.Error("a model that contradicts itself is taken")
	}
}

// A model that single precision does not do justice to is left to the Predictor.
func TestFastKnowsItsLimits(t *testing.T) {
	m, rng := make1("alone", 56)
	q := query(rng, m, 0)
	check := func() {
		got := predict(t, m, grid(3), q)
		m.Checks = []model.SelfCheck{{X0: q.X0, Times: got.Times, Mean: got.Mean, Std: got.Std, ObsStd: got.ObsStd}}
	}
	check()
	if f := newFastOn(t, m, nil, lanes.Best()); f.Unit() != lanes.Best().String() {
		t.Fatalf("predicted by %s", f.Unit())
	}
	// Two features that are the same, and weights that cancel.
	e := &m.Members[0]
	copy(e.Map.Omega[e.Map.D:2*e.Map.D], e.Map.Omega[:e.Map.D])
	e.Posterior[0].Weights[0][0] += 1e7
	e.Posterior[0].Weights[0][1] -= 1e7
	m.Checks = nil
	check()
	f := newFastOn(t, m, nil, lanes.Best())
	if f.Unit() != "plain" {
		t.Fatalf("predicted by %s", f.Unit())
	}
	got := f.NewPrediction()
	if !f.Predict(got, &q) {
		t.Fatal("not finite")
	}
	if diff := cmp.Diff(predict(t, m, nil, q).Mean, got.Mean); diff != "" {
		t.Error(diff)
	}
}

func TestFastPanicsAtWrongLengths(t *testing.T) {
	m, rng := make1("windows", 57)
	f := newFastOn(t, m, nil, lanes.Best())
	q := query(rng, m, 2)
	q.X0 = q.X0[1:]
	defer func() {
		if s, _ := recover().(string); !strings.HasPrefix(s, "estimator: ") {
			t.Error("no panic with a constant")
		}
	}()
	f.Predict(f.NewPrediction(), &q)
}

// Whatever the model and the query, what is called ok can be used, and numbers that
// a robot could have are ok.
func TestFastIsOkWherePlainIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		K, P := rapid.IntRange(1, 6).Draw(t, "K"), rapid.IntRange(0, 2).Draw(t, "P")
		s := modeltest.Shape{
			K: K, P: P, F: 2 * rapid.IntRange(1, 20).Draw(t, "features"), Basis: rapid.IntRange(0, 3).Draw(t, "basis"),
			D: rapid.IntRange(1, 7).Draw(t, "D"), Members: rapid.IntRange(1, 3).Draw(t, "members"), Refits: rapid.IntRange(0, 2).Draw(t, "refits"),
			Readouts: rapid.IntRange(1, 2).Draw(t, "readouts"), Paper: rapid.Bool().Draw(t, "paper"), Widen: rapid.Bool().Draw(t, "widen"),
			Velocity: rapid.Bool().Draw(t, "velocity"),
		}
		if !s.Paper {
			s.Prior = rapid.IntRange(0, 3).Draw(t, "prior")
		}
		m := modeltest.New(s, rng)
		times := mixed(m, rapid.IntRange(1, 40).Draw(t, "points"))
		plain, err := estimator.New(m, times)
		if err != nil {
			t.Fatal(err)
		}
		fast, err := estimator.NewFast(m, times)
		if err != nil {
			t.Fatal(err)
		}
		number := rapid.OneOf(rapid.Float64Range(-3, 3), rapid.Float64Range(-1e6, 1e6), rapid.Float64())
		vector := func(n int, what string) []float64 { return rapid.SliceOfN(number, n, n).Draw(t, what) }
		q := estimator.Query{X0: vector(K, "x0")}
		if P > 0 && rapid.Bool().Draw(t, "planned") {
			q.Plan = vector(P*rapid.IntRange(1, 5).Draw(t, "rows"), "plan")
		} else if P > 0 {
			q.U = vector(P, "u")
		}
		a, b := plain.NewPrediction(), fast.NewPrediction()
		okPlain, ok := plain.Predict(a, &q), fast.Predict(b, &q)
		size := largest(q.X0, q.U, q.Plan)
		if !ok {
			if okPlain && size < 1e7 {
				t.Fatal("numbers that a robot could have are not ok")
			}
			return
		}
		for j := range b.Mean {
			if math.IsNaN(b.Mean[j]) || !(b.Std[j] >= 0) || !(b.ObsStd[j] >= b.Std[j]) || math.IsInf(b.ObsStd[j], 0) {
				t.Fatalf("ok, but mean %v, std %v, obs_std %v", b.Mean[j], b.Std[j], b.ObsStd[j])
			}
		}
		if mean, std, _ := difference(m, a, b); size < 10 && (mean > alike || std > alike) {
			t.Fatalf("means differ by %v, std by %v", mean, std)
		}
	})
}

// Two for other times share a model, and goroutines.
func TestFastIsSharedBetweenGoroutines(t *testing.T) {
	m, rng := make1("prior", 58)
	first := newFastOn(t, m, nil, lanes.Best())
	second, err := first.For(grid(7))
	if err != nil {
		t.Fatal(err)
	}
	q := query(rng, m, 3)
	q.P0 = covariance(rng, m.K)
	var all sync.WaitGroup
	for _, f := range []*estimator.Fast{first, second} {
		own := q
		want, got := f.NewPrediction(), f.NewPrediction()
		f.Predict(want, &own)
		all.Go(func() {
			for range 50 {
				if !f.Predict(got, &own) || !slices.Equal(got.Mean, want.Mean) || !slices.Equal(got.Std, want.Std) {
					t.Error("another prediction than before")
				}
			}
		})
	}
	all.Wait()
}

// What would take more memory than a robot has is left to the Predictor.
func TestFastMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred megabytes: left out of short runs")
	}
	m := artificial.New(artificial.Size{K: 100, Features: 2, Points: 4, Horizon: 1, Equation: 1}, 1)
	times := make([]float64, 1100)
	for i := range times {
		times[i] = float64(i+1) / 1100
	}
	f, err := estimator.NewFast(m, times)
	if err != nil {
		t.Fatal(err)
	}
	if f.Unit() != "plain" {
		t.Errorf("predicted by %s", f.Unit())
	}
	if f, err = f.For(times[:3]); err != nil || f.Unit() != lanes.Best().String() {
		t.Errorf("predicted by %s, %v", f.Unit(), err)
	}
}
