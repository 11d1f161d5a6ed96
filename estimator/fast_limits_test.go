package estimator_test

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/model/modeltest"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// A model whose self-checks fail in single precision is predicted by the Predictor.
func TestFastFallsBackToPlainBeyondSinglePrecision(t *testing.T) {
	m, rng := make1("alone", 56)
	q := query(rng, m, 0)
	check := func() {
		got := predict(t, m, grid(3), q)
		m.Checks = []model.SelfCheck{{X0: q.X0, Times: got.Times, Mean: got.Mean, Std: got.Std, ObsStd: got.ObsStd}}
	}
	check()
	if f := newFastOn(t, m, nil, simd.Best()); f.Unit() != simd.Best().String() {
		t.Fatalf("predicted by %s", f.Unit())
	}
	// Two features that are the same, and weights that cancel.
	e := &m.Members[0]
	copy(e.Map.Omega[e.Map.D:2*e.Map.D], e.Map.Omega[:e.Map.D])
	e.Posterior[0].Weights[0][0] += 1e7
	e.Posterior[0].Weights[0][1] -= 1e7
	m.Checks = nil
	check()
	f := newFastOn(t, m, nil, simd.Best())
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
	f := newFastOn(t, m, nil, simd.Best())
	q := query(rng, m, 2)
	q.X0 = q.X0[1:]
	defer func() {
		if p := recover(); p != estimator.WrongLength {
			t.Error(p)
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
			Readouts: rapid.IntRange(1, 2).Draw(t, "readouts"), Paper: rapid.Bool().Draw(t, "paper"), ScaleFactor: rapid.Bool().Draw(t, "scaleFactor"),
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
		q := drawn(t, K, P)
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
	first := newFastOn(t, m, nil, simd.Best())
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
	if os.Getenv("DGM_SLOW") == "" {
		t.Skip("a hundred megabytes: DGM_SLOW=1 runs it")
	}
	m := artificial.New(artificial.Size{K: 20, Features: 2, Points: 4, Horizon: 1, Equation: 1, Nets: 16}, 1)
	times := make([]float64, 28000)
	for i := range times {
		times[i] = float64(i+1) / 28000
	}
	f, err := estimator.NewFast(m, times)
	if err != nil {
		t.Fatal(err)
	}
	if f.Unit() != "plain" {
		t.Errorf("predicted by %s", f.Unit())
	}
	if f, err = f.For(times[:3]); err != nil || f.Unit() != simd.Best().String() {
		t.Errorf("predicted by %s, %v", f.Unit(), err)
	}
}
