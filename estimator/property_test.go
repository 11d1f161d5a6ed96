package estimator_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model/modeltest"
)

// numbers reach far outside of anything that a model was trained on.
var numbers = rapid.OneOf(rapid.Float64Range(-3, 3), rapid.Float64Range(-1e6, 1e6), rapid.Float64())

func vector(t *rapid.T, n int, what string) []float64 {
	return rapid.SliceOfN(numbers, n, n).Draw(t, what)
}

// drawn is any query of K states and P inputs, without a covariance.
func drawn(t *rapid.T, K, P int) estimator.Query {
	q := estimator.Query{X0: vector(t, K, "x0")}
	if P > 0 && rapid.Bool().Draw(t, "planned") {
		q.Plan = vector(t, P*rapid.IntRange(1, 5).Draw(t, "rows"), "plan")
	} else if P > 0 {
		q.U = vector(t, P, "u")
	}
	return q
}

// Whatever the model and the query, a prediction without an error is finite, has a
// width, and the std of a measurement is at least that of the state.
func TestPredictionsWithoutErrorAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		K, P := rapid.IntRange(1, 6).Draw(t, "K"), rapid.IntRange(0, 2).Draw(t, "P")
		s := modeltest.Shape{
			K: K, P: P, Basis: rapid.IntRange(0, 2).Draw(t, "basis"), Members: rapid.IntRange(1, 3).Draw(t, "members"),
			Refits: rapid.IntRange(0, 1).Draw(t, "refits"), Readouts: rapid.IntRange(1, 2).Draw(t, "readouts"),
			Paper: rapid.Bool().Draw(t, "paper"), ScaleFactor: rapid.Bool().Draw(t, "scale factor"), Velocity: rapid.Bool().Draw(t, "velocity"),
		}
		if rapid.Bool().Draw(t, "exact") {
			s.Exact = rapid.IntRange(1, 10).Draw(t, "observations")
		} else {
			s.F = 2 * rapid.IntRange(1, 6).Draw(t, "features")
		}
		if !s.Paper {
			s.Prior = rapid.IntRange(0, 3).Draw(t, "prior")
		}
		m := modeltest.New(s, rng)
		p, err := estimator.New(m, nil)
		if err != nil {
			t.Fatal(err)
		}
		q := drawn(t, K, P)
		if rapid.Bool().Draw(t, "covariance") {
			q.P0 = vector(t, K*K, "P0")
		}
		dst := p.NewPrediction().WithDerivatives()
		if !p.Predict(dst, &q) {
			if largest(q.X0, q.U, q.Plan, q.P0) < 1e7 {
				t.Fatal("numbers that a robot could have are not ok")
			}
			return
		}
		for j := range dst.Mean {
			for _, v := range []float64{dst.Mean[j], dst.Std[j], dst.ObsStd[j], dst.DMean[j], dst.DStd[j]} {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("ok, and %v", v)
				}
			}
			if !(dst.Std[j] > 0) || dst.ObsStd[j] < dst.Std[j] || dst.DStd[j] < 0 {
				t.Fatalf("std %v, obs_std %v, std of the derivative %v", dst.Std[j], dst.ObsStd[j], dst.DStd[j])
			}
		}
		if !(dst.OOD >= 0) || dst.OutOfDistribution != (dst.OOD > 1) {
			t.Fatalf("score %v, flag %v", dst.OOD, dst.OutOfDistribution)
		}
	})
}

func largest(vectors ...[]float64) float64 {
	s := 0.0
	for _, v := range vectors {
		for _, x := range v {
			s = math.Max(s, math.Abs(x))
		}
	}
	return s
}
