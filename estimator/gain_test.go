package estimator_test

import (
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
)

// Without any gain the mean is that of the base; in between it is in between, at
// every knot by its own share, and neither spread nor noise changes.
func TestGainScalesWhatTheNetsAdd(t *testing.T) {
	m, rng := make1("prior", 71)
	Q := len(m.NoiseKnots)
	q := query(rng, m, 2)
	at := make([]float64, 0, Q-1)
	for _, tau := range m.NoiseKnots[1:] {
		at = append(at, tau*H)
	}
	m.NetworkWeight = nil
	full := predict(t, m, at, q)
	none, some := make([]float64, m.K*Q), make([]float64, m.K*Q)
	for i := range some {
		some[i] = rng.Float64()
	}
	m.NetworkWeight = [][]float64{none, none}
	base := predict(t, m, at, q)
	m.NetworkWeight = [][]float64{some, some}
	got := predict(t, m, at, q)
	for i := range at {
		for k := range m.K {
			j := i*m.K + k
			near(t, "mean", got.Mean[j], base.Mean[j]+some[k*Q+i+1]*(full.Mean[j]-base.Mean[j]), 1e-12)
			near(t, "std", got.Std[j], full.Std[j], 0)
		}
	}
	start := estimator.PriorDynamicsOf(m)
	x, slope := make([]float64, m.K), make([]float64, m.K)
	m.NetworkWeight = [][]float64{none}
	q.Plan = nil // hold has no gain of its own: all counts
	hold := predict(t, m, at, q)
	start.Start(q.X0, signal{q.U}, estimator.Hold, nil)
	for i, when := range at {
		start.At(x, slope, when)
		for k := range m.K {
			if j := i*m.K + k; hold.Mean[j] == q.X0[k]+x[k] {
				t.Errorf("channel %d at %v s: nothing is added to the base", k, when)
			}
		}
	}
}

// signal is an input that stays.
type signal struct{ u []float64 }

func (s signal) Mean(dst []float64, _, _ float64) { copy(dst, s.u) }
func (s signal) At(dst []float64, _ float64)      { copy(dst, s.u) }
func (s signal) Next(float64) float64             { return math.Inf(1) }

// Derivatives by time and by the start are those of the scaled mean.
func TestDerivativesIncludeTheNetworkWeight(t *testing.T) {
	const h = 1e-6
	m, rng := make1("prior", 72)
	some := make([]float64, m.K*len(m.NoiseKnots))
	for i := range some {
		some[i] = rng.Float64()
	}
	m.NetworkWeight = [][]float64{some, some}
	q := query(rng, m, 1)
	for _, at := range []float64{0.11 * H, 0.4 * H, 0.9 * H} {
		got := predict(t, m, []float64{at, at + h, at - h}, q)
		for k := range m.K {
			near(t, "derivative", got.DMean[k], (got.Mean[m.K+k]-got.Mean[2*m.K+k])/(2*h), 1e-7)
		}
	}
}
