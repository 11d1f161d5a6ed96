package estimator_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/model/modeltest"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
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
		"uneven":            {K: 5, P: 3, F: 22, D: 3, Basis: 4, Knots: 7, Members: 3, Refits: 2, Readouts: 2, ScaleFactor: true, Prior: 2},
		"calibrated":        {K: 5, P: 3, F: 22, D: 3, Basis: 4, Knots: 7, Members: 3, Readouts: 2, Calibrated: true, Prior: 2},
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
	for j := range a.Prior {
		mean = max(mean, math.Abs(a.Prior[j]-b.Prior[j])/min(a.Std[j], m.Scale[j%m.K]))
	}
	for j, x := range a.Covariates {
		std = max(std, math.Abs(x-b.Covariates[j])/(1+math.Abs(x)))
	}
	return mean, std, obs
}

// alike is what the two predictors may differ by, in standard deviations: of the
// channel or of the prediction, whichever is smaller.
const alike = 1e-4

// interpolated is what standard deviations may differ by, relatively, where variances are
// interpolated and the input is white noise of one standard deviation.
const interpolated = 0.05

// mixed returns points up to the horizon, in no order.
func mixed(m *model.Model, points int) []float64 {
	times := make([]float64, points)
	for i := range times {
		times[i] = m.Horizon * float64((i*7)%points+1) / float64(points)
	}
	return times
}

func newFastOn(t testing.TB, m *model.Model, times []float64, u simd.Unit) *estimator.Fast {
	t.Helper()
	f, err := estimator.NewFastOn(m, times, u)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFastAgreesWithPlain(t *testing.T) {
	counts := []int{1, 17}
	if os.Getenv("DGM_SLOW") != "" {
		counts = []int{1, 10, 16, 17, 100}
	}
	moved := 0 // intervals that the motion changes
	for name, m := range fastModels(t) {
		for _, u := range simd.Units() {
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
				for _, d := range []*estimator.Prediction{a, b} {
					d.Prior, d.Covariates = make([]float64, len(d.Mean)), make([]float64, len(d.Mean)*int(model.Covariates))
				}
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
					if len(a.RMSRatio) != len(b.RMSRatio) || (len(m.RMSDisplacement.Exponent) > 0) != (len(a.RMSRatio) == points) {
						t.Fatalf("%s on %v: motion at %d and %d of %d points", name, u, len(a.RMSRatio), len(b.RMSRatio), points)
					}
					for i, ratio := range a.RMSRatio {
						if math.Abs(ratio-b.RMSRatio[i]) > 1e-6*ratio {
							t.Errorf("%s on %v: motion %v, %v", name, u, ratio, b.RMSRatio[i])
						}
						if math.Abs(m.RMSDisplacement.Factor(ratio, int(a.Readout))-1) > 0.05 {
							moved++
						}
					}
					if a.Readout != b.Readout || a.Distance != b.Distance || math.Abs(a.OOD-b.OOD) > alike*(1+a.OOD) || a.OutOfDistribution != b.OutOfDistribution {
						t.Errorf("%s on %v: readout %v, %v, distance %v, %v, score %v, %v", name, u, a.Readout, b.Readout, a.Distance, b.Distance, a.OOD, b.OOD)
					}
				}
			}
		}
	}
	if moved < 100 {
		t.Errorf("the motion changes %d intervals only: too few to see whether both count it alike", moved)
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

func TestFastDoesNotAllocate(t *testing.T) {
	for name, m := range fastModels(t) {
		f := newFastOn(t, m, mixed(m, 20), simd.Best())
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
func TestFastIsStateless(t *testing.T) {
	for name, m := range fastModels(t) {
		rng := rand.New(rand.NewPCG(3, 1))
		f := newFastOn(t, m, mixed(m, 20), simd.Best())
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

// As for the Predictor: a later row of the plan changes no bit of a mean before it, and a
// standard deviation by no more than the interpolation between nodes.
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
		f := newFastOn(t, m, times, simd.Best())
		q := query(rng, m, rows)
		byLeverage := len(m.Calibration) > 0 // that of the whole plan
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
					if before.Mean[j] != after.Mean[j] || math.Abs(before.Std[j]-after.Std[j]) > interpolated*before.Std[j] && !byLeverage {
						t.Fatalf("%s: row %d changes the prediction at %v s", name, r, at)
					}
				}
			}
		}
	}
}

func TestFastForOtherTimes(t *testing.T) {
	m, rng := make1("windows", 55)
	f := newFastOn(t, m, nil, simd.Best())
	if f.Model() != m || len(f.NewPrediction().Times) != m.Points {
		t.Error("the model or its points are others")
	}
	times := mixed(m, 23)
	other, err := f.For(times)
	if err != nil {
		t.Fatal(err)
	}
	q := query(rng, m, 3)
	got, want := other.NewPrediction(), newFastOn(t, m, times, simd.Best()).NewPrediction()
	other.Predict(got, &q)
	newFastOn(t, m, times, simd.Best()).Predict(want, &q)
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
