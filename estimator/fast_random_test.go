package estimator_test

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/tphakala/simd/cpu"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

var queries = flag.Int("queries", 2000, "random queries of TestFastAgreesOnRandomQueries, in all")

// deviation is the largest of some queries: means and standard deviations in standard deviations, scores
// relatively, and where the largest was.
type deviation struct {
	mean, std, score float64
	model            string
}

// The fast predictor and the plain one agree on random queries to random models, each
// vector unit of this processor by itself: near the training data and far from it, with plans of every length, with history and a
// covariance of the start. The largest deviations are logged: -queries 1000000 -v.
func TestFastAgreesOnRandomQueries(t *testing.T) {
	models := fastModels(t)
	names := slices.Sorted(maps.Keys(models))
	worst := map[simd.Unit]*deviation{}
	for _, u := range simd.Units() {
		worst[u] = &deviation{}
	}
	rng := rand.New(rand.NewPCG(97, 1))
	const together = 50 // queries at the same times
	asked := 0
	if os.Getenv("DGM_SLOW") == "" {
		*queries = min(*queries, 300)
	}
	for batch := 0; asked < *queries; batch++ {
		name := names[batch%len(names)]
		m := models[name]
		times := make([]float64, 1+rng.IntN(20))
		for i := range times {
			times[i] = m.Horizon * (1 - rng.Float64())
		}
		plain := newPredictor(t, m, times)
		want := plain.NewPrediction()
		fast, got := map[simd.Unit]*estimator.Fast{}, map[simd.Unit]*estimator.Prediction{}
		for u := range worst {
			fast[u] = newFastOn(t, m, times, u)
			got[u] = fast[u].NewPrediction()
		}
		for range min(together, *queries-asked) {
			asked++
			q := query(rng, m, rng.IntN(15))
			for _, v := range [][]float64{q.X0, q.U, q.Plan, q.History} {
				far := math.Exp(rng.NormFloat64() - 1)
				for i := range v {
					v[i] *= far
				}
			}
			if rng.IntN(3) == 0 {
				q.P0 = covariance(rng, m.K)
			}
			finite := plain.Predict(want, &q)
			for u, f := range fast {
				if f.Predict(got[u], &q) != finite {
					t.Fatalf("%s on %v: one of the two has no answer to %+v", name, u, q)
				}
				if !finite {
					continue
				}
				mean, std, obs := difference(m, want, got[u])
				w, score := worst[u], math.Abs(want.OOD-got[u].OOD)/(1+want.OOD)
				if max(mean, std, obs) > max(w.mean, w.std) {
					w.model = name
				}
				w.mean, w.std, w.score = max(w.mean, mean), max(w.std, std, obs), max(w.score, score)
				if limit := 1e-3; !(max(mean, std, obs, score) <= limit) || want.OutOfDistribution != got[u].OutOfDistribution && score > 0 && math.Abs(want.OOD-1) > limit {
					t.Fatalf("%s on %v: means differ by %.2g, std by %.2g, obs_std by %.2g, scores by %.2g for %+v", name, u, mean, std, obs, score, q)
				}
			}
		}
	}
	for _, u := range simd.Units() {
		t.Logf("%d queries, %v beside %s: means differ by at most %.2g standard deviations, standard deviations by %.2g, scores by %.2g (%s)", asked, u, fmt.Sprint(cpu.Info()), worst[u].mean, worst[u].std, worst[u].score, worst[u].model)
	}
}
